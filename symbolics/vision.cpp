// Operators of torchvision.
#include <limits>

#include "onnx.h"
#include "tables.h"

namespace pt2onnx {
namespace {

// torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor: kept boxes, best first.
Results nms(Call& c) {
  const auto boxes = onnx::cast(c, c.tensor("dets"), DType::Float32);
  const auto scores = onnx::cast(c, c.tensor("scores"), DType::Float32);
  const auto threshold =
      Tensor::of_doubles(std::vector<double>{c.number("iou_threshold")}, {1}, DType::Float32);
  const auto selected = c.op("NonMaxSuppression",
                             {onnx::unsqueeze(c, boxes, {0}), onnx::unsqueeze(c, scores, {0, 1}),
                              c.constant({std::numeric_limits<std::int64_t>::max()}), c.constant(threshold)});
  if (!selected.shape()) c.set_shape(selected, {onnx::open_size(c, selected, 0, "selected"), 3});
  return onnx::select(c, selected, 1, 2);  // rows of {batch, class, box}
}

struct Rois {
  Value boxes;          // [K, 4]
  Value batch_indices;  // int64 [K]
};

/// [K, 5]: the index of the image, then the box.
Rois read_rois(Call& c) {
  const auto rois = c.tensor("rois");
  return {onnx::slice(c, rois, 1, 1, 5), onnx::cast(c, onnx::select(c, rois, 1, 0), DType::Int64)};
}

// torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width,
//                        int sampling_ratio, bool aligned) -> Tensor
Results roi_align(Call& c) {
  auto rois = read_rois(c);
  const bool aligned = c.flag("aligned");
  // A scale that the graph computes (of an image whose size is dynamic) cannot be an attribute: the boxes are scaled.
  const Scalar scale = c.scalar("spatial_scale");
  if (!scale.number()) rois.boxes = c.op("Mul", {rois.boxes, c.scalar_value(scale, c.dtype_of(rois.boxes))});
  Attributes attributes{{"mode", "avg"},
                        {"output_height", c.integer("pooled_height")},
                        {"output_width", c.integer("pooled_width")},
                        {"sampling_ratio", std::max<std::int64_t>(c.integer("sampling_ratio"), 0)},
                        {"spatial_scale", scale.number().value_or(1.0)}};
  if (c.has_opset(16)) {
    attributes.set({"coordinate_transformation_mode", aligned ? "half_pixel" : "output_half_pixel"});
  } else if (aligned) {
    c.needs_opset(16, "`aligned=True`");
  }
  return c.op("RoiAlign", {c.tensor("input"), rois.boxes, rois.batch_indices}, attributes);
}

// torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width)
//     -> (Tensor, Tensor argmax): argmax serves the backward pass only.
Results roi_pool(Call& c) {
  const std::vector<std::int64_t> pooled = {c.integer("pooled_height"), c.integer("pooled_width")};
  const auto y = c.op("MaxRoiPool", {c.tensor("input"), c.tensor("rois")},
                      {{"pooled_shape", pooled}, {"spatial_scale", c.number("spatial_scale")}});
  return {y, Argument()};
}

// torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h,
//     SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups,
//     SymInt offset_groups, bool use_mask) -> Tensor
Results deform_conv2d(Call& c) {
  using Ints = std::vector<std::int64_t>;
  const auto pair = [&](const char* h, const char* w) { return Ints{c.integer(h), c.integer(w)}; };
  const auto weight = c.tensor("weight");
  auto pads = pair("pad_h", "pad_w");
  pads.insert(pads.end(), {pads[0], pads[1]});
  const auto kernel = c.static_shape(weight);
  return c.op("DeformConv",
              {c.tensor("input"), weight, c.tensor("offset"), c.tensor("bias"),
               c.flag("use_mask") ? c.tensor("mask") : Value()},
              {{"kernel_shape", Ints{kernel.at(2), kernel.at(3)}},
               {"strides", pair("stride_h", "stride_w")},
               {"pads", pads},
               {"dilations", pair("dilation_h", "dilation_w")},
               {"group", c.integer("groups")},
               {"offset_group", c.integer("offset_groups")}});
}

constexpr Entry kTable[] = {
    {"torchvision::deform_conv2d", 19, deform_conv2d},
    {"torchvision::nms", 10, nms},
    {"torchvision::roi_align", 10, roi_align},
    {"torchvision::roi_pool", 9, roi_pool},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> vision_table() { return kTable; }

}  // namespace pt2onnx
