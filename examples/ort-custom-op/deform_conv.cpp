#include "deform_conv.h"

#include <cmath>

namespace deform_conv {
namespace {

float bilinear(const float* image, std::int64_t height, std::int64_t width, float y, float x) {
  if (y <= -1 || x <= -1 || y >= static_cast<float>(height) || x >= static_cast<float>(width)) return 0;
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const float down = y - static_cast<float>(top), right = x - static_cast<float>(left);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? image[row * width + column] : 0.0F;
  };
  return (1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
         down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1));
}

}  // namespace

void run(Input input, Input weight, const float* offset, const float* mask, const float* bias,
         const Settings& s, Output output) {
  const auto channels = input.shape[1], height = input.shape[2], width = input.shape[3];
  const auto kernels = weight.shape[0], per_group = weight.shape[1], kh = weight.shape[2],
             kw = weight.shape[3];
  const auto rows = output.shape[2], columns = output.shape[3], places = rows * columns;
  const auto channels_per_offset = channels / s.offset_groups;

  float* to = output.data;
  for (std::int64_t n = 0; n < output.shape[0]; ++n)
    for (std::int64_t k = 0; k < kernels; ++k)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          float sum = bias[k];
          for (std::int64_t c = 0; c < per_group; ++c) {
            const auto channel = k / (kernels / s.groups) * per_group + c;
            const float* image = input.data + (n * channels + channel) * height * width;
            const auto first = (n * s.offset_groups + channel / channels_per_offset) * kh * kw;
            for (std::int64_t i = 0; i < kh; ++i)
              for (std::int64_t j = 0; j < kw; ++j) {
                const auto tap = (first + i * kw + j) * places + row * columns + column;
                const auto move = (2 * (first + i * kw + j)) * places + row * columns + column;
                const auto y =
                    static_cast<float>(row * s.stride_h - s.pad_h + i * s.dilation_h) + offset[move];
                const auto x = static_cast<float>(column * s.stride_w - s.pad_w + j * s.dilation_w) +
                               offset[move + places];
                const float value = bilinear(image, height, width, y, x) * (mask ? mask[tap] : 1.0F);
                sum += weight.data[((k * per_group + c) * kh + i) * kw + j] * value;
              }
          }
          *to++ = sum;
        }
}

}  // namespace deform_conv
