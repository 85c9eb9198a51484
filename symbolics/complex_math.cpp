#include "symbolics/complex_math.h"

#include <cmath>
#include <numbers>

#include "symbolics/blocks.h"
#include "symbolics/onnx.h"
#include "symbolics/promotion.h"

namespace pt2onnx::complex {
namespace {

Value zero_of(Call& c, const Number& a) { return onnx::constant_like(c, 0, a.re); }
Value half(Call& c, Value x) { return onnx::mul(c, x, onnx::constant_like(c, 0.5, x)); }

/// With the sign of `sign`; plus for 0.
Value signed_as(Call& c, Value size, Value sign) {
  return onnx::where(c, onnx::less(c, sign, onnx::constant_like(c, 0, sign)), onnx::neg(c, size), size);
}

}  // namespace

Number number_of(Call& c, Value v) {
  if (is_complex(c.dtype_of(v))) {
    const auto [re, im] = c.parts(v);
    return {re, im};
  }
  const Value re = as(c, v, float_result_type(c, {v}));
  return {re, onnx::full_like(c, re, Scalar(0))};
}

Number number_of(Call& c, std::string_view argument) { return number_of(c, c.tensor(argument)); }

Value joined(Call& c, const Number& z) { return c.complex(z.re, z.im); }

Number add(Call& c, const Number& a, const Number& b) {
  return {onnx::add(c, a.re, b.re), onnx::add(c, a.im, b.im)};
}
Number add(Call& c, const Number& a, double b) {
  return {onnx::add(c, a.re, onnx::constant_like(c, b, a.re)), a.im};
}
Number sub(Call& c, const Number& a, const Number& b) {
  return {onnx::sub(c, a.re, b.re), onnx::sub(c, a.im, b.im)};
}
Number mul(Call& c, const Number& a, const Number& b) {
  return {onnx::sub(c, onnx::mul(c, a.re, b.re), onnx::mul(c, a.im, b.im)),
          onnx::add(c, onnx::mul(c, a.re, b.im), onnx::mul(c, a.im, b.re))};
}

/// a conj(b) / |b|^2, with b scaled to about 1 first so that its square neither overflows nor vanishes.
Number div(Call& c, const Number& a, const Number& b) {
  const Value scale = onnx::maximum(c, onnx::abs(c, b.re), onnx::abs(c, b.im));
  const Number unit{onnx::div(c, b.re, scale), onnx::div(c, b.im, scale)};
  const Value norm =
      onnx::mul(c, onnx::add(c, onnx::mul(c, unit.re, unit.re), onnx::mul(c, unit.im, unit.im)), scale);
  const Number product = mul(c, a, conj(c, unit));
  return {onnx::div(c, product.re, norm), onnx::div(c, product.im, norm)};
}

Number scaled(Call& c, const Number& a, double factor) {
  const Value by = onnx::constant_like(c, factor, a.re);
  return {onnx::mul(c, a.re, by), onnx::mul(c, a.im, by)};
}

Number neg(Call& c, const Number& a) { return {onnx::neg(c, a.re), onnx::neg(c, a.im)}; }
Number conj(Call& c, const Number& a) { return {a.re, onnx::neg(c, a.im)}; }
Number times_i(Call& c, const Number& a) { return {onnx::neg(c, a.im), a.re}; }
Number times_minus_i(Call& c, const Number& a) { return {a.im, onnx::neg(c, a.re)}; }
Number reciprocal(Call& c, const Number& a) {
  return div(c, {onnx::full_like(c, a.re, Scalar(1)), onnx::full_like(c, a.re, Scalar(0))}, a);
}
Number square(Call& c, const Number& a) {
  const Value cross = onnx::mul(c, a.re, a.im);
  return {onnx::sub(c, onnx::mul(c, a.re, a.re), onnx::mul(c, a.im, a.im)), onnx::add(c, cross, cross)};
}

/// In float32 for float16, whose squares overflow at 256.
Value abs(Call& c, const Number& a) {
  const DType dtype = c.dtype_of(a.re);
  const DType wide = dtype == DType::Float16 ? DType::Float32 : dtype;
  const Value re = onnx::cast(c, a.re, wide), im = onnx::cast(c, a.im, wide);
  return onnx::cast(c, onnx::sqrt(c, onnx::add(c, onnx::mul(c, re, re), onnx::mul(c, im, im))), dtype);
}

Value angle(Call& c, const Number& a) { return atan2(c, a.im, a.re); }

Number polar(Call& c, Value radius, Value angle) {
  return {onnx::mul(c, radius, c.op("Cos", {angle})), onnx::mul(c, radius, c.op("Sin", {angle}))};
}

Number where(Call& c, Value condition, const Number& a, const Number& b) {
  return {onnx::where(c, condition, a.re, b.re), onnx::where(c, condition, a.im, b.im)};
}

Value is_zero(Call& c, const Number& a) {
  const Value zero = zero_of(c, a);
  return onnx::logical_and(c, onnx::equal(c, a.re, zero), onnx::equal(c, a.im, zero));
}

Number exp(Call& c, const Number& a) { return polar(c, onnx::exp(c, a.re), a.im); }
Number log(Call& c, const Number& a) { return {onnx::log(c, abs(c, a)), angle(c, a)}; }

/// The principal root. The part that would come from a difference is had by division instead.
Number sqrt(Call& c, const Number& a) {
  const Value large = onnx::sqrt(c, half(c, onnx::add(c, abs(c, a), onnx::abs(c, a.re))));
  const Value small = onnx::div(c, half(c, onnx::abs(c, a.im)), large);
  const Value right = onnx::greater_equal(c, a.re, zero_of(c, a));
  const Number root{onnx::where(c, right, large, small),
                    signed_as(c, onnx::where(c, right, small, large), a.im)};
  const Value zero = zero_of(c, a);
  return where(c, is_zero(c, a), {zero, zero}, root);
}

Number sinh(Call& c, const Number& a) {
  return {onnx::mul(c, c.op("Sinh", {a.re}), c.op("Cos", {a.im})),
          onnx::mul(c, c.op("Cosh", {a.re}), c.op("Sin", {a.im}))};
}
Number cosh(Call& c, const Number& a) {
  return {onnx::mul(c, c.op("Cosh", {a.re}), c.op("Cos", {a.im})),
          onnx::mul(c, c.op("Sinh", {a.re}), c.op("Sin", {a.im}))};
}
/// tanh(x + iy) = (t + is) / (1 + its) with t = tanh x and s = tan y: nothing here grows with x.
Number tanh(Call& c, const Number& a) {
  const Value t = onnx::tanh(c, a.re), s = c.op("Tan", {a.im});
  return div(c, {t, s}, {onnx::full_like(c, t, Scalar(1)), onnx::mul(c, t, s)});
}

// The circular functions are the hyperbolic ones turned by a right angle.
Number sin(Call& c, const Number& a) { return times_minus_i(c, sinh(c, times_i(c, a))); }
Number cos(Call& c, const Number& a) { return cosh(c, times_i(c, a)); }
Number tan(Call& c, const Number& a) { return times_minus_i(c, tanh(c, times_i(c, a))); }

/// log(z + sqrt(z^2 + 1)) where the real part is not negative, odd elsewhere: there the sum would cancel.
Number asinh(Call& c, const Number& a) {
  const Value left = onnx::less(c, a.re, zero_of(c, a));
  const Number z = where(c, left, neg(c, a), a);
  const Number right = log(c, add(c, z, sqrt(c, add(c, square(c, z), 1))));
  return where(c, left, neg(c, right), right);
}
Number asin(Call& c, const Number& a) { return times_minus_i(c, asinh(c, times_i(c, a))); }
Number acos(Call& c, const Number& a) { return add(c, neg(c, asin(c, a)), std::numbers::pi / 2); }
Number acosh(Call& c, const Number& a) {
  return log(c, add(c, a, mul(c, sqrt(c, add(c, a, 1)), sqrt(c, add(c, a, -1)))));
}
Number atanh(Call& c, const Number& a) {
  return scaled(c, sub(c, log(c, add(c, a, 1)), log(c, add(c, neg(c, a), 1))), 0.5);
}
Number atan(Call& c, const Number& a) { return times_minus_i(c, atanh(c, times_i(c, a))); }

}  // namespace pt2onnx::complex
