// Element-wise words and products.
#include "symbolics/onnx.h"

namespace pt2onnx::onnx {
namespace {

bool is_float(Call& c, Value x) { return is_floating(c.dtype_of(x)); }

/// Both constant: computed now.
Value binary(Call& c, std::string_view op, std::string_view torch_op, Value a, Value b) {
  if (a.constant() && b.constant() && a.dtype() == b.dtype())
    if (const auto folded = c.fold(torch_op, {a, b})) return *folded;
  return c.op(op, {a, b});
}

Value unary(Call& c, std::string_view op, std::string_view torch_op, Value x) {
  if (x.constant())
    if (const auto folded = c.fold(torch_op, {x})) return *folded;
  return c.op(op, {x});
}

/// Either is NaN.
Value unordered(Call& c, Value a, Value b) {
  return logical_or(c, is_nan(c, a), a == b ? is_nan(c, a) : is_nan(c, b));
}

/// Max and Min take integers from 12 on.
bool extreme_by_comparison(Call& c, Value a) { return !is_float(c, a) && !c.has_opset(12); }

Value softmax_node(Call& c, std::string_view op, Value x, std::int64_t axis) {
  const std::size_t rank = c.rank(x);
  if (rank == 0) return reshape(c, softmax_node(c, op, reshape(c, x, {1}), 0), {});
  axis = c.normalize_axis(axis, rank);
  const auto last = static_cast<std::int64_t>(rank) - 1;
  // Below 13 every axis from `axis` on counts as one.
  if (c.has_opset(13) || axis == last) return c.op(op, {x}, {{"axis", axis}});
  return swap_axes(c, c.op(op, {swap_axes(c, x, axis, last)}, {{"axis", last}}), axis, last);
}

}  // namespace

Value add(Call& c, Value a, Value b) {
  if (c.dtype_of(a) == DType::Bool) return logical_or(c, a, b);
  return binary(c, "Add", "aten::add.Tensor", a, b);
}

Value sub(Call& c, Value a, Value b) { return binary(c, "Sub", "aten::sub.Tensor", a, b); }

Value mul(Call& c, Value a, Value b) {
  if (c.dtype_of(a) == DType::Bool) return logical_and(c, a, b);
  return binary(c, "Mul", "aten::mul.Tensor", a, b);
}

Value div(Call& c, Value a, Value b) {
  return is_float(c, a) ? binary(c, "Div", "aten::div.Tensor", a, b) : c.op("Div", {a, b});
}

Value neg(Call& c, Value x) { return unary(c, "Neg", "aten::neg", x); }

Value abs(Call& c, Value x) {
  const DType dtype = c.dtype_of(x);
  if (dtype == DType::Bool || is_unsigned(dtype)) return x;
  return unary(c, "Abs", "aten::abs", x);
}

Value exp(Call& c, Value x) { return unary(c, "Exp", "aten::exp", x); }
Value log(Call& c, Value x) { return unary(c, "Log", "aten::log", x); }
Value reciprocal(Call& c, Value x) { return unary(c, "Reciprocal", "aten::reciprocal", x); }
Value sigmoid(Call& c, Value x) { return unary(c, "Sigmoid", "aten::sigmoid", x); }
Value tanh(Call& c, Value x) { return unary(c, "Tanh", "aten::tanh", x); }
Value sqrt(Call& c, Value x) { return unary(c, "Sqrt", "aten::sqrt", x); }
Value pow(Call& c, Value a, Value b) { return binary(c, "Pow", "aten::pow.Tensor_Tensor", a, b); }
Value floor(Call& c, Value x) { return is_float(c, x) ? unary(c, "Floor", "aten::floor", x) : x; }
Value ceil(Call& c, Value x) { return is_float(c, x) ? unary(c, "Ceil", "aten::ceil", x) : x; }
Value sign(Call& c, Value x) { return c.dtype_of(x) == DType::Bool ? x : unary(c, "Sign", "aten::sign", x); }

Value trunc(Call& c, Value x) {
  if (!is_float(c, x)) return x;
  // The sign of a zero result does not survive, which no comparison can tell.
  return mul(c, sign(c, x), floor(c, abs(c, x)));
}

Value round(Call& c, Value x) {
  if (!is_float(c, x)) return x;
  if (c.has_opset(11)) return unary(c, "Round", "aten::round", x);
  // floor(x + 0.5), and one less where that is the odd neighbour of a half.
  const Value half = constant_like(c, 0.5, x);
  const Value up = floor(c, add(c, x, half));
  const Value halves = mul(c, up, half);
  const Value odd = logical_not(c, equal(c, floor(c, halves), halves));
  const Value tie = equal(c, sub(c, up, x), half);
  return sub(c, up, cast(c, logical_and(c, tie, odd), c.dtype_of(x)));
}

Value maximum(Call& c, Value a, Value b) {
  if (c.dtype_of(a) == DType::Bool) return logical_or(c, a, b);
  if (extreme_by_comparison(c, a)) return where(c, greater(c, a, b), a, b);
  return binary(c, "Max", "aten::maximum", a, b);
}

Value minimum(Call& c, Value a, Value b) {
  if (c.dtype_of(a) == DType::Bool) return logical_and(c, a, b);
  if (extreme_by_comparison(c, a)) return where(c, less(c, a, b), a, b);
  return binary(c, "Min", "aten::minimum", a, b);
}

Value where(Call& c, Value condition, Value a, Value b) {
  if (a == b && a.shape() && condition.shape() == a.shape()) return a;
  return c.op("Where", {cast(c, condition, DType::Bool), a, b});
}

Value equal(Call& c, Value a, Value b) {
  if (c.has_opset(11) || !is_float(c, a)) return binary(c, "Equal", "aten::eq.Tensor", a, b);
  // Equal takes no floats here.
  const Value differ = logical_or(c, less(c, a, b), greater(c, a, b));
  return logical_not(c, logical_or(c, differ, unordered(c, a, b)));
}

Value not_equal(Call& c, Value a, Value b) { return logical_not(c, equal(c, a, b)); }
Value less(Call& c, Value a, Value b) { return binary(c, "Less", "aten::lt.Tensor", a, b); }
Value greater(Call& c, Value a, Value b) { return binary(c, "Greater", "aten::gt.Tensor", a, b); }

Value less_equal(Call& c, Value a, Value b) {
  if (c.has_opset(12)) return binary(c, "LessOrEqual", "aten::le.Tensor", a, b);
  const Value above = greater(c, a, b);
  return logical_not(c, is_float(c, a) ? logical_or(c, above, unordered(c, a, b)) : above);
}

Value greater_equal(Call& c, Value a, Value b) { return less_equal(c, b, a); }

Value logical_not(Call& c, Value x) { return unary(c, "Not", "aten::logical_not", x); }
Value logical_and(Call& c, Value a, Value b) { return binary(c, "And", "aten::logical_and", a, b); }
Value logical_or(Call& c, Value a, Value b) { return a == b ? a : binary(c, "Or", "aten::logical_or", a, b); }

Value clip(Call& c, Value x, Value low, Value high) {
  if (!low && !high) return x;
  const auto scalar = [&](Value bound) { return !bound || c.rank(bound) == 0; };
  if (!scalar(low) || !scalar(high) || (!is_float(c, x) && !c.has_opset(12))) {
    if (low) x = maximum(c, x, low);
    return high ? minimum(c, x, high) : x;
  }
  if (c.has_opset(11)) return c.op("Clip", {x, low, high});
  const auto least = low ? constant_number(low) : std::nullopt;
  const auto most = high ? constant_number(high) : std::nullopt;
  const bool crossed = least && most && *least > *most;  // both would be refused as attributes
  if ((low && !least) || (high && !most) || crossed) {
    if (low) x = maximum(c, x, low);
    return high ? minimum(c, x, high) : x;
  }
  return c.op("Clip", {x}, {{"min", least}, {"max", most}});
}

Value is_nan(Call& c, Value x) {
  if (is_float(c, x)) return unary(c, "IsNaN", "aten::isnan", x);
  return full_like(c, x, Scalar(false), DType::Bool);
}

Value is_inf(Call& c, Value x, bool negative, bool positive) {
  if (!is_float(c, x)) return full_like(c, x, Scalar(false), DType::Bool);
  if (c.has_opset(10))
    return c.op("IsInf", {x}, {{"detect_negative", negative}, {"detect_positive", positive}});
  const double infinity = std::numeric_limits<double>::infinity();
  Value result;
  if (positive) result = equal(c, x, constant_like(c, infinity, x));
  if (negative) {
    const Value below = equal(c, x, constant_like(c, -infinity, x));
    result = result ? logical_or(c, result, below) : below;
  }
  return result;
}

Value matmul(Call& c, Value a, Value b) { return c.op("MatMul", {a, b}); }
Value softmax(Call& c, Value x, std::int64_t axis) { return softmax_node(c, "Softmax", x, axis); }
Value log_softmax(Call& c, Value x, std::int64_t axis) { return softmax_node(c, "LogSoftmax", x, axis); }

}  // namespace pt2onnx::onnx
