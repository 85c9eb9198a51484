// Bessel and Airy functions. The polynomials are those of M. Abramowitz and I. Stegun, Handbook of Mathematical
// Functions (1964), 9.4 and 9.8, whose errors are at most 1.6e-7.
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
constexpr double kTwoOverPi = 2 / std::numbers::pi;

/// torch's answers at the borders of what is only defined from 0 on, where it is infinite.
Value from_zero_on(Call& c, Value x, Value result, double at_zero) {
  result = where_else(c, onnx::logical_not(c, is_equal(c, x, 0)), result, at_zero);
  return where_else(c, onnx::logical_not(c, is_below(c, x, 0)), result, kNothing);
}

// ---- of the first and second kind: 9.4.1 to 9.4.6 --------------------------------------------------------------------

constexpr double kBorder = 3;  // polynomials in (x/3)^2 below, modulus and phase in 3/x above

struct Wave {
  Value modulus, phase;
};

template <std::size_t N, std::size_t M>
Wave wave(Call& c, Value x, const std::array<double, N>& modulus, const std::array<double, M>& phase) {
  const Value far = onnx::maximum(c, x, number(c, kBorder, x));
  const Value t = onnx::div(c, number(c, kBorder, x), far);
  return {onnx::div(c, polynomial(c, t, modulus), onnx::sqrt(c, far)),
          onnx::add(c, far, polynomial(c, t, phase))};
}

Wave wave_0(Call& c, Value x) {
  constexpr std::array kModulus{.00014476,  -.00072805, .00137237, -.00009512,
                                -.00552740, -.00000077, .79788456};
  constexpr std::array kPhase{.00013558,  -.00029333, -.00054125, .00262573,
                              -.00003954, -.04166397, -.78539816};
  return wave(c, x, kModulus, kPhase);
}

Wave wave_1(Call& c, Value x) {
  constexpr std::array kModulus{-.00020033, .00113653, -.00249511, .00017105,
                                .01659667,  .00000156, .79788456};
  constexpr std::array kPhase{-.00029166, .00079824, .00074348,  -.00637879,
                              .00005650,  .12499612, -2.35619449};
  return wave(c, x, kModulus, kPhase);
}

Value real_part(Call& c, const Wave& w) { return onnx::mul(c, w.modulus, c.op("Cos", {w.phase})); }
Value imaginary_part(Call& c, const Wave& w) { return onnx::mul(c, w.modulus, c.op("Sin", {w.phase})); }

Value near_square(Call& c, Value size) {
  return square(c, times(c, onnx::minimum(c, size, number(c, kBorder, size)), 1 / kBorder));
}

/// Of what is near and far of the border; nothing is left at infinity.
Value joined(Call& c, Value size, Value near, Value far) {
  const Value result = onnx::where(c, is_below(c, size, kBorder), near, far);
  return where_else(c, onnx::logical_not(c, is_equal(c, size, kInfinity)), result, 0);
}

Value near_j0(Call& c, Value t) {
  constexpr std::array kSeries{.0002100, -.0039444, .0444479, -.3163866, 1.2656208, -2.2499997, 1.0};
  return polynomial(c, t, kSeries);
}

Value near_j1(Call& c, Value t) {  // over x
  constexpr std::array kSeries{.00001109, -.00031761, .00443319, -.03954289, .21093573, -.56249985, .5};
  return polynomial(c, t, kSeries);
}

// aten::special_bessel_j0(Tensor self) -> Tensor
Value j0(Call& c, Value x) {
  const Value size = onnx::abs(c, x);
  return joined(c, size, near_j0(c, near_square(c, size)), real_part(c, wave_0(c, size)));
}

// aten::special_bessel_j1(Tensor self) -> Tensor
Value j1(Call& c, Value x) {
  const Value size = onnx::abs(c, x);
  const Value near = onnx::mul(c, near_j1(c, near_square(c, size)), size);
  return onnx::mul(c, joined(c, size, near, real_part(c, wave_1(c, size))), onnx::sign(c, x));
}

Value log_half(Call& c, Value x) { return onnx::log(c, times(c, x, 0.5)); }

// aten::special_bessel_y0(Tensor self) -> Tensor
Value y0(Call& c, Value x) {
  constexpr std::array kSeries{-.00024846, .00427916, -.04261214, .25300117,
                               -.74350384, .60559366, .36746691};
  const Value t = near_square(c, x);
  const Value growth = times(c, onnx::mul(c, log_half(c, x), near_j0(c, t)), kTwoOverPi);
  const Value near = onnx::add(c, growth, polynomial(c, t, kSeries));
  return from_zero_on(c, x, joined(c, x, near, imaginary_part(c, wave_0(c, x))), -kInfinity);
}

// aten::special_bessel_y1(Tensor self) -> Tensor
Value y1(Call& c, Value x) {
  constexpr std::array kSeries{.0027873, -.0400976, .3123951, -1.3164827, 2.1682709, .2212091, -.6366198};
  const Value t = near_square(c, x);
  const Value growth = times(c, onnx::mul(c, onnx::mul(c, log_half(c, x), near_j1(c, t)), x), kTwoOverPi);
  const Value near = onnx::add(c, growth, onnx::div(c, polynomial(c, t, kSeries), x));
  return from_zero_on(c, x, joined(c, x, near, imaginary_part(c, wave_1(c, x))), -kInfinity);
}

// aten::special_spherical_bessel_j0(Tensor x) -> Tensor: sin(x) / x
Results spherical_j0(Call& c) {
  const Value x = float_tensor(c, "x");
  const Value near = is_below(c, onnx::abs(c, x), 1e-3);
  const Value safe = where_else(c, onnx::logical_not(c, near), x, 1);
  Value result = onnx::div(c, c.op("Sin", {safe}), safe);
  result = onnx::where(c, near, minus_from(c, 1, times(c, square(c, x), 1.0 / 6)), result);
  return where_else(c, onnx::logical_not(c, onnx::is_inf(c, x)), result, 0);
}

// ---- modified, of the first kind: 9.8.1 to 9.8.4, scaled by e^-|x| ----------------------------------------------------

constexpr double kModifiedBorder = 3.75;

template <std::size_t Small, std::size_t Large>
Value scaled_first_kind(Call& c, Value size, const std::array<double, Small>& small,
                        const std::array<double, Large>& large) {
  const Value t = times(c, size, 1 / kModifiedBorder);
  const Value near = onnx::mul(c, polynomial(c, square(c, t), small), onnx::exp(c, onnx::neg(c, size)));
  const Value beyond = onnx::maximum(c, size, number(c, kModifiedBorder, size));
  const Value far = onnx::div(c, polynomial(c, onnx::div(c, number(c, kModifiedBorder, size), beyond), large),
                              onnx::sqrt(c, beyond));
  return onnx::where(c, is_below(c, size, kModifiedBorder), near, far);
}

constexpr std::array kSmall0{0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0};
constexpr std::array kSmall1{0.00032411, 0.00301532, 0.02658733, 0.15084934,
                             0.51498869, 0.87890594, 0.5};  // over x

// aten::special_i0e(Tensor self) -> Tensor
Value i0e(Call& c, Value x) {
  constexpr std::array kLarge{0.00392377,  -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                              -0.00157565, 0.00225319,  0.01328592, 0.39894228};
  return scaled_first_kind(c, onnx::abs(c, x), kSmall0, kLarge);
}

// aten::special_i1e(Tensor self) -> Tensor
Value i1e(Call& c, Value x) {
  constexpr std::array kLarge{-0.00420059, 0.01787654,  -0.02895312, 0.02282967, -0.01031555,
                              0.00163801,  -0.00362018, -0.03988024, 0.39894228};
  const Value size = onnx::abs(c, x);
  const Value near_size = onnx::minimum(c, size, number(c, kModifiedBorder, x));
  const Value near = onnx::mul(c, scaled_first_kind(c, near_size, kSmall1, kLarge), near_size);
  const Value far = scaled_first_kind(c, size, kSmall1, kLarge);
  return onnx::mul(c, onnx::sign(c, x), onnx::where(c, is_below(c, size, kModifiedBorder), near, far));
}

template <Value (*Scaled)(Call&, Value)>
Value unscaled(Call& c, Value x) {
  return onnx::mul(c, Scaled(c, x), onnx::exp(c, onnx::abs(c, x)));
}

// ---- modified, of the second kind: 9.8.5 to 9.8.8, scaled by e^x ------------------------------------------------------

constexpr double kSecondBorder = 2;

template <std::size_t N>
Value scaled_second_kind(Call& c, Value x, Value near, const std::array<double, N>& large) {
  const Value beyond = onnx::maximum(c, x, number(c, kSecondBorder, x));
  const Value far = onnx::div(c, polynomial(c, onnx::div(c, number(c, kSecondBorder, x), beyond), large),
                              onnx::sqrt(c, beyond));
  const Value first = onnx::mul(c, near, onnx::exp(c, onnx::minimum(c, x, number(c, kSecondBorder, x))));
  return from_zero_on(c, x, onnx::where(c, is_below(c, x, kSecondBorder), first, far), kInfinity);
}

Value modified_square(Call& c, Value x, double border) {
  return square(c, times(c, onnx::minimum(c, x, number(c, kSecondBorder, x)), 1 / border));
}

Value k0e(Call& c, Value x) {
  constexpr std::array kSmall{.00000740, .00010750, .00262698, .03488590, .23069756, .42278420, -.57721566};
  constexpr std::array kLarge{.00053208, -.00251540, .00587872, -.01062446,
                              .02189568, -.07832358, 1.25331414};
  const Value i0 = polynomial(c, modified_square(c, x, kModifiedBorder), kSmall0);
  const Value near = onnx::sub(c, polynomial(c, modified_square(c, x, kSecondBorder), kSmall),
                               onnx::mul(c, log_half(c, x), i0));
  return scaled_second_kind(c, x, near, kLarge);
}

Value k1e(Call& c, Value x) {
  constexpr std::array kSmall{-.00004686, -.00110404, -.01919402, -.18156897, -.67278579, .15443144, 1.0};
  constexpr std::array kLarge{-.00068245, .00325614, -.00780353, .01504268,
                              -.03655620, .23498619, 1.25331414};
  const Value i1 = onnx::mul(c, polynomial(c, modified_square(c, x, kModifiedBorder), kSmall1), x);
  const Value series = polynomial(c, modified_square(c, x, kSecondBorder), kSmall);
  const Value near = onnx::add(c, onnx::mul(c, log_half(c, x), i1), onnx::div(c, series, x));
  return scaled_second_kind(c, x, near, kLarge);
}

// aten::special_modified_bessel_k0(Tensor self) -> Tensor; aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor
template <Value (*Scaled)(Call&, Value), bool Unscale>
Results second_kind(Call& c) {
  const Value x = float_tensor(c, Unscale ? "self" : "x");
  const Value scaled = Scaled(c, x);
  return Unscale ? onnx::mul(c, scaled, onnx::exp(c, onnx::neg(c, x))) : scaled;
}

// ---- Airy's function -------------------------------------------------------------------------------------------------

constexpr double kAiryBorder = 5;
constexpr double kAtZero = 0.355028053887817239260, kSlopeAtZero = 0.258819403792806798405;

/// DLMF 9.4.1: Maclaurin's series of the two solutions that Ai is made of.
Value airy_near(Call& c, Value x) {
  constexpr int kTerms = 20;
  const Value cube = onnx::mul(c, square(c, x), x);
  std::array<double, kTerms> even{}, odd{};
  double f = 1, g = 1;
  for (int k = 0; k < kTerms; ++k) {
    even[static_cast<std::size_t>(kTerms - 1 - k)] = kAtZero * f;
    odd[static_cast<std::size_t>(kTerms - 1 - k)] = kSlopeAtZero * g;
    f /= (3.0 * k + 2) * (3.0 * k + 3);
    g /= (3.0 * k + 3) * (3.0 * k + 4);
  }
  return onnx::sub(c, polynomial(c, cube, even), onnx::mul(c, x, polynomial(c, cube, odd)));
}

/// DLMF 9.7.5 and 9.7.9: asymptotic series in 1/zeta, zeta = 2/3 |x|^(3/2).
Value airy_far(Call& c, Value x) {
  constexpr std::size_t kTerms = 10;
  std::array<double, kTerms> u{};  // DLMF 9.7.2
  u[0] = 1;
  for (std::size_t k = 1; k < kTerms; ++k) {
    const auto n = static_cast<double>(k);
    u[k] = u[k - 1] * (6 * n - 5) * (6 * n - 3) * (6 * n - 1) / ((2 * n - 1) * 216 * n);
  }
  std::array<double, kTerms> alternating{};
  std::array<double, kTerms / 2> cosine{}, sine{};  // in -1/zeta^2
  for (std::size_t k = 0; k < kTerms; ++k) {
    alternating[kTerms - 1 - k] = k % 2 == 0 ? u[k] : -u[k];
    (k % 2 == 0 ? cosine : sine)[kTerms / 2 - 1 - k / 2] = k / 2 % 2 == 0 ? u[k] : -u[k];
  }
  const Value size = onnx::maximum(c, onnx::abs(c, x), number(c, kAiryBorder, x));
  const Value zeta = times(c, onnx::mul(c, size, onnx::sqrt(c, size)), 2.0 / 3);
  const Value inverse = onnx::reciprocal(c, zeta);
  const Value scale =
      times(c, onnx::reciprocal(c, onnx::sqrt(c, onnx::sqrt(c, size))), 1 / std::sqrt(std::numbers::pi));
  const Value above =
      times(c, onnx::mul(c, onnx::exp(c, onnx::neg(c, zeta)), polynomial(c, inverse, alternating)), 0.5);
  const Value angle = plus(c, zeta, -std::numbers::pi / 4);
  const Value inverse_square = square(c, inverse);
  const Value waves = onnx::add(
      c, onnx::mul(c, c.op("Cos", {angle}), polynomial(c, inverse_square, cosine)),
      onnx::mul(c, onnx::mul(c, c.op("Sin", {angle}), inverse), polynomial(c, inverse_square, sine)));
  return onnx::mul(c, scale, onnx::where(c, is_below(c, x, 0), waves, above));
}

// aten::special_airy_ai(Tensor x) -> Tensor
Results airy_ai(Call& c) {
  const Value given = float_tensor(c, "x");
  // In doubles: the two parts of the series cancel.
  const Value x = onnx::cast(c, given, DType::Float64);
  const Value near = airy_near(c, onnx::clip(c, x, number(c, -kAiryBorder, x), number(c, kAiryBorder, x)));
  const Value is_near = is_below(c, onnx::abs(c, x), kAiryBorder);
  Value result = onnx::where(c, is_near, near, airy_far(c, x));
  result = where_else(c, onnx::logical_not(c, onnx::is_inf(c, x)), result, kNothing);
  return onnx::cast(c, result, c.dtype_of(given));
}

constexpr Entry kTable[] = {
    {"aten::i0", 9, of_float<unscaled<i0e>>},
    {"aten::special_airy_ai", 9, airy_ai},
    {"aten::special_bessel_j0", 9, of_float<j0>},
    {"aten::special_bessel_j1", 9, of_float<j1>},
    {"aten::special_bessel_y0", 9, of_float<y0>},
    {"aten::special_bessel_y1", 9, of_float<y1>},
    {"aten::special_i0", 9, of_float<unscaled<i0e>>},
    {"aten::special_i0e", 9, of_float<i0e>},
    {"aten::special_i1", 9, of_float<unscaled<i1e>>},
    {"aten::special_i1e", 9, of_float<i1e>},
    {"aten::special_modified_bessel_i0", 9, of_float<unscaled<i0e>>},
    {"aten::special_modified_bessel_i1", 9, of_float<unscaled<i1e>>},
    {"aten::special_modified_bessel_k0", 9, second_kind<k0e, true>},
    {"aten::special_modified_bessel_k1", 9, second_kind<k1e, true>},
    {"aten::special_scaled_modified_bessel_k0", 9, second_kind<k0e, false>},
    {"aten::special_scaled_modified_bessel_k1", 9, second_kind<k1e, false>},
    {"aten::special_spherical_bessel_j0", 9, spherical_j0},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> bessel_table() { return kTable; }

}  // namespace pt2onnx
