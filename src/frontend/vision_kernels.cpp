#include "frontend/vision_kernels.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <tuple>

#include "frontend/vision_math.h"

namespace pt2onnx::frontend {

namespace {

using at::Tensor;

/// Computation is in double for double and in float for everything else; the result has the input's dtype again.
template <class F>
auto in_working_type(const Tensor& input, F f) {
  return input.scalar_type() == at::kDouble ? f(double{}) : f(float{});
}

template <class T>
Tensor working(const Tensor& tensor) {
  return tensor.to(c10::CppTypeToScalarType<T>::value).contiguous();
}

template <class T>
Image<T> image_of(const Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), tensor.size(0), tensor.size(1), tensor.size(2), tensor.size(3)};
}

void check_image(const Tensor& input, const Tensor& rois) {
  TORCH_CHECK(input.dim() == 4, "input must have 4 dims, got ", input.dim());
  TORCH_CHECK(rois.dim() == 2 && rois.size(1) == 5, "rois must be [n, 5] (batch index, x1, y1, x2, y2)");
}

// torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
Tensor nms(const Tensor& dets, const Tensor& scores, double iou_threshold) {
  TORCH_CHECK(dets.dim() == 2 && dets.size(1) == 4, "dets must be [n, 4]");
  TORCH_CHECK(scores.dim() == 1 && scores.size(0) == dets.size(0), "scores must be [n], one per box");
  const auto kept = in_working_type(dets, [&](auto zero) {
    using T = decltype(zero);
    const Tensor boxes = working<T>(dets), order = working<T>(scores);
    return suppress(boxes.const_data_ptr<T>(), order.const_data_ptr<T>(), dets.size(0), iou_threshold);
  });
  Tensor out = at::empty({static_cast<std::int64_t>(kept.size())}, at::kLong);
  std::copy(kept.begin(), kept.end(), out.mutable_data_ptr<std::int64_t>());
  return out;
}

// torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
//                        int sampling_ratio, bool aligned) -> Tensor
Tensor roi_align(const Tensor& input, const Tensor& rois, double scale, std::int64_t height,
                 std::int64_t width, std::int64_t sampling_ratio, bool aligned) {
  check_image(input, rois);
  return in_working_type(input, [&](auto zero) {
    using T = decltype(zero);
    const Tensor x = working<T>(input), boxes = working<T>(rois);
    Tensor out = at::empty({rois.size(0), input.size(1), height, width}, x.options());
    align(image_of<T>(x), boxes.const_data_ptr<T>(), rois.size(0), static_cast<T>(scale), Bins{height, width},
          sampling_ratio, aligned, out.mutable_data_ptr<T>());
    return out.to(input.scalar_type());
  });
}

// torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width)
//   -> (Tensor, Tensor)
std::tuple<Tensor, Tensor> roi_pool(const Tensor& input, const Tensor& rois, double scale,
                                    std::int64_t height, std::int64_t width) {
  check_image(input, rois);
  return in_working_type(input, [&](auto zero) {
    using T = decltype(zero);
    const Tensor x = working<T>(input), boxes = working<T>(rois);
    Tensor out = at::empty({rois.size(0), input.size(1), height, width}, x.options());
    Tensor where = at::empty(out.sizes(), at::kInt);
    pool_max(image_of<T>(x), boxes.const_data_ptr<T>(), rois.size(0), static_cast<T>(scale),
             Bins{height, width}, out.mutable_data_ptr<T>(), where.mutable_data_ptr<std::int32_t>());
    return std::tuple(out.to(input.scalar_type()), where);
  });
}

std::int64_t position_channels(const Tensor& input, std::int64_t height, std::int64_t width) {
  TORCH_CHECK(height > 0 && width > 0 && input.size(1) % (height * width) == 0,
              "the channels of the input must be a multiple of pooled_height * pooled_width");
  return input.size(1) / (height * width);
}

// torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
//                           int sampling_ratio) -> (Tensor, Tensor)
std::tuple<Tensor, Tensor> ps_roi_align(const Tensor& input, const Tensor& rois, double scale,
                                        std::int64_t height, std::int64_t width,
                                        std::int64_t sampling_ratio) {
  check_image(input, rois);
  const std::int64_t channels = position_channels(input, height, width);
  return in_working_type(input, [&](auto zero) {
    using T = decltype(zero);
    const Tensor x = working<T>(input), boxes = working<T>(rois);
    Tensor out = at::empty({rois.size(0), channels, height, width}, x.options());
    Tensor from = at::empty(out.sizes(), at::kInt);
    align_by_position(image_of<T>(x), boxes.const_data_ptr<T>(), rois.size(0), static_cast<T>(scale),
                      Bins{height, width}, sampling_ratio, out.mutable_data_ptr<T>(),
                      from.mutable_data_ptr<std::int32_t>());
    return std::tuple(out.to(input.scalar_type()), from);
  });
}

// torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width)
//   -> (Tensor, Tensor)
std::tuple<Tensor, Tensor> ps_roi_pool(const Tensor& input, const Tensor& rois, double scale,
                                       std::int64_t height, std::int64_t width) {
  check_image(input, rois);
  const std::int64_t channels = position_channels(input, height, width);
  return in_working_type(input, [&](auto zero) {
    using T = decltype(zero);
    const Tensor x = working<T>(input), boxes = working<T>(rois);
    Tensor out = at::empty({rois.size(0), channels, height, width}, x.options());
    Tensor from = at::empty(out.sizes(), at::kInt);
    pool_mean_by_position(image_of<T>(x), boxes.const_data_ptr<T>(), rois.size(0), static_cast<T>(scale),
                          Bins{height, width}, out.mutable_data_ptr<T>(),
                          from.mutable_data_ptr<std::int32_t>());
    return std::tuple(out.to(input.scalar_type()), from);
  });
}

// torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h,
//                            SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w,
//                            SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor
Tensor deform_conv2d(const Tensor& input, const Tensor& weight, const Tensor& offset, const Tensor& mask,
                     const Tensor& bias, std::int64_t stride_h, std::int64_t stride_w, std::int64_t pad_h,
                     std::int64_t pad_w, std::int64_t dilation_h, std::int64_t dilation_w,
                     std::int64_t groups, std::int64_t offset_groups, bool use_mask) {
  TORCH_CHECK(input.dim() == 4 && weight.dim() == 4 && offset.dim() == 4,
              "input, weight and offset must have 4 dims");
  TORCH_CHECK(groups > 0 && offset_groups > 0 && input.size(1) % offset_groups == 0 &&
                  weight.size(0) % groups == 0 && weight.size(1) * groups == input.size(1),
              "the channels of input and weight do not fit groups and offset_groups");
  const DeformedWindow window{weight.size(2), weight.size(3), stride_h,   stride_w,
                              pad_h,          pad_w,          dilation_h, dilation_w};
  const std::int64_t out_h = window.output_height(input.size(2)), out_w = window.output_width(input.size(3));
  TORCH_CHECK(offset.size(0) == input.size(0) &&
                  offset.size(1) == offset_groups * 2 * weight.size(2) * weight.size(3) &&
                  offset.size(2) == out_h && offset.size(3) == out_w,
              "the shape of offset does not fit");
  TORCH_CHECK(!use_mask || (mask.dim() == 4 && mask.numel() * 2 == offset.numel()),
              "the shape of mask does not fit");
  TORCH_CHECK(bias.numel() == weight.size(0), "the shape of bias does not fit");
  return in_working_type(input, [&](auto zero) {
    using T = decltype(zero);
    const Tensor x = working<T>(input), w = working<T>(weight), o = working<T>(offset), m = working<T>(mask),
                 b = working<T>(bias);
    Tensor out = at::empty({input.size(0), weight.size(0), out_h, out_w}, x.options());
    convolve_deformed(image_of<T>(x), w.const_data_ptr<T>(), weight.size(0), groups, o.const_data_ptr<T>(),
                      use_mask ? m.const_data_ptr<T>() : nullptr, offset_groups, b.const_data_ptr<T>(),
                      window, out.mutable_data_ptr<T>());
    return out.to(input.scalar_type());
  });
}

}  // namespace

std::vector<VisionOperator> vision_operators() {
  const std::string pooled = "float spatial_scale, SymInt pooled_height, SymInt pooled_width";
  std::vector<VisionOperator> operators;
  const auto add = [&](std::string schema, c10::KernelFunction kernel) {
    operators.push_back({"torchvision::" + std::move(schema), std::move(kernel)});
  };
  add("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&nms));
  add("roi_align(Tensor input, Tensor rois, " + pooled + ", int sampling_ratio, bool aligned) -> Tensor",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&roi_align));
  add("roi_pool(Tensor input, Tensor rois, " + pooled + ") -> (Tensor, Tensor)",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&roi_pool));
  add("ps_roi_align(Tensor input, Tensor rois, " + pooled + ", int sampling_ratio) -> (Tensor, Tensor)",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&ps_roi_align));
  add("ps_roi_pool(Tensor input, Tensor rois, " + pooled + ") -> (Tensor, Tensor)",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&ps_roi_pool));
  add("deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
      "SymInt stride_w, "
      "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt "
      "offset_groups, bool use_mask) "
      "-> Tensor",
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(&deform_conv2d));
  return operators;
}

}  // namespace pt2onnx::frontend
