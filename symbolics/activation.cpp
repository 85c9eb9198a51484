// Activations.
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using onnx::constant_like;

// aten::relu(Tensor self) -> Tensor
Results relu(Call& c) {
  const Value x = c.tensor("self");
  if (is_floating(c.dtype_of(x))) return c.op("Relu", {x});
  return onnx::maximum(c, x, constant_like(c, 0, x));
}

Value clipped(Call& c, Value x, double low, double high) {
  return onnx::clip(c, x, constant_like(c, low, x), constant_like(c, high, x));
}

// aten::relu6(Tensor self) -> Tensor
Results relu6(Call& c) { return clipped(c, c.tensor("self"), 0, 6); }

// aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor
Results hardtanh(Call& c) { return clipped(c, c.tensor("self"), c.number("min_val"), c.number("max_val")); }

// aten::gelu(Tensor self, *, str approximate='none') -> Tensor
Results gelu(Call& c) { return c.op("Gelu", {c.tensor("self")}, {{"approximate", c.text("approximate")}}); }

Results gelu_by_parts(Call& c) {
  const Value x = c.tensor("self");
  const auto number = [&](double v) { return constant_like(c, v, x); };
  Value curve;
  if (c.text("approximate") == "tanh") {
    const Value cube = onnx::mul(c, onnx::mul(c, x, x), x);
    const Value inner = onnx::add(c, x, onnx::mul(c, cube, number(0.044715)));
    curve = onnx::tanh(c, onnx::mul(c, inner, number(std::numbers::sqrt2 * std::numbers::inv_sqrtpi)));
  } else {
    curve = c.op("Erf", {onnx::div(c, x, number(std::numbers::sqrt2))});
  }
  return onnx::mul(c, onnx::mul(c, x, onnx::add(c, curve, number(1))), number(0.5));
}

// aten::silu(Tensor self) -> Tensor
Results silu(Call& c) { return c.op("Swish", {c.tensor("self")}); }

Results silu_by_parts(Call& c) {
  const Value x = c.tensor("self");
  return onnx::mul(c, x, onnx::sigmoid(c, x));
}

// aten::mish(Tensor self) -> Tensor
Results mish_by_parts(Call& c) {
  const Value x = c.tensor("self");
  return onnx::mul(c, x, onnx::tanh(c, c.op("Softplus", {x})));
}

// aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor
Results elu(Call& c) {
  const Value x = c.tensor("self");
  const double alpha = c.number("alpha"), scale = c.number("scale"), input_scale = c.number("input_scale");
  const auto number = [&](double v) { return constant_like(c, v, x); };
  if (input_scale == 1) {
    const Value unscaled = c.op("Elu", {x}, {{"alpha", alpha}});
    return scale == 1 ? unscaled : onnx::mul(c, unscaled, number(scale));
  }
  const Value negative = onnx::exp(c, onnx::mul(c, onnx::minimum(c, x, number(0)), number(input_scale)));
  const Value below = onnx::mul(c, onnx::sub(c, negative, number(1)), number(alpha * scale));
  return onnx::where(c, onnx::greater(c, x, number(0)), onnx::mul(c, x, number(scale)), below);
}

// aten::selu(Tensor self) -> Tensor
Results selu(Call& c) {
  return c.op("Selu", {c.tensor("self")},
              {{"alpha", 1.6732632423543772848}, {"gamma", 1.0507009873554804934}});
}

// aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor
Results celu(Call& c) { return c.op("Celu", {c.tensor("self")}, {{"alpha", c.number("alpha")}}); }

Results celu_by_parts(Call& c) {
  const Value x = c.tensor("self");
  const Value alpha = constant_like(c, c.number("alpha"), x);
  return onnx::mul(c, c.op("Elu", {onnx::div(c, x, alpha)}), alpha);
}

// aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor
Results leaky_relu(Call& c) {
  return c.op("LeakyRelu", {c.tensor("self")}, {{"alpha", c.number("negative_slope")}});
}

// aten::prelu(Tensor self, Tensor weight) -> Tensor
Results prelu(Call& c) {
  const Value x = c.tensor("self");
  Value slope = c.tensor("weight");
  // One slope per channel stands in dim 1, where ONNX would broadcast from the last one.
  if (c.rank(slope) == 1 && c.rank(x) > 2) {
    Shape shape(c.rank(x) - 1, Dim(1));
    shape.front() = c.size_of(slope, 0);
    slope = onnx::reshape(c, slope, shape);
  } else if (c.rank(x) == 0) {
    slope = onnx::reshape(c, slope, {});
  }
  return c.op("PRelu", {x, slope});
}

// aten::hardsigmoid(Tensor self) -> Tensor
Value hard_sigmoid(Call& c, Value x) { return c.op("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}); }

// aten::hardswish(Tensor self) -> Tensor
Results hardswish_by_parts(Call& c) {
  const Value x = c.tensor("self");
  return onnx::mul(c, x, hard_sigmoid(c, x));
}

// aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor
Results threshold(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype_of(x);
  const Value limit = c.scalar_value(c.scalar("threshold"), dtype);
  const Scalar value = c.scalar("value");
  if (is_floating(dtype) && value.equals(0) && c.number("threshold") == 0) return c.op("Relu", {x});
  return onnx::where(c, onnx::less_equal(c, x, limit), c.scalar_value(value, dtype), x);
}

// aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
Results softplus(Call& c) {
  const Value x = c.tensor("self");
  const double beta = c.number("beta");
  const double limit = c.number("threshold");
  Value scaled = x;
  if (beta != 1) scaled = onnx::mul(c, x, constant_like(c, beta, x));
  Value result = c.op("Softplus", {scaled});
  if (beta != 1) result = onnx::div(c, result, constant_like(c, beta, x));
  // Above torch's usual limit of 20 the curve is x itself within rounding, below it the switch shows.
  if (limit >= 20) return result;
  return onnx::where(c, onnx::greater(c, scaled, constant_like(c, limit, x)), x, result);
}

// aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor
Results softshrink(Call& c) {
  const double lambda = c.number("lambd");
  return c.op("Shrink", {c.tensor("self")}, {{"lambd", lambda}, {"bias", lambda}});
}

// aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor
Results hardshrink(Call& c) {
  return c.op("Shrink", {c.tensor("self")}, {{"lambd", c.number("lambd")}, {"bias", 0.0}});
}

// aten::log_sigmoid(Tensor self) -> Tensor
Value log_sigmoid_of(Call& c, Value x) { return onnx::neg(c, c.op("Softplus", {onnx::neg(c, x)})); }

// aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer): the buffer is for the gradient alone
Results log_sigmoid_forward(Call& c) {
  const Value x = c.tensor("self");
  return {log_sigmoid_of(c, x), onnx::exp(c, onnx::neg(c, onnx::abs(c, x)))};
}

// aten::glu(Tensor self, int dim=-1) -> Tensor
Results glu(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  const Dim half = floor_div(c.size_of(x, axis), 2);
  const auto parts = onnx::split(c, x, axis, {half, half});
  return onnx::mul(c, parts[0], onnx::sigmoid(c, parts[1]));
}

/// The operand of softmax: in the dtype asked for, or as it is.
Value softmax_operand(Call& c) {
  const Value x = c.tensor("self");
  if (c.has("half_to_float")) return c.flag("half_to_float") ? onnx::cast(c, x, DType::Float32) : x;
  const auto dtype = c.dtype("dtype");
  return dtype ? onnx::cast(c, x, *dtype) : float_tensor(c, "self");
}

// aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
// aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor
Results softmax(Call& c) {
  const Value x = softmax_operand(c);
  return onnx::softmax(c, x, c.axis("dim", c.rank(x)));
}

// aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor: a row of -inf gives 0, not NaN
Results safe_softmax(Call& c) {
  const Value x = softmax_operand(c);
  const auto axis = c.axis("dim", c.rank(x));
  const Value top = onnx::extreme(c, true, x, {axis}, true);
  const Value result = onnx::softmax(c, x, axis);
  return onnx::where(c, onnx::is_inf(c, top, true, false), onnx::constant_like(c, 0, x), result);
}

// aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor
// aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor
Results log_softmax(Call& c) {
  const Value x = softmax_operand(c);
  return onnx::log_softmax(c, x, c.axis("dim", c.rank(x)));
}

constexpr Entry kTable[] = {
    {"aten::_log_softmax", 1, log_softmax},
    {"aten::_prelu_kernel", 7, prelu},
    {"aten::_safe_softmax", 9, safe_softmax},
    {"aten::_softmax", 1, softmax},
    {"aten::celu", 6, celu_by_parts},
    {"aten::celu", 12, celu},
    {"aten::elu", 6, elu},
    {"aten::gelu", 9, gelu_by_parts},
    {"aten::gelu", 20, gelu},
    {"aten::glu", 6, glu},
    {"aten::hardshrink", 9, hardshrink},
    {"aten::hardsigmoid", 6, of_self<hard_sigmoid>},
    {"aten::hardswish", 6, hardswish_by_parts},
    {"aten::hardswish", 14, unary<"HardSwish">},
    {"aten::hardtanh", 6, hardtanh},
    {"aten::leaky_relu", 6, leaky_relu},
    {"aten::log_sigmoid", 6, of_self<log_sigmoid_of>},
    {"aten::log_sigmoid_forward", 6, log_sigmoid_forward},
    {"aten::log_softmax", 1, log_softmax},
    {"aten::mish", 6, mish_by_parts},
    {"aten::mish", 18, unary<"Mish">},
    {"aten::prelu", 7, prelu},
    {"aten::relu", 6, relu},
    {"aten::relu6", 6, relu6},
    {"aten::selu", 6, selu},
    {"aten::sigmoid", 6, of_float<onnx::sigmoid>},
    {"aten::silu", 6, silu_by_parts},
    {"aten::silu", 24, silu},
    {"aten::softmax", 1, softmax},
    {"aten::softplus", 1, softplus},
    {"aten::softshrink", 9, softshrink},
    {"aten::special_expit", 6, of_float<onnx::sigmoid>},
    {"aten::special_log_softmax", 1, log_softmax},
    {"aten::special_softmax", 1, softmax},
    {"aten::tanh", 6, of_float<onnx::tanh>},
    {"aten::threshold", 6, threshold},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> activation_table() { return kTable; }

}  // namespace pt2onnx
