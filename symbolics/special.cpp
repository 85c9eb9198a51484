// The error function's relatives, by approximations as good as float32.
#include <cmath>
#include <limits>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/formula.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using namespace formula;

// aten::erfinv(Tensor self) -> Tensor
// M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2011): single precision.
Value erfinv(Call& c, Value x) {
  constexpr std::array kCentral{2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                -0.00417768164,  0.246640727,    1.50140941};
  constexpr std::array kTail{-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const Value inside = onnx::mul(c, minus_from(c, 1, x), plus(c, x, 1));  // (1 - x)(1 + x)
  const Value w = onnx::neg(c, onnx::log(c, inside));
  const Value central = polynomial(c, plus(c, w, -2.5), kCentral);
  const Value tail = polynomial(c, plus(c, onnx::sqrt(c, w), -3), kTail);
  const Value factor = onnx::where(c, is_below(c, w, 5), central, tail);
  const Value at_end = is_equal(c, onnx::abs(c, x), 1);
  return onnx::where(c, at_end, times(c, x, std::numeric_limits<double>::infinity()),
                     onnx::mul(c, x, factor));
}

// aten::special_ndtri(Tensor self) -> Tensor: the inverse of the normal distribution
Value ndtri(Call& c, Value x) {
  return times(c, erfinv(c, plus(c, times(c, x, 2), -1)), std::numbers::sqrt2);
}

/// e^(x^2) erfc(x) for x >= 0. (1 + 2x) times it is smooth in t = (x - 3.75) / (x + 3.75), as M. Shepherd and
/// J. Laframboise have it (Math. Comp. 36, 1981); this is its Chebyshev interpolation of degree 16, good to 1e-12.
Value scaled_erfc_above(Call& c, Value x) {
  constexpr std::array kSeries{9.40046749181761912e-7,   -1.03515559377087439e-6,  -0.0000101125916478016905,
                               0.0000224037808633908821, 0.0000503904390541367268, -0.000290135825966059215,
                               0.00029442625176848424,   0.0017556055634317877,    -0.00974681979758166072,
                               0.0283622855079298793,    -0.0586933527390267265,   0.0923043196562569073,
                               -0.108803934546336893,    0.0822767386088044742,    0.00358541564888342926,
                               -0.140240598588195614,    1.23751263083682733};
  const Value t = minus_from(c, 1, onnx::div(c, number(c, 7.5, x), plus(c, x, 3.75)));
  return onnx::div(c, polynomial(c, t, kSeries), plus(c, times(c, x, 2), 1));
}

// aten::special_erfcx(Tensor self) -> Tensor
Value erfcx(Call& c, Value x) {
  const Value above = scaled_erfc_above(c, onnx::abs(c, x));
  const Value mirrored = onnx::sub(c, times(c, onnx::exp(c, square(c, x)), 2), above);
  return onnx::where(c, is_below(c, x, 0), mirrored, above);
}

// aten::special_log_ndtr(Tensor self) -> Tensor: the logarithm of the normal distribution
Value log_ndtr(Call& c, Value x) {
  const Value size = times(c, onnx::abs(c, x), 1 / std::numbers::sqrt2);
  const Value scaled = times(c, scaled_erfc_above(c, size), 0.5);
  const Value bell = onnx::neg(c, square(c, size));
  const Value below = onnx::add(c, bell, onnx::log(c, scaled));
  // log(1 - y), for tiny y by its series: 1 - y would lose it.
  const Value y = onnx::mul(c, onnx::exp(c, bell), scaled);
  const Value series = onnx::neg(c, onnx::mul(c, y, plus(c, times(c, y, 0.5), 1)));
  const Value above = onnx::where(c, is_below(c, y, 1e-4), series, onnx::log(c, minus_from(c, 1, y)));
  return onnx::where(c, is_below(c, x, 0), below, above);
}

constexpr Entry kTable[] = {
    {"aten::erfinv", 9, of_float<erfinv>},         {"aten::special_erfcx", 9, of_float<erfcx>},
    {"aten::special_erfinv", 9, of_float<erfinv>}, {"aten::special_log_ndtr", 9, of_float<log_ndtr>},
    {"aten::special_ndtri", 9, of_float<ndtri>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> special_table() { return kTable; }

}  // namespace pt2onnx
