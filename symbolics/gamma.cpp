// The gamma function and its relatives.
#include <cmath>
#include <limits>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/formula.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using namespace formula;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

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

Value fraction(Call& c, Value x) { return onnx::sub(c, x, onnx::floor(c, x)); }

// aten::lgamma(Tensor self) -> Tensor
Value lgamma(Call& c, Value x) {
  // Below 1/2 by reflection: log Gamma(x) = log(pi / |sin(pi x)|) - log Gamma(1 - x); infinite at 0, -1, -2 ...
  const Value low = is_below(c, x, 0.5);
  const Value above = log_gamma_above(c, onnx::where(c, low, minus_from(c, 1, x), x));
  const Value wave = onnx::abs(c, c.op("Sin", {times(c, fraction(c, x), std::numbers::pi)}));
  const Value reflected =
      onnx::sub(c, plus(c, onnx::neg(c, onnx::log(c, wave)), std::log(std::numbers::pi)), above);
  return onnx::where(c, low, reflected, above);
}

// aten::mvlgamma(Tensor self, int p) -> Tensor
Results mvlgamma(Call& c) {
  const Value x = float_tensor(c, "self");
  const auto p = static_cast<double>(c.integer("p"));
  if (p < 1) c.reject("a dimension below 1");
  Value sum = number(c, p * (p - 1) / 4 * std::log(std::numbers::pi), x);
  for (double j = 0; j < p; ++j) sum = onnx::add(c, sum, lgamma(c, plus(c, x, -j / 2)));
  return sum;
}

// aten::digamma(Tensor self) -> Tensor
Value digamma(Call& c, Value x) {
  // Below 1/2 by reflection: psi(x) = psi(1 - x) - pi / tan(pi x). Then up to 6 by psi(x) = psi(x + 1) - 1/x, where
  // the asymptotic series is good.
  const Value low = is_below(c, x, 0.5);
  Value y = onnx::where(c, low, minus_from(c, 1, x), x);
  Value steps = onnx::reciprocal(c, y);
  for (int i = 1; i < 6; ++i) steps = onnx::add(c, steps, onnx::reciprocal(c, plus(c, y, i)));
  y = plus(c, y, 6);
  const Value inverse = onnx::reciprocal(c, y);
  constexpr std::array kSeries{-1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12};
  const Value tail = onnx::mul(c, polynomial(c, square(c, inverse), kSeries), square(c, inverse));
  Value above = onnx::sub(c, onnx::log(c, y), times(c, inverse, 0.5));
  above = onnx::sub(c, onnx::sub(c, above, tail), steps);
  const Value rest = fraction(c, x);
  const Value wave =
      onnx::div(c, number(c, std::numbers::pi, x), c.op("Tan", {times(c, rest, std::numbers::pi)}));
  Value result = onnx::where(c, low, onnx::sub(c, above, wave), above);
  // A pole has no sign, but at 0 torch takes that of the zero.
  const Value pole = onnx::logical_and(c, low, is_equal(c, rest, 0));
  result = onnx::where(c, pole, number(c, kNothing, x), result);
  return onnx::where(c, is_equal(c, x, 0), onnx::neg(c, onnx::reciprocal(c, x)), result);
}

// ---- Hurwitz' zeta function ------------------------------------------------------------------------------------------

/// The sum of (q + k)^-s over k = 0, 1, 2 ... for q > 0: ten terms, the rest by Euler and Maclaurin (DLMF 2.10.1).
Value zeta_above(Call& c, Value s, Value q) {
  constexpr int kTerms = 10;
  const Value minus_s = onnx::neg(c, s);
  Value sum = onnx::pow(c, q, minus_s);
  for (int k = 1; k < kTerms; ++k) sum = onnx::add(c, sum, onnx::pow(c, plus(c, q, k), minus_s));
  const Value a = plus(c, q, kTerms);
  const Value power = onnx::pow(c, a, minus_s);
  sum = onnx::add(c, sum, onnx::div(c, onnx::mul(c, power, a), plus(c, s, -1)));
  sum = onnx::add(c, sum, times(c, power, 0.5));
  // B_2j / (2j)! s (s + 1) ... (s + 2j - 2) a^(-s - 2j + 1)
  constexpr std::array kBernoulli{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160};
  Value factor = onnx::div(c, onnx::mul(c, power, s), a);
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    sum = onnx::add(c, sum, times(c, factor, kBernoulli[j]));
    if (j + 1 == kBernoulli.size()) break;
    const auto next = static_cast<double>(2 * j + 1);
    const Value rise = onnx::mul(c, plus(c, s, next), plus(c, s, next + 1));
    factor = onnx::div(c, onnx::mul(c, factor, rise), square(c, a));
  }
  return onnx::where(c, is_equal(c, q, kInfinity), number(c, 0, sum), sum);
}

Value zeta(Call& c, Value s, Value q) {
  // With an integer s there are values at q < 0 too: the terms below 0 are, but for a sign, those of another sum,
  // r + (r + 1) + ... up to -q, where r lies between 0 and 1.
  const Value below = is_below(c, q, 0);
  const Value first = onnx::where(c, below, onnx::sub(c, q, onnx::floor(c, q)), q);
  const Value one = number(c, 1, q);
  Value result = zeta_above(c, s, first);
  const Value negative = onnx::where(c, below, onnx::neg(c, q), one);
  const Value mirrored =
      onnx::sub(c, zeta_above(c, s, fraction(c, negative)), zeta_above(c, s, onnx::add(c, negative, one)));
  const Value whole = onnx::equal(c, s, onnx::floor(c, s));
  const Value half = times(c, s, 0.5);
  const Value sign = onnx::where(c, onnx::equal(c, half, onnx::floor(c, half)), one, onnx::neg(c, one));
  const Value continued = onnx::add(c, result, onnx::mul(c, sign, mirrored));
  result = onnx::where(c, below, where_else(c, whole, continued, kNothing), result);
  const Value pole =
      onnx::logical_and(c, onnx::less_equal(c, q, number(c, 0, q)), onnx::equal(c, q, onnx::floor(c, q)));
  result = onnx::where(c, onnx::logical_or(c, pole, is_equal(c, s, 1)), number(c, kInfinity, q), result);
  return onnx::where(c, is_below(c, s, 1), number(c, kNothing, q), result);
}

/// Both operands as floats.
std::pair<Value, Value> float_operands(Call& c, std::string_view a, std::string_view b) {
  const Operand first = operand(c, a), second = operand(c, b);
  const DType dtype = float_result_type(c, {first, second});
  return {as(c, first, dtype), as(c, second, dtype)};
}

// aten::special_zeta(Tensor self, Tensor other) -> Tensor
Results zeta_of_both(Call& c) {
  const auto [s, q] = float_operands(c, "self", "other");
  return zeta(c, s, q);
}

// aten::polygamma(int n, Tensor self) -> Tensor: DLMF 25.11.12, (-1)^(n+1) n! zeta(n + 1, x)
Results polygamma(Call& c) {
  const Value x = float_tensor(c, "self");
  const auto n = c.integer("n");
  if (n < 0) c.reject("a negative order");
  if (n == 0) return digamma(c, x);
  const double factorial = std::tgamma(static_cast<double>(n + 1));
  return times(c, zeta(c, number(c, static_cast<double>(n + 1), x), x), n % 2 == 1 ? factorial : -factorial);
}

// ---- incomplete gamma functions --------------------------------------------------------------------------------------

constexpr double kPrecision = 1e-16;
constexpr double kManySteps = 20000;

/// gamma(a, x) / (x^a e^-x): DLMF 8.7.1, summed until no term counts any more.
Value lower_series(Call& c, Value a, Value x) {
  const Value start = onnx::reciprocal(c, a);
  const auto end = c.loop(c.constant(kManySteps, DType::Int64), c.constant(1, DType::Bool), {start, start, a},
                          0, [&](std::vector<Value> in) {
                            const Value at = plus(c, in[4], 1);
                            const Value term = onnx::mul(c, in[3], onnx::div(c, x, at));
                            const Value sum = onnx::add(c, in[2], term);
                            const Value counts = onnx::greater(c, term, times(c, sum, kPrecision));
                            return std::vector<Value>{any(c, counts), sum, term, at};
                          });
  return end[0];
}

/// Gamma(a, x) / (x^a e^-x): the continued fraction DLMF 8.9.2 in the form with steps of two, by Lentz' method.
Value upper_fraction(Call& c, Value a, Value x) {
  const Value first = plus(c, onnx::sub(c, x, a), 1);
  const Value inverse = onnx::reciprocal(c, first);
  const Value far = onnx::full_like(c, first, 1e300);
  const auto end =
      c.loop(c.constant(kManySteps, DType::Int64), c.constant(1, DType::Bool), {inverse, far, inverse, first},
             0, [&](std::vector<Value> in) {
               const Value i = plus(c, onnx::cast(c, in[0], DType::Float64), 1);
               const Value factor = onnx::neg(c, onnx::mul(c, i, onnx::sub(c, i, a)));
               const Value b = plus(c, in[5], 2);
               const Value d = onnx::reciprocal(c, onnx::add(c, onnx::mul(c, factor, in[4]), b));
               const Value quotient = onnx::add(c, b, onnx::div(c, factor, in[3]));
               const Value change = onnx::mul(c, quotient, d);
               const Value moves = is_above(c, onnx::abs(c, plus(c, change, -1)), kPrecision * 4);
               return std::vector<Value>{any(c, moves), onnx::mul(c, in[2], change), quotient, d, b};
             });
  return end[0];
}

// aten::igamma(Tensor self, Tensor other) -> Tensor; aten::igammac: the lower and the upper part of Gamma(a), as shares
template <bool Upper>
Results incomplete_gamma(Call& c) {
  const auto [a_given, x_given] = float_operands(c, "self", "other");
  const DType dtype = c.dtype_of(a_given);
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(a_given), c.sizes_of(x_given));
  // In doubles: the factor is a quotient of large numbers.
  const Value a = onnx::expand(c, onnx::cast(c, a_given, DType::Float64), shape);
  const Value x = onnx::expand(c, onnx::cast(c, x_given, DType::Float64), shape);
  const Value zero = number(c, 0, a);
  const Value finite = onnx::logical_and(c, is_below(c, a, kInfinity), is_below(c, x, kInfinity));
  const Value inside = onnx::logical_and(
      c, finite, onnx::logical_and(c, onnx::greater(c, a, zero), onnx::greater(c, x, zero)));
  const Value use_series = onnx::less_equal(c, x, plus(c, a, 1));
  const auto safe = [&](Value condition, Value v, double other) {
    return where_else(c, onnx::logical_and(c, inside, condition), v, other);
  };
  // What each of the two is not for gets operands where it ends at once.
  const Value use_fraction = onnx::logical_not(c, use_series);
  const Value series = lower_series(c, safe(use_series, a, 1), safe(use_series, x, 0));
  const Value fraction = upper_fraction(c, safe(use_fraction, a, 1), safe(use_fraction, x, 1));
  const Value a_in = where_else(c, inside, a, 1), x_in = where_else(c, inside, x, 1);
  const Value factor =
      onnx::exp(c, onnx::sub(c, onnx::sub(c, onnx::mul(c, a_in, onnx::log(c, x_in)), x_in), lgamma(c, a_in)));
  const Value share = onnx::mul(c, factor, onnx::where(c, use_series, series, fraction));
  const Value other = Upper ? use_series : use_fraction;
  Value result = onnx::where(c, other, minus_from(c, 1, share), share);
  // At the borders, a = 0 and x infinite: all is above, or below; x = 0: the reverse; else nothing.
  const auto either = [&](bool above) { return number(c, above == Upper ? 1 : 0, a); };
  const Value fits = onnx::logical_and(c, onnx::greater_equal(c, a, zero), onnx::greater_equal(c, x, zero));
  Value border = number(c, kNothing, a);
  border = onnx::where(c, is_equal(c, x, 0), either(true), border);
  border = onnx::where(c, onnx::logical_or(c, is_equal(c, a, 0), is_equal(c, x, kInfinity)), either(false),
                       border);
  border = onnx::where(c, is_equal(c, a, kInfinity), either(true), border);
  const Value open =
      onnx::logical_or(c, onnx::logical_and(c, is_equal(c, a, 0), is_equal(c, x, 0)),
                       onnx::logical_and(c, is_equal(c, a, kInfinity), is_equal(c, x, kInfinity)));
  border = where_else(c, onnx::logical_and(c, fits, onnx::logical_not(c, open)), border, kNothing);
  result = onnx::where(c, inside, result, border);
  c.set_shape(result, shape);
  return onnx::cast(c, result, dtype);
}

constexpr Entry kTable[] = {
    {"aten::digamma", 9, of_float<digamma>},
    {"aten::igamma", 9, incomplete_gamma<false>},
    {"aten::igammac", 9, incomplete_gamma<true>},
    {"aten::lgamma", 9, of_float<lgamma>},
    {"aten::mvlgamma", 9, mvlgamma},
    {"aten::polygamma", 9, polygamma},
    {"aten::special_digamma", 9, of_float<digamma>},
    {"aten::special_gammainc", 9, incomplete_gamma<false>},
    {"aten::special_gammaincc", 9, incomplete_gamma<true>},
    {"aten::special_gammaln", 9, of_float<lgamma>},
    {"aten::special_multigammaln", 9, mvlgamma},
    {"aten::special_polygamma", 9, polygamma},
    {"aten::special_psi", 9, of_float<digamma>},
    {"aten::special_zeta", 9, zeta_of_both},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> gamma_table() { return kTable; }

}  // namespace pt2onnx
