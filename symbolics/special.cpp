// Special functions that ONNX has no operator for, by approximations as good as float32.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using onnx::constant_like;

Value number(Call& c, double v, Value like) { return constant_like(c, v, like); }
Value plus(Call& c, Value x, double v) { return onnx::add(c, x, number(c, v, x)); }
Value times(Call& c, Value x, double v) { return onnx::mul(c, x, number(c, v, x)); }

/// Horner's scheme, the coefficient of the highest power first.
template <std::size_t N>
Value polynomial(Call& c, Value x, const std::array<double, N>& coefficients) {
  Value sum = number(c, coefficients[0], x);
  for (std::size_t i = 1; i < N; ++i) sum = plus(c, onnx::mul(c, sum, x), coefficients[i]);
  return sum;
}

// aten::erfinv(Tensor self) -> Tensor
// M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2011): single precision.
Value erfinv(Call& c, Value x) {
  constexpr std::array kCentral{2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                -0.00417768164,  0.246640727,    1.50140941};
  constexpr std::array kTail{-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const Value inside = onnx::mul(c, plus(c, onnx::neg(c, x), 1), plus(c, x, 1));  // (1 - x)(1 + x)
  const Value w = onnx::neg(c, onnx::log(c, inside));
  const Value central = polynomial(c, plus(c, w, -2.5), kCentral);
  const Value tail = polynomial(c, plus(c, onnx::sqrt(c, w), -3), kTail);
  const Value factor = onnx::where(c, onnx::less(c, w, number(c, 5, x)), central, tail);
  const Value at_end = onnx::equal(c, onnx::abs(c, x), number(c, 1, x));
  return onnx::where(c, at_end, times(c, x, std::numeric_limits<double>::infinity()),
                     onnx::mul(c, x, factor));
}

// aten::special_ndtri(Tensor self) -> Tensor: the inverse of the normal distribution
Value ndtri(Call& c, Value x) {
  return times(c, erfinv(c, plus(c, times(c, x, 2), -1)), std::numbers::sqrt2);
}

/// log Gamma of x >= 1/2. Lanczos' approximation with g = 7 and nine terms.
Value log_gamma_above(Call& c, Value x) {
  constexpr std::array kTerms{676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                              -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                              9.9843695780195716e-6, 1.5056327351493116e-7};
  Value sum = number(c, 0.99999999999980993, x);
  for (std::size_t i = 0; i < kTerms.size(); ++i)
    sum = onnx::add(c, sum, onnx::div(c, number(c, kTerms[i], x), plus(c, x, static_cast<double>(i))));
  const Value t = plus(c, x, 6.5);
  const Value power = onnx::mul(c, plus(c, x, -0.5), onnx::log(c, t));
  return plus(c, onnx::add(c, onnx::sub(c, power, t), onnx::log(c, sum)),
              0.5 * std::log(2 * std::numbers::pi));
}

// aten::lgamma(Tensor self) -> Tensor
Value lgamma(Call& c, Value x) {
  // Below 1/2 by reflection: log Gamma(x) = log(pi / |sin(pi x)|) - log Gamma(1 - x); infinite at 0, -1, -2 ...
  const Value low = onnx::less(c, x, number(c, 0.5, x));
  const Value above = log_gamma_above(c, onnx::where(c, low, plus(c, onnx::neg(c, x), 1), x));
  const Value rest = onnx::sub(c, x, onnx::floor(c, x));
  const Value wave = onnx::abs(c, c.op("Sin", {times(c, rest, std::numbers::pi)}));
  const Value reflected =
      onnx::sub(c, plus(c, onnx::neg(c, onnx::log(c, wave)), std::log(std::numbers::pi)), above);
  return onnx::where(c, low, reflected, above);
}

// aten::digamma(Tensor self) -> Tensor
Value digamma(Call& c, Value x) {
  // Below 1/2 by reflection: psi(x) = psi(1 - x) - pi / tan(pi x). Then up to 6 by psi(x) = psi(x + 1) - 1/x, where
  // the asymptotic series is good.
  const Value low = onnx::less(c, x, number(c, 0.5, x));
  Value y = onnx::where(c, low, plus(c, onnx::neg(c, x), 1), x);
  Value steps = onnx::reciprocal(c, y);
  for (int i = 1; i < 6; ++i) steps = onnx::add(c, steps, onnx::reciprocal(c, plus(c, y, i)));
  y = plus(c, y, 6);
  const Value inverse = onnx::reciprocal(c, y);
  const Value square = onnx::mul(c, inverse, inverse);
  constexpr std::array kSeries{-1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
  const Value tail = onnx::mul(c, polynomial(c, square, kSeries), square);
  Value above = onnx::sub(c, onnx::log(c, y), times(c, inverse, 0.5));
  above = onnx::sub(c, onnx::sub(c, above, tail), steps);
  const Value rest = onnx::sub(c, x, onnx::floor(c, x));
  const Value wave =
      onnx::div(c, number(c, std::numbers::pi, x), c.op("Tan", {times(c, rest, std::numbers::pi)}));
  Value result = onnx::where(c, low, onnx::sub(c, above, wave), above);
  // A pole has no sign, but at 0 torch takes that of the zero.
  const Value pole = onnx::logical_and(c, low, onnx::equal(c, rest, number(c, 0, x)));
  const Value at_zero = onnx::equal(c, x, number(c, 0, x));
  const Value nothing = number(c, std::numeric_limits<double>::quiet_NaN(), x);
  result = onnx::where(c, pole, nothing, result);
  return onnx::where(c, at_zero, onnx::neg(c, onnx::reciprocal(c, x)), result);
}

/// Modified Bessel functions of the first kind, scaled by e^-|x|: Abramowitz and Stegun 9.8.1 to 9.8.4.
template <std::size_t Small, std::size_t Large>
Value scaled_bessel(Call& c, Value size, const std::array<double, Small>& small,
                    const std::array<double, Large>& large) {
  constexpr double kBorder = 3.75;
  const Value t = times(c, size, 1 / kBorder);
  const Value near = onnx::mul(c, polynomial(c, onnx::mul(c, t, t), small), onnx::exp(c, onnx::neg(c, size)));
  const Value beyond = onnx::maximum(c, size, number(c, kBorder, size));
  const Value far = onnx::div(c, polynomial(c, onnx::div(c, number(c, kBorder, size), beyond), large),
                              onnx::sqrt(c, beyond));
  return onnx::where(c, onnx::less(c, size, number(c, kBorder, size)), near, far);
}

// aten::special_i0e(Tensor self) -> Tensor
Value i0e(Call& c, Value x) {
  constexpr std::array kSmall{0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0};
  constexpr std::array kLarge{0.00392377,  -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                              -0.00157565, 0.00225319,  0.01328592, 0.39894228};
  return scaled_bessel(c, onnx::abs(c, x), kSmall, kLarge);
}

// aten::special_i1e(Tensor self) -> Tensor
Value i1e(Call& c, Value x) {
  constexpr std::array kSmall{0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5};
  constexpr std::array kLarge{-0.00420059, 0.01787654,  -0.02895312, 0.02282967, -0.01031555,
                              0.00163801,  -0.00362018, -0.03988024, 0.39894228};
  const Value size = onnx::abs(c, x);
  // The first one is a series for I1(x) / x.
  const Value near_size = onnx::minimum(c, size, number(c, 3.75, x));
  const Value near = onnx::mul(c, scaled_bessel(c, near_size, kSmall, kLarge), near_size);
  const Value far = scaled_bessel(c, size, kSmall, kLarge);
  return onnx::mul(c, onnx::sign(c, x), onnx::where(c, onnx::less(c, size, number(c, 3.75, x)), near, far));
}

template <Value (*Scaled)(Call&, Value)>
Value unscaled(Call& c, Value x) {
  return onnx::mul(c, Scaled(c, x), onnx::exp(c, onnx::abs(c, x)));
}

constexpr Entry kTable[] = {
    {"aten::digamma", 9, of_float<digamma>},         {"aten::erfinv", 9, of_float<erfinv>},
    {"aten::i0", 9, of_float<unscaled<i0e>>},        {"aten::lgamma", 9, of_float<lgamma>},
    {"aten::special_digamma", 9, of_float<digamma>}, {"aten::special_erfinv", 9, of_float<erfinv>},
    {"aten::special_gammaln", 9, of_float<lgamma>},  {"aten::special_i0", 9, of_float<unscaled<i0e>>},
    {"aten::special_i0e", 9, of_float<i0e>},         {"aten::special_i1", 9, of_float<unscaled<i1e>>},
    {"aten::special_i1e", 9, of_float<i1e>},         {"aten::special_ndtri", 9, of_float<ndtri>},
    {"aten::special_psi", 9, of_float<digamma>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> special_table() { return kTable; }

}  // namespace pt2onnx
