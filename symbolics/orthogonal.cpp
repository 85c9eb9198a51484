// Orthogonal polynomials, by their recurrences (DLMF 18.9): torch has the degree as a number or a tensor.
#include <cmath>
#include <limits>

#include "symbolics/cells.h"
#include "symbolics/formula.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using namespace formula;

/// What follows p(k) = q and p(k - 1) = p; k >= 1.
using Next = Value (*)(Call& c, Value x, Value k, Value q, Value p);

/// 2 x q - p
Value chebyshev(Call& c, Value x, Value, Value q, Value p) {
  return onnx::sub(c, onnx::mul(c, times(c, x, 2), q), p);
}
/// 2 x q - 2 k p
Value hermite_h(Call& c, Value x, Value k, Value q, Value p) {
  return times(c, onnx::sub(c, onnx::mul(c, x, q), onnx::mul(c, k, p)), 2);
}
/// x q - k p
Value hermite_he(Call& c, Value x, Value k, Value q, Value p) {
  return onnx::sub(c, onnx::mul(c, x, q), onnx::mul(c, k, p));
}
/// ((2 k + 1 - x) q - k p) / (k + 1)
Value laguerre(Call& c, Value x, Value k, Value q, Value p) {
  const Value factor = onnx::sub(c, plus(c, times(c, k, 2), 1), x);
  return onnx::div(c, onnx::sub(c, onnx::mul(c, factor, q), onnx::mul(c, k, p)), plus(c, k, 1));
}
/// ((2 k + 1) x q - k p) / (k + 1)
Value legendre(Call& c, Value x, Value k, Value q, Value p) {
  const Value factor = onnx::mul(c, plus(c, times(c, k, 2), 1), x);
  return onnx::div(c, onnx::sub(c, onnx::mul(c, factor, q), onnx::mul(c, k, p)), plus(c, k, 1));
}

struct Family {
  Next next;
  double slope, offset;     // p(1) = slope x + offset
  bool shifted = false;     // of 2 x - 1
  bool is_limited = false;  // torch gives NaN above a degree
};

constexpr std::int64_t kUnrolled = 12;

/// The degree is one known number.
Value of_degree(Call& c, const Family& f, Value x, Value first, std::int64_t n) {
  const Value one = onnx::full_like(c, x, 1);
  if (n < 0) return onnx::full_like(c, x, 0);
  if (n == 0) return one;
  Value p = one, q = first;
  for (std::int64_t k = 1; k < n; ++k) {
    const Value r = f.next(c, x, number(c, static_cast<double>(k), x), q, p);
    p = q;
    q = r;
  }
  return q;
}

/// As many steps as the highest degree needs; lower ones stop before.
Value of_degrees(Call& c, const Family& f, Value x, Value first, Value n) {
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(x), c.sizes_of(n));
  const DType dtype = c.dtype_of(x);
  const Value none = c.constant({1});
  const Value highest =
      onnx::reduce(c, "ReduceMax", onnx::concat(c, {onnx::flatten_all(c, n), none}, 0), {0}, false);
  const Value steps = onnx::sub(c, highest, c.constant(1, DType::Int64));
  const auto end = c.loop(steps, {}, {onnx::full(c, shape, 1, dtype), onnx::expand(c, first, shape)}, 0,
                          [&](std::vector<Value> in) {
                            const Value k = onnx::add(c, in[0], c.constant(1, DType::Int64));
                            const Value next = f.next(c, x, onnx::cast(c, k, dtype), in[3], in[2]);
                            const Value goes_on = onnx::less(c, k, n);
                            return std::vector<Value>{in[1], onnx::where(c, goes_on, in[3], in[2]),
                                                      onnx::where(c, goes_on, next, in[3])};
                          });
  c.set_shape(end[1], shape);
  const Value zero = c.constant(0, DType::Int64);
  const Value result = where_else(c, onnx::not_equal(c, n, zero), end[1], 1);
  return onnx::where(c, onnx::less(c, n, zero), number(c, 0, x), result);
}

// aten::special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor
// aten::special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n), .x_scalar(Scalar x, Tensor n)
template <const Family& F>
Results polynomial_of(Call& c) {
  const Operand given = operand(c, "x"), degree = operand(c, "n");
  const DType dtype = float_result_type(c, {given, degree});
  Value x = as(c, given, dtype);
  if (F.shifted) x = plus(c, times(c, x, 2), -1);
  const Value first = plus(c, times(c, x, F.slope), F.offset);
  Value n = as(c, degree, DType::Int64);
  // torch's limit for Hermite's polynomials, which grow like n!
  const std::int64_t limit = dtype == DType::Float64 ? 512 : 128;
  if (const auto known = onnx::constant_number(n); known && c.rank(n) == 0 && *known <= kUnrolled)
    return of_degree(c, F, x, first, static_cast<std::int64_t>(*known));
  if (!F.is_limited) return of_degrees(c, F, x, first, n);
  const Value most = c.constant(static_cast<double>(limit), DType::Int64);
  const Value result = of_degrees(c, F, x, first, onnx::minimum(c, n, most));
  return onnx::where(c, onnx::greater(c, n, most), number(c, std::numeric_limits<double>::quiet_NaN(), x),
                     result);
}

constexpr Family kChebyshevT{chebyshev, 1, 0}, kChebyshevU{chebyshev, 2, 0}, kChebyshevV{chebyshev, 2, -1},
    kChebyshevW{chebyshev, 2, 1};
constexpr Family kShiftedT{chebyshev, 1, 0, true}, kShiftedU{chebyshev, 2, 0, true},
    kShiftedV{chebyshev, 2, -1, true}, kShiftedW{chebyshev, 2, 1, true};
constexpr Family kHermiteH{hermite_h, 2, 0, false, true}, kHermiteHe{hermite_he, 1, 0, false, true};
constexpr Family kLaguerre{laguerre, -1, 1}, kLegendre{legendre, 1, 0};

constexpr Entry kTable[] = {
    {"aten::special_chebyshev_polynomial_t", 9, polynomial_of<kChebyshevT>},
    {"aten::special_chebyshev_polynomial_u", 9, polynomial_of<kChebyshevU>},
    {"aten::special_chebyshev_polynomial_v", 9, polynomial_of<kChebyshevV>},
    {"aten::special_chebyshev_polynomial_w", 9, polynomial_of<kChebyshevW>},
    {"aten::special_hermite_polynomial_h", 9, polynomial_of<kHermiteH>},
    {"aten::special_hermite_polynomial_he", 9, polynomial_of<kHermiteHe>},
    {"aten::special_laguerre_polynomial_l", 9, polynomial_of<kLaguerre>},
    {"aten::special_legendre_polynomial_p", 9, polynomial_of<kLegendre>},
    {"aten::special_shifted_chebyshev_polynomial_t", 9, polynomial_of<kShiftedT>},
    {"aten::special_shifted_chebyshev_polynomial_u", 9, polynomial_of<kShiftedU>},
    {"aten::special_shifted_chebyshev_polynomial_v", 9, polynomial_of<kShiftedV>},
    {"aten::special_shifted_chebyshev_polynomial_w", 9, polynomial_of<kShiftedW>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> orthogonal_table() { return kTable; }

}  // namespace pt2onnx
