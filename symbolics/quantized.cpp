// Quantized tensors and the operators of torch.ao models. Each becomes what it means on floats, between DequantizeLinear
// and QuantizeLinear ("QDQ"), which runtimes fuse into integer kernels. Libtorch rounds products of integers once, a
// runtime may round elsewhere: results agree within one quantization step.
#include <cmath>

#include "symbolics/blocks.h"
#include "symbolics/onnx.h"
#include "symbolics/promotion.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using program::Literal;
using Ints = std::vector<std::int64_t>;

Value relu(Call& c, Value x) { return c.op("Relu", {x}); }

/// The result in the type of the quantized argument, with the scale and zero point that the operator names.
Value requantize(Call& c, Value floats, Value like, std::string_view scale, std::string_view zero_point) {
  return c.quantize(floats, c.number(scale), c.integer(zero_point), c.dtype_of(like));
}

/// "output_scale", "scale" or "Y_scale_i", as the schema has it.
Value requantize(Call& c, Value floats, Value like) {
  if (c.has("output_scale")) return requantize(c, floats, like, "output_scale", "output_zero_point");
  if (c.has("Y_scale_i")) return requantize(c, floats, like, "Y_scale_i", "Y_zero_point_i");
  return requantize(c, floats, like, "scale", "zero_point");
}

// ---- to and from floats ----------------------------------------------------------------------------------------------

// aten::quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor
Results quantize_per_tensor(Call& c) {
  if (c.has("tensors")) c.reject("quantizes a list of tensors at once");
  return c.quantize(c.tensor("self"), c.number("scale"), c.integer("zero_point"), *c.dtype("dtype"));
}

// aten::dequantize.self(Tensor self) -> Tensor; .tensor(Tensor qtensor); .tensors(Tensor[] tensors) -> Tensor[]. Floats
// become float32.
Results dequantize(Call& c) {
  const auto name = c.has("self")       ? "self"
                    : c.has("qtensor")  ? "qtensor"
                    : c.has("qtensors") ? "qtensors"
                                        : "tensors";
  if (std::holds_alternative<Value>(c.argument(name).data))
    return c.cast(c.dequantize(c.tensor(name)), DType::Float32);
  std::vector<Value> floats;
  for (const Value v : c.tensors(name)) floats.push_back(c.cast(c.dequantize(v), DType::Float32));
  return Results::list(floats);
}

// aten::int_repr(Tensor self) -> Tensor
Results int_repr(Call& c) { return Value(c.quantization(c.tensor("self")).codes); }
Results q_scale(Call& c) { return Scalar(c.quantization(c.tensor("self")).scale); }
Results q_zero_point(Call& c) { return Scalar(c.quantization(c.tensor("self")).zero_point); }

/// Rounds to a grid, in floats: torch's fake quantization, whose range of codes may be any. x / scale is a product with
/// the reciprocal there.
Value to_grid(Call& c, Value x, Value inverse, Value scale, Value zero_point, double low, double high) {
  const Value code = onnx::round(c, onnx::add(c, onnx::mul(c, x, inverse), zero_point));
  const Value inside = onnx::clip(c, code, c.constant(low, DType::Float32), c.constant(high, DType::Float32));
  return onnx::mul(c, onnx::sub(c, inside, zero_point), scale);
}

// aten::fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max)
Results fake_quantize(Call& c) {
  const Value x = c.tensor("self");
  const auto low = c.integer("quant_min"), high = c.integer("quant_max");
  const double scale = c.number("scale");
  const auto zero_point = static_cast<std::int64_t>(std::nearbyint(c.number("zero_point")));
  if (c.has_opset(10) && c.dtype_of(x) == DType::Float32) {
    if (low == 0 && high == 255) return c.dequantize(c.quantize(x, scale, zero_point, DType::QUInt8));
    if (low == -128 && high == 127) return c.dequantize(c.quantize(x, scale, zero_point, DType::QInt8));
  }
  const auto number = [&](double v) { return c.constant(v, DType::Float32); };
  const Value floats =
      to_grid(c, c.cast(x, DType::Float32), number(1 / static_cast<float>(scale)), number(scale),
              number(static_cast<double>(zero_point)), static_cast<double>(low), static_cast<double>(high));
  return c.cast(floats, c.dtype_of(x));
}

// aten::fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min,
//   int quant_max)
Results fake_quantize_channels(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = static_cast<std::size_t>(c.axis("axis", c.rank(x)));
  const auto vector = [&](std::string_view name) {
    Shape shape(c.rank(x), 1);
    const Value v = onnx::cast(c, c.tensor(name), DType::Float32);
    shape[axis] = c.size_of(v, 0);
    return onnx::reshape(c, v, shape);
  };
  const Value scale = vector("scale");
  const Value floats =
      to_grid(c, c.cast(x, DType::Float32), onnx::reciprocal(c, scale), scale, vector("zero_point"),
              static_cast<double>(c.integer("quant_min")), static_cast<double>(c.integer("quant_max")));
  return c.cast(floats, c.dtype_of(x));
}

// ---- packed parameters -----------------------------------------------------------------------------------------------

Literal packed(Call& c, std::string_view argument) {
  const auto* opaque = std::get_if<program::OpaqueLiteral>(&c.argument(argument).data);
  if (!opaque) c.reject("has packed parameters that are not known at export");
  return {*opaque};
}

std::vector<Literal> read(Call& c, std::string_view torch_op, const Literal& from) {
  auto values = c.evaluate(torch_op, {from});
  if (!values || values->empty())
    c.reject("has packed parameters that `" + std::string(torch_op) + "` cannot read");
  return std::move(*values);
}

Ints read_ints(Call& c, std::string_view torch_op, const Literal& from) {
  const auto values = read(c, torch_op, from);
  if (const auto* one = std::get_if<std::int64_t>(&values[0].data)) return {*one};
  const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&values[0].data);
  if (!list) c.reject("has packed parameters of an unknown form");
  Ints ints;
  for (const Literal& item : (*list)->items) ints.push_back(std::get<std::int64_t>(item.data));
  return ints;
}

/// A quantized tensor that is known: its codes, dequantized by the graph. Below opset 13 DequantizeLinear has one scale
/// for all, so per channel the floats themselves are kept.
Value known_floats(Call& c, const Literal& tensor) {
  if (const auto* plain = std::get_if<Tensor>(&tensor.data))
    return c.cast(c.constant(*plain), DType::Float32);
  const auto scales = c.evaluate("aten::q_per_channel_scales", {tensor});
  const auto per_tensor = scales ? std::nullopt : c.evaluate("aten::q_scale", {tensor});
  const auto codes = std::get<Tensor>(read(c, "aten::int_repr", tensor)[0].data);
  const bool byte = codes.dtype == DType::Int8 || codes.dtype == DType::UInt8;
  if (!byte || (scales && !c.has_opset(13)) || (!scales && !per_tensor)) {
    return c.constant(std::get<Tensor>(read(c, "aten::dequantize.self", tensor)[0].data));
  }
  if (per_tensor) {
    const auto zero_point = read_ints(c, "aten::q_zero_point", tensor)[0];
    return c.op("DequantizeLinear",
                {c.constant(codes), c.constant(std::get<double>((*per_tensor)[0].data), DType::Float32),
                 c.constant(Tensor::scalar(zero_point, codes.dtype))});
  }
  const Tensor& scale = std::get<Tensor>((*scales)[0].data);
  const Tensor zero_points = std::get<Tensor>(read(c, "aten::q_per_channel_zero_points", tensor)[0].data);
  if (is_floating(zero_points.dtype))  // of embeddings
    return c.constant(std::get<Tensor>(read(c, "aten::dequantize.self", tensor)[0].data));
  return c.op(
      "DequantizeLinear",
      {c.constant(codes), c.constant(Tensor::of_doubles(scale.to_doubles(), scale.dims, DType::Float32)),
       c.constant(Tensor::of_ints(zero_points.to_ints(), zero_points.dims, codes.dtype))},
      {{"axis", read_ints(c, "aten::q_per_channel_axis", tensor)[0]}});
}

struct Weights {
  Value weight, bias;  // in floats; the bias may be absent
};

Weights unpacked(Call& c, std::string_view torch_op, const Literal& from) {
  auto values = read(c, torch_op, from);
  // Some libraries give the two as one tuple.
  if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&values[0].data))
    values = (*tuple)->items;
  Weights w{known_floats(c, values.at(0)), Value()};
  if (values.size() > 1)
    if (const auto* bias = std::get_if<Tensor>(&values[1].data)) w.bias = c.constant(*bias);
  return w;
}

// ---- linear ----------------------------------------------------------------------------------------------------------

// quantized::linear(Tensor X, LinearPackedParamsBase W_prepack, float Y_scale_i, int Y_zero_point_i) -> Tensor Y
template <bool Relu>
Results quantized_linear(Call& c) {
  const Value x = c.tensor("X");
  const Weights w = unpacked(c, "quantized::linear_unpack", packed(c, "W_prepack"));
  const Value y = linear(c, c.dequantize(x), w.weight, w.bias);
  return requantize(c, Relu ? relu(c, y) : y, x);
}

/// The input rounded to 8 bits (7 with `reduce_range`) between its smallest and largest element, which the graph finds.
Value dynamically_rounded(Call& c, Value x, bool reduce_range) {
  const double top = reduce_range ? 127 : 255;
  const auto number = [&](double v) { return c.constant(v, DType::Float32); };
  const auto axes = onnx::all_axes(c, x);
  const Value low = onnx::minimum(c, onnx::reduce(c, "ReduceMin", x, axes, false), number(0));
  const Value high = onnx::maximum(c, onnx::reduce(c, "ReduceMax", x, axes, false), number(0));
  const Value range = onnx::sub(c, high, low);
  const Value flat = onnx::equal(c, range, number(0));
  const Value scale = onnx::where(c, flat, number(0.1), onnx::div(c, range, number(top)));
  const Value zero_point =
      onnx::round(c, onnx::clip(c, onnx::neg(c, onnx::div(c, low, scale)), number(0), number(top)));
  return to_grid(c, x, onnx::reciprocal(c, scale), scale, zero_point, 0, top);
}

// quantized::linear_dynamic(Tensor X, LinearPackedParamsBase W_prepack, bool reduce_range=False) -> Tensor Y
template <bool Relu>
Results linear_dynamic(Call& c) {
  const Value x = c.tensor("X");
  const Weights w = unpacked(c, "quantized::linear_unpack", packed(c, "W_prepack"));
  const Value y = linear(c, dynamically_rounded(c, x, c.flag("reduce_range")), w.weight, w.bias);
  return Relu ? relu(c, y) : y;
}

// quantized::linear_dynamic_fp16(Tensor X, LinearPackedParamsBase W_prepack) -> Tensor Y
template <bool Relu>
Results linear_half(Call& c) {
  const Weights w = unpacked(c, "quantized::linear_unpack_fp16", packed(c, "W_prepack"));
  const Value weight = c.cast(c.cast(w.weight, DType::Float16), DType::Float32);
  const Value y = linear(c, c.tensor("X"), weight, w.bias);
  return Relu ? relu(c, y) : y;
}

// ---- convolutions ----------------------------------------------------------------------------------------------------

/// The last `count` entries: one-dimensional convolutions are packed as two-dimensional ones of height 1.
Ints last(Ints values, std::size_t count) {
  if (values.size() > count) values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(count));
  return values;
}

template <onnx::Name Family, std::size_t Axes, bool Transposed>
Value convolution_of(Call& c) {
  const Value x = c.tensor("qx");
  const Literal params = packed(c, c.has("packed_weight") ? "packed_weight" : "weight");
  const std::string family = std::string("quantized::") + Family.text;  // "quantized::conv2d"
  // What two-dimensional parameters hold is read by the names of two dimensions.
  const std::string wide = Axes == 1 ? family.substr(0, family.size() - 2) + "2d" : family;
  const Weights w = unpacked(c, family + "_unpack", params);
  const auto read_last = [&](std::string_view what) {
    return last(read_ints(c, wide + "_" + std::string(what), params), Axes);
  };
  Ints pads = read_last("padding");
  pads.insert(pads.end(), pads.begin(), pads.end());
  Attributes attributes{{"strides", read_last("stride")},
                        {"pads", pads},
                        {"dilations", read_last("dilation")},
                        {"group", read_ints(c, wide + "_groups", params)[0]}};
  if (Transposed) attributes.set({"output_padding", read_last("output_padding")});
  return c.op(Transposed ? "ConvTranspose" : "Conv", {c.dequantize(x), w.weight, w.bias}, attributes);
}

// quantized::conv2d.new(Tensor qx, Conv2dPackedParamsBase packed_weight, float output_scale, int output_zero_point)
template <onnx::Name Family, std::size_t Axes, bool Relu, bool Transposed = false>
Results convolution(Call& c) {
  const Value y = convolution_of<Family, Axes, Transposed>(c);
  return requantize(c, Relu ? relu(c, y) : y, c.tensor("qx"));
}

// quantized::conv2d_add(Tensor qx, Tensor qaccum, Conv2dPackedParamsBase packed_weight, float output_scale, ...)
template <bool Relu>
Results convolution_add(Call& c) {
  const Value y = onnx::add(c, convolution_of<"conv2d", 2, false>(c), c.dequantize(c.tensor("qaccum")));
  return requantize(c, Relu ? relu(c, y) : y, c.tensor("qx"));
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------

// quantized::add(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc
template <Value (*Word)(Call&, Value, Value), bool Relu>
Results binary(Call& c) {
  const Value a = c.tensor("qa");
  if (!c.has("scale")) c.reject("computes with a number here", "give the number as a quantized tensor");
  const Value y = Word(c, c.dequantize(a), c.dequantize(c.tensor("qb")));
  return requantize(c, Relu ? relu(c, y) : y, a);
}

/// The same codes mean other numbers: a sum moves the zero point, a positive factor changes the scale.
// quantized::mul_scalar(Tensor qa, Scalar b) -> Tensor qc
Results mul_scalar(Call& c) {
  const Value a = c.tensor("qa");
  const auto& q = c.quantization(a);
  const double factor = c.number("b");
  if (factor <= 0) c.reject("multiplies a quantized tensor by a number that is not positive");
  return c.quantized(Value(q.codes), q.scale * factor, q.zero_point, c.dtype_of(a));
}

// quantized::add_scalar(Tensor qa, Scalar b) -> Tensor qc
Results add_scalar(Call& c) {
  const Value a = c.tensor("qa");
  const auto& q = c.quantization(a);
  const auto moved = q.zero_point - static_cast<std::int64_t>(std::nearbyint(c.number("b") / q.scale));
  const bool with_sign = c.dtype_of(a) == DType::QInt8;
  if (moved < (with_sign ? -128 : 0) || moved > (with_sign ? 127 : 255))
    c.reject("adds a number that moves the zero point out of the range of the codes");
  return c.quantized(Value(q.codes), q.scale, moved, c.dtype_of(a));
}

// quantized::cat(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor
template <bool Relu>
Results cat(Call& c) {
  const auto xs = c.tensors("qx");
  if (xs.empty()) c.reject("joins no tensors");
  std::vector<Value> floats;
  for (const Value x : xs) floats.push_back(c.dequantize(x));
  const auto& q = c.quantization(xs[0]);
  const Value y = onnx::concat(c, floats, c.axis("dim", c.rank(floats[0])));
  return c.quantize(Relu ? relu(c, y) : y, c.optional_number("scale").value_or(q.scale),
                    c.optional_integer("zero_point").value_or(q.zero_point), c.dtype_of(xs[0]));
}

// quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc
Results matmul(Call& c) {
  const Value a = c.tensor("qa");
  return requantize(c, onnx::matmul(c, c.dequantize(a), c.dequantize(c.tensor("qb"))), a);
}

// ---- activations and norms -------------------------------------------------------------------------------------------

Value input_of(Call& c) { return c.tensor(c.has("qx") ? "qx" : c.has("input") ? "input" : "self"); }

/// f on the floats, quantized as the operator says.
template <Value (*Function)(Call&, Value)>
Results activation(Call& c) {
  const Value x = input_of(c);
  return requantize(c, Function(c, c.dequantize(x)), x);
}

Value hardswish_of(Call& c, Value x) {
  const auto number = [&](double v) { return c.constant(v, DType::Float32); };
  const Value gate = onnx::clip(c, onnx::add(c, x, number(3)), number(0), number(6));
  return onnx::div(c, onnx::mul(c, x, gate), number(6));
}
Value leaky_of(Call& c, Value x) { return c.op("LeakyRelu", {x}, {{"alpha", c.number("negative_slope")}}); }
Value elu_of(Call& c, Value x) {
  if (c.number("scale") != 1 || c.number("input_scale") != 1)
    c.reject("`scale` or `input_scale` other than 1");
  return c.op("Elu", {x}, {{"alpha", c.number("alpha")}});
}
Value softmax_of(Call& c, Value x) { return onnx::softmax(c, x, c.integer("dim")); }
Value unchanged_of(Call&, Value x) { return x; }

Value layer_norm_of(Call& c, Value x) {
  return layer_norm(c, x, c.sizes("normalized_shape"), c.optional_tensor("weight"), c.optional_tensor("bias"),
                    c.number("eps"));
}

/// (x - mean) / sqrt(var + eps) * weight + bias, per channel
template <bool Relu>
Results batch_norm(Call& c) {
  const Value x = c.tensor("qx");
  const Value mean = c.tensor("mean");
  const auto given = [&](std::string_view name, double otherwise) {
    const Value v = c.optional_tensor(name);
    return v ? v : onnx::full_like(c, mean, Scalar(otherwise));
  };
  const Value y = c.op("BatchNormalization",
                       {c.dequantize(x), given("weight", 1), given("bias", 0), mean, c.tensor("var")},
                       {{"epsilon", c.number("eps")}});
  return requantize(c, Relu ? relu(c, y) : y, x);
}

// quantized::relu6(Tensor qx, bool inplace=False) -> Tensor: keeps scale and zero point
Results relu6(Call& c) {
  const Value x = c.tensor("qx");
  const auto& q = c.quantization(x);
  const auto number = [&](double v) { return c.constant(v, DType::Float32); };
  return c.quantize(onnx::clip(c, c.dequantize(x), number(0), number(6)), q.scale, q.zero_point,
                    c.dtype_of(x));
}

// aten::sigmoid, tanh of a quantized tensor: torch chooses scale and zero point so that the codes cover the range.
template <Value (*Function)(Call&, Value), int Span>
Results to_range(Call& c) {
  const Value x = c.tensor("self");
  const bool with_sign = c.dtype_of(x) == DType::QInt8;
  const std::int64_t from_zero = with_sign ? -128 : 0, from_minus_one = with_sign ? 0 : 128;
  return c.quantize(Function(c, c.dequantize(x)), Span / 256.0, Span == 1 ? from_zero : from_minus_one,
                    c.dtype_of(x));
}

// quantized::embedding_byte(EmbeddingPackedParamsBase weight, Tensor indices, bool pruned_weights=False) -> Tensor
Results embedding(Call& c) {
  if (c.flag("pruned_weights")) c.reject("`pruned_weights`");
  const auto values = read(c, "quantized::embedding_bag_unpack", packed(c, "weight"));
  return onnx::gather(c, known_floats(c, values[0]), c.tensor("indices"), 0);
}

constexpr Entry kTable[] = {
    {"aten::dequantize", 6, dequantize, takes_complex},
    {"aten::fake_quantize_per_channel_affine", 11, fake_quantize_channels},
    {"aten::fake_quantize_per_tensor_affine", 11, fake_quantize},
    {"aten::int_repr", 10, int_repr, takes_complex},
    {"aten::q_scale", 10, q_scale, takes_complex},
    {"aten::q_zero_point", 10, q_zero_point, takes_complex},
    {"aten::quantize_per_tensor", 10, quantize_per_tensor},
    {"quantized::add", 10, binary<onnx::add, false>},
    {"quantized::add_relu", 10, binary<onnx::add, true>},
    {"quantized::add_scalar", 10, add_scalar},
    {"quantized::batch_norm2d", 10, batch_norm<false>},
    {"quantized::batch_norm2d_relu", 10, batch_norm<true>},
    {"quantized::cat", 10, cat<false>},
    {"quantized::cat_relu", 10, cat<true>},
    {"quantized::conv1d", 10, convolution<"conv1d", 1, false>},
    {"quantized::conv1d_relu", 10, convolution<"conv1d", 1, true>},
    {"quantized::conv2d", 10, convolution<"conv2d", 2, false>},
    {"quantized::conv2d_add", 10, convolution_add<false>},
    {"quantized::conv2d_add_relu", 10, convolution_add<true>},
    {"quantized::conv2d_relu", 10, convolution<"conv2d", 2, true>},
    {"quantized::conv3d", 10, convolution<"conv3d", 3, false>},
    {"quantized::conv3d_relu", 10, convolution<"conv3d", 3, true>},
    {"quantized::conv_transpose2d", 10, convolution<"conv_transpose2d", 2, false, true>},
    {"quantized::dropout", 10, activation<unchanged_of>},
    {"quantized::elu", 10, activation<elu_of>},
    {"quantized::embedding_byte", 10, embedding},
    {"quantized::hardswish", 11, activation<hardswish_of>},
    {"quantized::layer_norm", 10, activation<layer_norm_of>},
    {"quantized::leaky_relu", 10, activation<leaky_of>},
    {"quantized::linear", 10, quantized_linear<false>},
    {"quantized::linear_dynamic", 11, linear_dynamic<false>},
    {"quantized::linear_dynamic_fp16", 10, linear_half<false>},
    {"quantized::linear_relu", 10, quantized_linear<true>},
    {"quantized::linear_relu_dynamic", 11, linear_dynamic<true>},
    {"quantized::linear_relu_dynamic_fp16", 10, linear_half<true>},
    {"quantized::matmul", 10, matmul},
    {"quantized::mul", 10, binary<onnx::mul, false>},
    {"quantized::mul_relu", 10, binary<onnx::mul, true>},
    {"quantized::mul_scalar", 10, mul_scalar},
    {"quantized::relu6", 11, relu6},
    {"quantized::sigmoid", 10, activation<onnx::sigmoid>},
    {"quantized::softmax", 10, activation<softmax_of>},
};
static_assert(strictly_ascending(kTable));

constexpr Entry kForms[] = {
    {"aten::sigmoid", 10, to_range<onnx::sigmoid, 1>},
    {"aten::tanh", 10, to_range<onnx::tanh, 2>},
};
static_assert(strictly_ascending(kForms));

}  // namespace

std::span<const Entry> quantized_table() { return kTable; }
std::span<const Entry> quantized_forms() { return kForms; }

}  // namespace pt2onnx
