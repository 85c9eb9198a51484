// Formulas with numbers in them, for functions that ONNX has no operator for.
#pragma once

#include <array>

#include "symbolics/onnx.h"

namespace pt2onnx::formula {

inline Value number(Call& c, double v, Value like) { return onnx::constant_like(c, v, like); }
inline Value plus(Call& c, Value x, double v) { return onnx::add(c, x, number(c, v, x)); }
inline Value times(Call& c, Value x, double v) { return onnx::mul(c, x, number(c, v, x)); }
/// v - x
inline Value minus_from(Call& c, double v, Value x) { return onnx::sub(c, number(c, v, x), x); }
inline Value square(Call& c, Value x) { return onnx::mul(c, x, x); }
inline Value is_below(Call& c, Value x, double v) { return onnx::less(c, x, number(c, v, x)); }
inline Value is_above(Call& c, Value x, double v) { return onnx::greater(c, x, number(c, v, x)); }
inline Value is_equal(Call& c, Value x, double v) { return onnx::equal(c, x, number(c, v, x)); }
/// `x` where the condition holds, a number elsewhere.
inline Value where_else(Call& c, Value condition, Value x, double v) {
  return onnx::where(c, condition, x, number(c, v, x));
}

/// Horner's scheme, the coefficient of the highest power first.
template <std::size_t N>
Value polynomial(Call& c, Value x, const std::array<double, N>& coefficients) {
  Value sum = number(c, coefficients[0], x);
  for (std::size_t i = 1; i < N; ++i) sum = plus(c, onnx::mul(c, sum, x), coefficients[i]);
  return sum;
}

/// Whether there is an element that is true, as a 0-d bool; false of an empty tensor.
inline Value any(Call& c, Value condition) {
  const Value flat = onnx::flatten_all(c, onnx::cast(c, condition, DType::Int32));
  const Value none = c.cast(c.constant({0}), DType::Int32);
  return onnx::cast(c, onnx::reduce(c, "ReduceMax", onnx::concat(c, {flat, none}, 0), {0}, false),
                    DType::Bool);
}

}  // namespace pt2onnx::formula
