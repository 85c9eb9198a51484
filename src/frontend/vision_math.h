// The arithmetic of torchvision's operators as plain loops. Neutral: no torch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace pt2onnx::frontend {

/// A contiguous [batch, channels, height, width] block.
template <class T>
struct Image {
  const T* data;
  std::int64_t batch, channels, height, width;

  const T* plane(std::int64_t b, std::int64_t c) const { return data + (b * channels + c) * height * width; }
};

/// The cells that each region is divided into.
struct Bins {
  std::int64_t height, width;
};

/// Greedy non-maximum suppression: the indices that stay, best score first.
template <class T>
std::vector<std::int64_t> suppress(const T* boxes, const T* scores, std::int64_t count, double threshold) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  const auto area = [&](const T* box) { return (box[2] - box[0]) * (box[3] - box[1]); };

  std::vector<std::int64_t> kept;
  for (const std::int64_t candidate : order) {
    const T* a = boxes + 4 * candidate;
    const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](std::int64_t winner) {
      const T* b = boxes + 4 * winner;
      const T width = std::max(T(0), std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T height = std::max(T(0), std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T shared = width * height;
      return static_cast<double>(shared / (area(a) + area(b) - shared)) > threshold;
    });
    if (!overlaps) kept.push_back(candidate);
  }
  return kept;
}

/// Bilinear value of a plane; up to one pixel outside it counts as its edge, further outside as zero.
template <class T>
T sample_at_edge(const T* plane, std::int64_t height, std::int64_t width, T y, T x) {
  if (y < T(-1) || y > static_cast<T>(height) || x < T(-1) || x > static_cast<T>(width)) return T(0);
  y = std::clamp(y, T(0), static_cast<T>(height - 1));
  x = std::clamp(x, T(0), static_cast<T>(width - 1));
  const auto top = static_cast<std::int64_t>(y), left = static_cast<std::int64_t>(x);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const T dy = y - static_cast<T>(top), dx = x - static_cast<T>(left);
  return (1 - dy) * (1 - dx) * plane[top * width + left] + (1 - dy) * dx * plane[top * width + right] +
         dy * (1 - dx) * plane[bottom * width + left] + dy * dx * plane[bottom * width + right];
}

/// A region of interest in pixels, and the size of one of its bins.
template <class T>
struct Region {
  std::int64_t image;
  T top, left, height, width;

  T bin_height(Bins bins) const { return height / static_cast<T>(bins.height); }
  T bin_width(Bins bins) const { return width / static_cast<T>(bins.width); }
};

template <class T>
Region<T> scaled_region(const T* roi, T scale, T offset) {
  const T left = roi[1] * scale - offset, top = roi[2] * scale - offset;
  return {static_cast<std::int64_t>(roi[0]), top, left, roi[4] * scale - offset - top,
          roi[3] * scale - offset - left};
}

/// Corners rounded to whole pixels; `inclusive` counts the last pixel as part of the region.
template <class T>
Region<T> rounded_region(const T* roi, T scale, bool inclusive) {
  const T left = std::round(roi[1] * scale), top = std::round(roi[2] * scale);
  const T extra = inclusive ? T(1) : T(0);
  return {static_cast<std::int64_t>(roi[0]), top, left,
          std::max(std::round(roi[4] * scale) - top + extra, T(1)),
          std::max(std::round(roi[3] * scale) - left + extra, T(1))};
}

/// The mean of the samples of one bin: sampling_ratio points each way, or as many as the bin has pixels.
template <class T>
T mean_of_bin(const T* plane, const Image<T>& image, const Region<T>& region, Bins bins, std::int64_t ph,
              std::int64_t pw, std::int64_t sampling_ratio) {
  const T bin_h = region.bin_height(bins), bin_w = region.bin_width(bins);
  const auto rows = sampling_ratio > 0 ? sampling_ratio : static_cast<std::int64_t>(std::ceil(bin_h));
  const auto columns = sampling_ratio > 0 ? sampling_ratio : static_cast<std::int64_t>(std::ceil(bin_w));
  T sum = 0;
  for (std::int64_t iy = 0; iy < rows; ++iy) {
    const T y = region.top + static_cast<T>(ph) * bin_h +
                (static_cast<T>(iy) + T(0.5)) * bin_h / static_cast<T>(rows);
    for (std::int64_t ix = 0; ix < columns; ++ix) {
      const T x = region.left + static_cast<T>(pw) * bin_w +
                  (static_cast<T>(ix) + T(0.5)) * bin_w / static_cast<T>(columns);
      sum += sample_at_edge(plane, image.height, image.width, y, x);
    }
  }
  return sum / static_cast<T>(std::max<std::int64_t>(rows * columns, 1));
}

/// Calls f(index of the output element, channel, bin row, bin column) in the order of a [channels, bins] block.
template <class F>
void for_each_bin(std::int64_t channels, Bins bins, F f) {
  std::int64_t index = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t ph = 0; ph < bins.height; ++ph)
      for (std::int64_t pw = 0; pw < bins.width; ++pw) f(index++, c, ph, pw);
}

template <class T>
bool has_image(const Image<T>& image, const Region<T>& region) {
  return region.image >= 0 && region.image < image.batch;
}

template <class T>
void align(const Image<T>& image, const T* rois, std::int64_t count, T scale, Bins bins,
           std::int64_t sampling_ratio, bool aligned, T* out) {
  const std::int64_t block = image.channels * bins.height * bins.width;
  for (std::int64_t n = 0; n < count; ++n) {
    Region<T> region = scaled_region(rois + 5 * n, scale, aligned ? T(0.5) : T(0));
    if (!aligned) {  // the older form never has a region smaller than a pixel
      region.height = std::max(region.height, T(1));
      region.width = std::max(region.width, T(1));
    }
    for_each_bin(image.channels, bins, [&](std::int64_t i, std::int64_t c, std::int64_t ph, std::int64_t pw) {
      out[n * block + i] = has_image(image, region) ? mean_of_bin(image.plane(region.image, c), image, region,
                                                                  bins, ph, pw, sampling_ratio)
                                                    : T(0);
    });
  }
}

/// Position-sensitive: bin (ph, pw) of output channel c reads an input channel of its own.
inline std::int64_t position_channel(std::int64_t c, Bins bins, std::int64_t ph, std::int64_t pw) {
  return (c * bins.height + ph) * bins.width + pw;
}

template <class T>
void align_by_position(const Image<T>& image, const T* rois, std::int64_t count, T scale, Bins bins,
                       std::int64_t sampling_ratio, T* out, std::int32_t* from) {
  const std::int64_t channels = image.channels / (bins.height * bins.width);
  for (std::int64_t n = 0; n < count; ++n) {
    const Region<T> region = scaled_region(rois + 5 * n, scale, T(0.5));
    for_each_bin(channels, bins, [&](std::int64_t i, std::int64_t c, std::int64_t ph, std::int64_t pw) {
      const std::int64_t source = position_channel(c, bins, ph, pw);
      from[n * image.channels + i] = static_cast<std::int32_t>(source);
      out[n * image.channels + i] =
          has_image(image, region)
              ? mean_of_bin(image.plane(region.image, source), image, region, bins, ph, pw, sampling_ratio)
              : T(0);
    });
  }
}

/// The pixels [begin, end) of one bin along one axis, cut off at [0, limit].
template <class T>
struct Span {
  std::int64_t begin, end;
  Span(T start, T bin, std::int64_t index, std::int64_t limit) {
    const auto first = static_cast<std::int64_t>(start);
    begin = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(static_cast<T>(index) * bin)) + first, 0, limit);
    end = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(static_cast<T>(index + 1) * bin)) + first, 0, limit);
  }
};

template <class T>
void pool_max(const Image<T>& image, const T* rois, std::int64_t count, T scale, Bins bins, T* out,
              std::int32_t* where) {
  const std::int64_t block = image.channels * bins.height * bins.width;
  for (std::int64_t n = 0; n < count; ++n) {
    const Region<T> region = rounded_region(rois + 5 * n, scale, true);
    for_each_bin(image.channels, bins, [&](std::int64_t i, std::int64_t c, std::int64_t ph, std::int64_t pw) {
      const Span<T> rows(region.top, region.bin_height(bins), ph, image.height);
      const Span<T> columns(region.left, region.bin_width(bins), pw, image.width);
      const bool empty = rows.begin >= rows.end || columns.begin >= columns.end || !has_image(image, region);
      T best = empty ? T(0) : std::numeric_limits<T>::lowest();
      std::int64_t place = -1;
      if (!empty) {
        const T* plane = image.plane(region.image, c);
        for (std::int64_t y = rows.begin; y < rows.end; ++y)
          for (std::int64_t x = columns.begin; x < columns.end; ++x)
            if (plane[y * image.width + x] > best) best = plane[place = y * image.width + x];
      }
      out[n * block + i] = best;
      where[n * block + i] = static_cast<std::int32_t>(place);
    });
  }
}

template <class T>
void pool_mean_by_position(const Image<T>& image, const T* rois, std::int64_t count, T scale, Bins bins,
                           T* out, std::int32_t* from) {
  const std::int64_t channels = image.channels / (bins.height * bins.width);
  for (std::int64_t n = 0; n < count; ++n) {
    const Region<T> region = rounded_region(rois + 5 * n, scale, false);
    for_each_bin(channels, bins, [&](std::int64_t i, std::int64_t c, std::int64_t ph, std::int64_t pw) {
      const std::int64_t source = position_channel(c, bins, ph, pw);
      // This operator cuts bins off one pixel before the edge.
      const Span<T> rows(region.top, region.bin_height(bins), ph, image.height - 1);
      const Span<T> columns(region.left, region.bin_width(bins), pw, image.width - 1);
      T sum = 0;
      if (has_image(image, region))
        for (std::int64_t y = rows.begin; y < rows.end; ++y)
          for (std::int64_t x = columns.begin; x < columns.end; ++x)
            sum += image.plane(region.image, source)[y * image.width + x];
      const std::int64_t area = (rows.end - rows.begin) * (columns.end - columns.begin);
      out[n * image.channels + i] =
          rows.end <= rows.begin || columns.end <= columns.begin ? T(0) : sum / static_cast<T>(area);
      from[n * image.channels + i] = static_cast<std::int32_t>(source);
    });
  }
}

struct DeformedWindow {
  std::int64_t height, width, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;

  std::int64_t output_height(std::int64_t in) const {
    return output(in, height, stride_h, pad_h, dilation_h);
  }
  std::int64_t output_width(std::int64_t in) const { return output(in, width, stride_w, pad_w, dilation_w); }

 private:
  static std::int64_t output(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                             std::int64_t dilation) {
    return stride > 0 ? (in + 2 * pad - (dilation * (kernel - 1) + 1)) / stride + 1 : 0;
  }
};

/// Bilinear value of a plane whose outside is zero, pixel by pixel.
template <class T>
T sample_in_zeros(const T* plane, std::int64_t height, std::int64_t width, T y, T x) {
  if (y <= T(-1) || y >= static_cast<T>(height) || x <= T(-1) || x >= static_cast<T>(width)) return T(0);
  const auto top = static_cast<std::int64_t>(std::floor(y)), left = static_cast<std::int64_t>(std::floor(x));
  const T dy = y - static_cast<T>(top), dx = x - static_cast<T>(left);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return row < 0 || row >= height || column < 0 || column >= width ? T(0) : plane[row * width + column];
  };
  return (1 - dy) * (1 - dx) * at(top, left) + (1 - dy) * dx * at(top, left + 1) +
         dy * (1 - dx) * at(top + 1, left) + dy * dx * at(top + 1, left + 1);
}

/// A convolution whose every tap is moved by an offset and weighed by a mask (null: by one).
template <class T>
void convolve_deformed(const Image<T>& image, const T* weight, std::int64_t out_channels, std::int64_t groups,
                       const T* offset, const T* mask, std::int64_t offset_groups, const T* bias,
                       const DeformedWindow& window, T* out) {
  const std::int64_t out_h = window.output_height(image.height), out_w = window.output_width(image.width);
  const std::int64_t plane = out_h * out_w, taps = window.height * window.width;
  const std::int64_t in_per_group = image.channels / groups, out_per_group = out_channels / groups;
  const std::int64_t in_per_offset = image.channels / offset_groups;
  for (std::int64_t b = 0; b < image.batch; ++b)
    for (std::int64_t oc = 0; oc < out_channels; ++oc)
      for (std::int64_t at = 0; at < plane; ++at) {
        T sum = bias[oc];
        for (std::int64_t k = 0; k < in_per_group; ++k) {
          const std::int64_t ic = oc / out_per_group * in_per_group + k;
          const std::int64_t first_tap = (b * offset_groups + ic / in_per_offset) * taps;
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const T* moved = offset + 2 * (first_tap + tap) * plane + at;  // y, then x one plane on
            const auto y = static_cast<T>(at / out_w * window.stride_h - window.pad_h +
                                          tap / window.width * window.dilation_h);
            const auto x = static_cast<T>(at % out_w * window.stride_w - window.pad_w +
                                          tap % window.width * window.dilation_w);
            const T value = sample_in_zeros(image.plane(b, ic), image.height, image.width, y + moved[0],
                                            x + moved[plane]);
            sum += weight[(oc * in_per_group + k) * taps + tap] * value *
                   (mask ? mask[(first_tap + tap) * plane + at] : T(1));
          }
        }
        out[(b * out_channels + oc) * plane + at] = sum;
      }
}

}  // namespace pt2onnx::frontend
