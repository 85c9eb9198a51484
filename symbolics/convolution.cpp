// Convolutions: every torch spelling of them is one ONNX Conv or ConvTranspose.
#include <algorithm>

#include "spatial.h"
#include "tables.h"

namespace pt2onnx {
namespace {

struct Convolution {
  Value weight;
  Value bias;
  std::size_t spatial = 0;
  std::vector<std::int64_t> stride, dilation, output_padding;
  std::vector<std::int64_t> pad_before, pad_after;
  std::int64_t groups = 1;
};

std::optional<std::vector<std::int64_t>> kernel_of(const Convolution& conv) {
  const auto& shape = conv.weight.shape();
  if (!shape) return std::nullopt;
  return static_shape(Shape(shape->begin() + 2, shape->end()));
}

/// Padding "same" puts the odd element at the end.
void pad_to_same(Call& c, Convolution& conv) {
  const auto kernel = kernel_of(conv);
  if (!kernel) c.reject("padding `same` with a kernel whose size is not known");
  for (std::size_t i = 0; i < conv.spatial; ++i) {
    if (conv.stride[i] != 1) c.reject("padding `same` of a strided convolution");
    const auto total = conv.dilation[i] * ((*kernel)[i] - 1);
    conv.pad_before[i] = total / 2;
    conv.pad_after[i] = total - total / 2;
  }
}

Convolution read_convolution(Call& c) {
  Convolution conv;
  conv.weight = c.tensor("weight");
  if (c.has("bias")) conv.bias = c.optional_tensor("bias");
  const auto rank = c.rank(conv.weight);
  if (rank < 3) c.reject("a weight of " + std::to_string(rank) + " dims");
  conv.spatial = rank - 2;
  conv.stride = c.ints("stride", conv.spatial);
  conv.dilation =
      c.has("dilation") ? c.ints("dilation", conv.spatial) : std::vector<std::int64_t>(conv.spatial, 1);
  conv.output_padding = c.has("output_padding") ? c.ints("output_padding", conv.spatial)
                                                : std::vector<std::int64_t>(conv.spatial, 0);
  if (c.has("groups")) conv.groups = c.integer("groups");

  if (std::holds_alternative<std::string>(c.argument("padding").data)) {
    conv.pad_before.assign(conv.spatial, 0);
    conv.pad_after.assign(conv.spatial, 0);
    const auto mode = c.text("padding");
    if (mode == "same") {
      pad_to_same(c, conv);
    } else if (mode != "valid") {
      c.reject("padding `" + mode + "`");
    }
  } else {
    conv.pad_before = conv.pad_after = c.ints("padding", conv.spatial);
  }
  return conv;
}

/// What ONNX's inference leaves open: the sizes of the result where those of the input are symbolic.
void refine(Call& c, Value result, Value x, const Convolution& conv, bool transposed) {
  const auto kernel = kernel_of(conv);
  if (!kernel || !x.shape() || !result.shape()) return;
  Shape shape = *result.shape();
  for (std::size_t i = 0; i < conv.spatial; ++i) {
    const Dim& size = (*x.shape())[i + 2];
    const auto reach = conv.dilation[i] * ((*kernel)[i] - 1) + 1;
    const auto padding = conv.pad_before[i] + conv.pad_after[i];
    shape[i + 2] = transposed ? (size - 1) * conv.stride[i] + (reach - padding + conv.output_padding[i])
                              : floor_div(size + (padding - reach), conv.stride[i]) + 1;
  }
  c.set_shape(result, shape);
}

/// ONNX Runtime wants an output padding below the stride, torch allows one below the dilation too. Cropping less at the
/// end is the same.
void limit_output_padding(Convolution& conv) {
  for (std::size_t i = 0; i < conv.spatial; ++i) {
    if (conv.output_padding[i] < conv.stride[i]) continue;
    const auto moved = std::min(conv.output_padding[i], conv.pad_after[i]);
    conv.output_padding[i] -= moved;
    conv.pad_after[i] -= moved;
  }
}

Value emit_convolution(Call& c, Value input, Convolution conv, bool transposed) {
  if (transposed) limit_output_padding(conv);
  const auto x = with_batch(c, input, conv.spatial);
  Attributes attributes{
      {"kernel_shape", kernel_of(conv)},
      {"strides", conv.stride},
      {"pads", joined(conv.pad_before, conv.pad_after)},
      {"dilations", conv.dilation},
      {"group", conv.groups},
  };
  if (transposed) attributes.set({"output_padding", conv.output_padding});
  const auto y = c.op(transposed ? "ConvTranspose" : "Conv", {x.value, conv.weight, conv.bias}, attributes);
  refine(c, y, x.value, conv, transposed);
  return x.restore(c, y);
}

Value input_of(Call& c) { return c.tensor(c.has("input") ? "input" : "self"); }

// aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0,
//              SymInt[2] dilation=1, SymInt groups=1) -> Tensor
// aten::conv2d.padding(..., str padding="valid", ...) -> Tensor
Results direct(Call& c) { return emit_convolution(c, input_of(c), read_convolution(c), false); }

// aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1,
//     SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor
Results transposed(Call& c) { return emit_convolution(c, input_of(c), read_convolution(c), true); }

// aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation,
//                   bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor
Results convolution(Call& c) {
  return emit_convolution(c, input_of(c), read_convolution(c), c.flag("transposed"));
}

// aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor
// Time first, channels last: self [T, N, C_in], weight [K, C_in, C_out].
Results conv_tbc(Call& c) {
  Convolution conv;
  conv.weight = onnx::transpose(c, c.tensor("weight"), {2, 1, 0});
  conv.bias = c.tensor("bias");
  conv.spatial = 1;
  conv.stride = conv.dilation = {1};
  conv.output_padding = {0};
  conv.pad_before = conv.pad_after = {c.integer("pad")};
  const auto x = onnx::transpose(c, c.tensor("self"), {1, 2, 0});
  return onnx::transpose(c, emit_convolution(c, x, conv, false), {2, 0, 1});
}

constexpr Entry kTable[] = {
    {"aten::_convolution", 9, convolution, multilinear},
    {"aten::_convolution_mode", 9, direct},
    {"aten::conv1d", 9, direct, multilinear},
    {"aten::conv2d", 9, direct, multilinear},
    {"aten::conv3d", 9, direct, multilinear},
    {"aten::conv_depthwise3d", 9, direct},
    {"aten::conv_tbc", 9, conv_tbc},
    {"aten::conv_transpose1d", 9, transposed, multilinear},
    {"aten::conv_transpose2d", 9, transposed, multilinear},
    {"aten::conv_transpose3d", 9, transposed, multilinear},
    {"aten::convolution", 9, convolution, multilinear},
    {"aten::convolution_overrideable", 9, convolution},
    {"aten::cudnn_convolution", 9, direct},
    {"aten::cudnn_convolution_transpose", 9, transposed},
    {"aten::mkldnn_convolution", 9, direct},
    {"aten::slow_conv3d", 9, direct},
    {"aten::slow_conv_dilated2d", 9, direct},
    {"aten::slow_conv_dilated3d", 9, direct},
    {"aten::slow_conv_transpose2d", 9, transposed},
    {"aten::slow_conv_transpose3d", 9, transposed},
    {"aten::thnn_conv2d", 9, direct},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> convolution_table() { return kTable; }

}  // namespace pt2onnx
