// Deformable convolution as torchvision defines it, without any speed: each element of the output is a sum over the kernel
// of weights times the input at places that an offset has moved, read bilinearly, with zeros outside of the image.
#pragma once

#include <cstdint>
#include <vector>

namespace deform_conv {

using Shape = std::vector<std::int64_t>;

struct Input {
  const float* data;
  const Shape& shape;
};
struct Output {
  float* data;
  const Shape& shape;
};

struct Settings {
  std::int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  std::int64_t groups;         // of channels, as in any convolution
  std::int64_t offset_groups;  // of channels that share their offsets
};

/// input [n, c, h, w], weight [out, c / groups, kh, kw], offset [n, 2 * offset_groups * kh * kw, oh, ow] (y and x in turn),
/// mask [n, offset_groups * kh * kw, oh, ow] or null, bias [out], output [n, out, oh, ow].
void run(Input input, Input weight, const float* offset, const float* mask, const float* bias,
         const Settings& settings, Output output);

}  // namespace deform_conv
