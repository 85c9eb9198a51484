// Element-wise functions of one tensor.
#include <cmath>
#include <limits>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using onnx::constant_like;

Value one_minus(Call& c, Value x) { return onnx::sub(c, constant_like(c, 1, x), x); }
Value erf(Call& c, Value x) { return c.op("Erf", {x}); }
Value erfc(Call& c, Value x) { return one_minus(c, erf(c, x)); }
Value rsqrt(Call& c, Value x) { return onnx::reciprocal(c, onnx::sqrt(c, x)); }
Value expm1(Call& c, Value x) { return onnx::sub(c, onnx::exp(c, x), constant_like(c, 1, x)); }
Value log1p(Call& c, Value x) { return onnx::log(c, onnx::add(c, x, constant_like(c, 1, x))); }
Value exp2(Call& c, Value x) { return onnx::pow(c, constant_like(c, 2, x), x); }
Value log2(Call& c, Value x) { return onnx::div(c, onnx::log(c, x), constant_like(c, std::numbers::ln2, x)); }
Value log10(Call& c, Value x) {
  return onnx::div(c, onnx::log(c, x), constant_like(c, std::numbers::ln10, x));
}
Value deg2rad(Call& c, Value x) { return onnx::mul(c, x, constant_like(c, std::numbers::pi / 180, x)); }
Value rad2deg(Call& c, Value x) { return onnx::mul(c, x, constant_like(c, 180 / std::numbers::pi, x)); }
Value frac(Call& c, Value x) { return onnx::sub(c, x, onnx::trunc(c, x)); }

// aten::special_ndtr(Tensor self) -> Tensor
Value ndtr(Call& c, Value x) {
  const Value curve = erf(c, onnx::mul(c, x, constant_like(c, 1 / std::numbers::sqrt2, x)));
  return onnx::mul(c, onnx::add(c, curve, constant_like(c, 1, x)), constant_like(c, 0.5, x));
}

// aten::sinc(Tensor self) -> Tensor
Value sinc(Call& c, Value x) {
  const Value angle = onnx::mul(c, x, constant_like(c, std::numbers::pi, x));
  const Value at_zero = onnx::equal(c, x, constant_like(c, 0, x));
  const Value safe = onnx::where(c, at_zero, constant_like(c, 1, x), angle);
  return onnx::where(c, at_zero, constant_like(c, 1, x), onnx::div(c, c.op("Sin", {safe}), safe));
}

// aten::special_entr(Tensor self) -> Tensor: -x log x, 0 at 0, -inf below
Value entr(Call& c, Value x) {
  const Value zero = constant_like(c, 0, x);
  const Value inside = onnx::neg(c, onnx::mul(c, x, onnx::log(c, x)));
  const Value outside = constant_like(c, -std::numeric_limits<double>::infinity(), x);
  const Value at_zero = onnx::where(c, onnx::equal(c, x, zero), zero, inside);
  return onnx::where(c, onnx::less(c, x, zero), outside, at_zero);
}

// aten::square(Tensor self) -> Tensor
Results square(Call& c) {
  const Value x = c.tensor("self");
  if (c.dtype_of(x) == DType::Bool) return onnx::cast(c, x, DType::Int64);
  return onnx::mul(c, x, x);
}

// aten::neg(Tensor self) -> Tensor
Results negative(Call& c) {
  const Value x = c.tensor("self");
  if (c.dtype_of(x) == DType::Bool) c.reject("negates a bool tensor, which torch refuses too");
  if (is_unsigned(c.dtype_of(x))) return onnx::sub(c, constant_like(c, 0, x), x);  // Neg has no unsigned form
  return onnx::neg(c, x);
}

// aten::round(Tensor self) -> Tensor
// aten::round.decimals(Tensor self, *, int decimals) -> Tensor
Results round(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t decimals = c.has("decimals") ? c.integer("decimals") : 0;
  if (decimals == 0 || !is_floating(c.dtype_of(x))) return onnx::round(c, x);
  const Value scale = constant_like(c, std::pow(10.0, static_cast<double>(std::abs(decimals))), x);
  if (decimals > 0) return onnx::div(c, onnx::round(c, onnx::mul(c, x, scale)), scale);
  return onnx::mul(c, onnx::round(c, onnx::div(c, x, scale)), scale);
}

// aten::logit(Tensor self, float? eps=None) -> Tensor
Results logit(Call& c) {
  Value x = float_tensor(c, "self");
  if (const auto eps = c.optional_number("eps"))
    x = onnx::clip(c, x, constant_like(c, *eps, x), constant_like(c, 1 - *eps, x));
  return onnx::log(c, onnx::div(c, x, one_minus(c, x)));
}

Results is_infinite(Call& c) { return onnx::is_inf(c, c.tensor("self")); }
Results is_positive_infinite(Call& c) { return onnx::is_inf(c, c.tensor("self"), false, true); }
Results is_negative_infinite(Call& c) { return onnx::is_inf(c, c.tensor("self"), true, false); }

// aten::isfinite(Tensor self) -> Tensor
Results is_finite(Call& c) {
  const Value x = c.tensor("self");
  if (!is_floating(c.dtype_of(x))) return onnx::full_like(c, x, Scalar(true), DType::Bool);
  return onnx::logical_not(c, onnx::logical_or(c, onnx::is_inf(c, x), onnx::is_nan(c, x)));
}

// aten::isreal(Tensor self) -> Tensor
Results is_real(Call& c) {
  const Value x = c.tensor("self");
  if (is_complex(c.dtype_of(x)))
    c.reject("asks whether complex numbers are real, and ONNX has no complex arithmetic");
  return onnx::full_like(c, x, Scalar(true), DType::Bool);
}

// aten::signbit(Tensor self) -> Tensor
Results signbit(Call& c) {
  Value x = c.tensor("self");
  const Value zero = constant_like(c, 0, x);
  // Minus zero shows its sign only in its reciprocal.
  if (is_floating(c.dtype_of(x))) x = onnx::where(c, onnx::equal(c, x, zero), onnx::reciprocal(c, x), x);
  return onnx::less(c, x, zero);
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 65504;
    case DType::BFloat16: return 3.3895313892515355e38;
    case DType::Float64: return std::numeric_limits<double>::max();
    default: return std::numeric_limits<float>::max();
  }
}

// aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor
Results nan_to_num(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype_of(x);
  if (!is_floating(dtype)) return x;
  const auto number = [&](double v) { return c.constant(v, dtype); };
  const double high = c.optional_number("posinf").value_or(largest(dtype));
  const double low = c.optional_number("neginf").value_or(-largest(dtype));
  Value result = onnx::where(c, onnx::is_nan(c, x), number(c.optional_number("nan").value_or(0)), x);
  result = onnx::where(c, onnx::is_inf(c, x, false, true), number(high), result);
  return onnx::where(c, onnx::is_inf(c, x, true, false), number(low), result);
}

// aten::angle(Tensor self) -> Tensor: of a real number 0 or pi
Results angle(Call& c) {
  const Value x = float_tensor(c, "self");
  if (is_complex(c.dtype_of(x))) c.reject("takes the angle of complex numbers, which ONNX does not have");
  const auto number = [&](double v) { return constant_like(c, v, x); };
  const Value real = onnx::where(c, onnx::less(c, x, number(0)), number(std::numbers::pi), number(0));
  return onnx::where(c, onnx::is_nan(c, x), x, real);
}

/// Functions that change only complex numbers.
template <onnx::Name What>
Results of_real(Call& c) {
  const Value x = c.tensor("self");
  if (is_complex(c.dtype_of(x)))
    c.reject(std::string(What.text) + " of a complex tensor, which ONNX cannot express");
  return x;
}

constexpr Entry kTable[] = {
    {"aten::abs", 6, of_self<onnx::abs>},
    {"aten::absolute", 6, of_self<onnx::abs>},
    {"aten::acos", 7, float_unary<"Acos">},
    {"aten::acosh", 9, float_unary<"Acosh">},
    {"aten::angle", 9, angle},
    {"aten::arccos", 7, float_unary<"Acos">},
    {"aten::arccosh", 9, float_unary<"Acosh">},
    {"aten::arcsin", 7, float_unary<"Asin">},
    {"aten::arcsinh", 9, float_unary<"Asinh">},
    {"aten::arctan", 7, float_unary<"Atan">},
    {"aten::arctanh", 9, float_unary<"Atanh">},
    {"aten::asin", 7, float_unary<"Asin">},
    {"aten::asinh", 9, float_unary<"Asinh">},
    {"aten::atan", 7, float_unary<"Atan">},
    {"aten::atanh", 9, float_unary<"Atanh">},
    {"aten::ceil", 6, of_self<onnx::ceil>},
    {"aten::conj", 1, of_real<"the conjugate">},
    {"aten::conj_physical", 1, of_real<"the conjugate">},
    {"aten::cos", 7, float_unary<"Cos">},
    {"aten::cosh", 9, float_unary<"Cosh">},
    {"aten::deg2rad", 7, of_float<deg2rad>},
    {"aten::erf", 9, float_unary<"Erf">},
    {"aten::erfc", 9, of_float<erfc>},
    {"aten::exp", 6, of_float<onnx::exp>},
    {"aten::exp2", 7, of_float<exp2>},
    {"aten::expm1", 7, of_float<expm1>},
    {"aten::fix", 9, of_self<onnx::trunc>},
    {"aten::floor", 6, of_self<onnx::floor>},
    {"aten::frac", 9, of_self<frac>},
    {"aten::isfinite", 9, is_finite},
    {"aten::isinf", 9, is_infinite},
    {"aten::isnan", 9, of_self<onnx::is_nan>},
    {"aten::isneginf", 9, is_negative_infinite},
    {"aten::isposinf", 9, is_positive_infinite},
    {"aten::isreal", 9, is_real},
    {"aten::log", 6, of_float<onnx::log>},
    {"aten::log10", 7, of_float<log10>},
    {"aten::log1p", 7, of_float<log1p>},
    {"aten::log2", 7, of_float<log2>},
    {"aten::logit", 7, logit},
    {"aten::nan_to_num", 9, nan_to_num, by_parts},
    {"aten::neg", 6, negative, by_parts},
    {"aten::negative", 6, negative, by_parts},
    {"aten::positive", 1, unchanged<"self">, by_parts},
    {"aten::rad2deg", 7, of_float<rad2deg>},
    {"aten::real", 1, of_real<"the real part">},
    {"aten::reciprocal", 6, of_float<onnx::reciprocal>},
    {"aten::resolve_conj", 1, of_real<"the conjugate">},
    {"aten::resolve_neg", 1, unchanged<"self">, by_parts},
    {"aten::round", 9, round},
    {"aten::rsqrt", 6, of_float<rsqrt>},
    {"aten::sgn", 9, of_self<onnx::sign>},
    {"aten::sign", 9, of_self<onnx::sign>},
    {"aten::signbit", 9, signbit},
    {"aten::sin", 7, float_unary<"Sin">},
    {"aten::sinc", 9, of_float<sinc>},
    {"aten::sinh", 9, float_unary<"Sinh">},
    {"aten::special_entr", 9, of_float<entr>},
    {"aten::special_erf", 9, float_unary<"Erf">},
    {"aten::special_erfc", 9, of_float<erfc>},
    {"aten::special_exp2", 7, of_float<exp2>},
    {"aten::special_expm1", 7, of_float<expm1>},
    {"aten::special_log1p", 7, of_float<log1p>},
    {"aten::special_logit", 7, logit},
    {"aten::special_ndtr", 9, of_float<ndtr>},
    {"aten::special_round", 9, round},
    {"aten::special_sinc", 9, of_float<sinc>},
    {"aten::sqrt", 6, of_float<onnx::sqrt>},
    {"aten::square", 7, square},
    {"aten::tan", 7, float_unary<"Tan">},
    {"aten::trunc", 9, of_self<onnx::trunc>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> pointwise_table() { return kTable; }

}  // namespace pt2onnx
