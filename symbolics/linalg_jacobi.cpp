// Singular values and eigenvalues by Jacobi's rotations. Columns are rotated in pairs, all pairs of a round at once, as
// in a tournament where everybody meets everybody (G. Golub, C. Van Loan, Matrix Computations, 8.5 and 8.6).
#include <algorithm>
#include <limits>
#include <numeric>

#include "symbolics/formula.h"
#include "symbolics/linalg.h"

namespace pt2onnx::linalg {
namespace {

using namespace formula;

constexpr std::int64_t kSweeps = 30;  // it converges quadratically: about ten are needed, and it ends then

struct Tournament {
  Value partner;  // int64 [rounds, size]; one's own number: a pause
  Value side;     // [rounds, size]: 1 for the lower of a pair, -1 for the upper, 0 for a pause
  std::int64_t rounds;
};

Tournament tournament(Call& c, std::int64_t size, DType dtype) {
  const std::int64_t seats = size + size % 2;
  const std::int64_t rounds = std::max<std::int64_t>(seats - 1, 1);
  std::vector<std::int64_t> partner, side, table(static_cast<std::size_t>(seats));
  std::iota(table.begin(), table.end(), 0);
  for (std::int64_t r = 0; r < rounds; ++r) {
    std::vector<std::int64_t> of(static_cast<std::size_t>(seats));
    for (std::int64_t i = 0; i < seats / 2; ++i) {
      const auto a = table[static_cast<std::size_t>(i)], b = table[static_cast<std::size_t>(seats - 1 - i)];
      of[static_cast<std::size_t>(a)] = b;
      of[static_cast<std::size_t>(b)] = a;
    }
    for (std::int64_t i = 0; i < size; ++i) {
      const auto p = of[static_cast<std::size_t>(i)] < size ? of[static_cast<std::size_t>(i)] : i;
      partner.push_back(p);
      side.push_back(p == i ? 0 : p > i ? 1 : -1);
    }
    if (seats > 2) std::rotate(table.begin() + 1, table.end() - 1, table.end());
  }
  const Shape shape{rounds, size};
  return {onnx::reshape(c, c.constant(partner), shape),
          onnx::cast(c, onnx::reshape(c, c.constant(side), shape), dtype), rounds};
}

std::int64_t known(Call& c, const Dim& size) {
  if (const auto n = size.known()) return *n;
  c.reject("rotates the pairs of a dynamic number of columns", "keep the sizes of the matrix static");
}

/// Cosine and sine [..., size] of the rotations that make the products of paired columns 0.
struct Rotation {
  Value cosine, sine;
};

/// `gram` is symmetric [..., size, size]; `order`, `side` are those of the round: [size].
Rotation rotation(Call& c, Value gram, Value order, Value side) {
  const auto last = static_cast<std::int64_t>(c.rank(gram)) - 1;
  const Dim size = columns_of(c, gram);
  const Value eye = identity(c, size, size, c.dtype_of(gram));
  const Value diagonal = onnx::reduce(c, "ReduceSum", onnx::mul(c, gram, eye), {last}, false);
  const Value other = onnx::gather(c, diagonal, order, last - 1);
  const Value mixed =
      onnx::reduce(c, "ReduceSum", onnx::mul(c, onnx::gather(c, gram, order, last), eye), {last}, false);
  const Value rests = onnx::logical_or(c, is_equal(c, mixed, 0), is_equal(c, side, 0));
  const Value divisor = onnx::where(c, rests, number(c, 1, gram), times(c, mixed, 2));
  // Of the lower one of the pair; the upper one turns the other way.
  const Value zeta = onnx::mul(c, side, onnx::div(c, onnx::sub(c, other, diagonal), divisor));
  const Value root = onnx::sqrt(c, plus(c, square(c, zeta), 1));
  Value tangent = onnx::reciprocal(c, onnx::add(c, onnx::abs(c, zeta), root));
  tangent = onnx::where(c, is_below(c, zeta, 0), onnx::neg(c, tangent), tangent);
  tangent = onnx::where(c, rests, number(c, 0, gram), onnx::mul(c, side, tangent));
  const Value cosine = onnx::reciprocal(c, onnx::sqrt(c, plus(c, square(c, tangent), 1)));
  return {cosine, onnx::mul(c, tangent, cosine)};
}

Value as_row(Call& c, Value v) { return onnx::unsqueeze(c, v, {static_cast<std::int64_t>(c.rank(v)) - 1}); }

/// Each column minus its partner, as the rotation has it.
Value rotated_columns(Call& c, Value a, Value order, const Rotation& r) {
  const Value partners = onnx::gather(c, a, order, static_cast<std::int64_t>(c.rank(a)) - 1);
  return onnx::sub(c, onnx::mul(c, a, as_row(c, r.cosine)), onnx::mul(c, partners, as_row(c, r.sine)));
}

/// Whether an element beside the diagonal counts, measured by `scale`.
Value unfinished(Call& c, Value gram, Value scale) {
  const Dim size = columns_of(c, gram);
  const Value beside =
      onnx::not_equal(c, onnx::unsqueeze(c, onnx::range(c, 0, size), {1}), onnx::range(c, 0, size));
  const double precision = 8 * std::numeric_limits<double>::epsilon();
  const Value counts = onnx::greater(c, onnx::abs(c, gram), times(c, scale, precision));
  return any(c, onnx::logical_and(c, counts, beside));
}

struct Round {
  Value order, side;
};
Round round_of(Call& c, const Tournament& t, Value iteration) {
  const Value rounds = c.constant(static_cast<double>(t.rounds), DType::Int64);
  const Value r = onnx::sub(c, iteration, onnx::mul(c, onnx::div(c, iteration, rounds), rounds));
  return {onnx::gather(c, t.partner, r, 0), onnx::gather(c, t.side, r, 0)};
}

Value lengths(Call& c, Value a) {
  return onnx::reduce(c, "ReduceL2", a, {static_cast<std::int64_t>(c.rank(a)) - 2}, false);
}

}  // namespace

Svd svd(Call& c, Value given) {
  const Value a = onnx::cast(c, given, DType::Float64);
  const Shape shape = c.sizes_of(a);
  const std::int64_t size = known(c, columns_of(c, a));
  const Tournament t = tournament(c, size, DType::Float64);
  const Shape square_shape = joined(batch_of(c, a), {size, size});
  const Value eye = onnx::expand(c, identity(c, size, size, DType::Float64), square_shape);
  const auto end = c.loop(c.constant(static_cast<double>(kSweeps * t.rounds), DType::Int64),
                          c.constant(1, DType::Bool), {a, eye}, 0, [&](std::vector<Value> in) {
                            const Round round = round_of(c, t, in[0]);
                            const Value gram = onnx::matmul(c, transposed(c, in[2]), in[2]);
                            const Rotation r = rotation(c, gram, round.order, round.side);
                            const Value length = lengths(c, in[2]);
                            const Value scale = onnx::mul(
                                c, onnx::unsqueeze(c, length, {static_cast<std::int64_t>(c.rank(length))}),
                                as_row(c, length));
                            const Value next = rotated_columns(c, in[2], round.order, r);
                            const Value right = rotated_columns(c, in[3], round.order, r);
                            c.set_shape(next, shape);
                            c.set_shape(right, square_shape);
                            return std::vector<Value>{unfinished(c, gram, scale), next, right};
                          });
  c.set_shape(end[0], shape);
  c.set_shape(end[1], square_shape);
  return {end[0], end[1], lengths(c, end[0])};
}

Value singular_values(Call& c, Value a) {
  const auto rows = rows_of(c, a).known(), columns = columns_of(c, a).known();
  // The side with fewer columns has them all.
  const bool turn = columns && rows && *rows < *columns;
  const Value values = svd(c, turn ? transposed(c, a) : a).values;
  const auto last = static_cast<std::int64_t>(c.rank(values)) - 1;
  const Value sorted = onnx::top_k(c, values, min(rows_of(c, a), columns_of(c, a)), last, true, true).first;
  return onnx::cast(c, sorted, c.dtype_of(a));
}

Value mirrored(Call& c, Value a, bool lower) {
  return onnx::add(c, onnx::trilu(c, a, 0, !lower), transposed(c, onnx::trilu(c, a, lower ? -1 : 1, !lower)));
}

Value symmetric_eigenvalues(Call& c, Value given, bool lower) {
  const Value a = mirrored(c, onnx::cast(c, given, DType::Float64), lower);
  const Shape shape = c.sizes_of(a);
  const std::int64_t size = known(c, columns_of(c, a));
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const Tournament t = tournament(c, size, DType::Float64);
  const auto end = c.loop(c.constant(static_cast<double>(kSweeps * t.rounds), DType::Int64),
                          c.constant(1, DType::Bool), {a}, 0, [&](std::vector<Value> in) {
                            const Round round = round_of(c, t, in[0]);
                            const Rotation r = rotation(c, in[2], round.order, round.side);
                            const Value turned = transposed(c, rotated_columns(c, in[2], round.order, r));
                            const Value next = rotated_columns(c, turned, round.order, r);
                            const Value scale =
                                onnx::reduce(c, "ReduceMax", onnx::abs(c, in[2]), {last - 1, last}, true);
                            c.set_shape(next, shape);
                            return std::vector<Value>{unfinished(c, in[2], scale), next};
                          });
  c.set_shape(end[0], shape);
  const Value eye = identity(c, size, size, DType::Float64);
  const Value values = onnx::reduce(c, "ReduceSum", onnx::mul(c, end[0], eye), {last}, false);
  const Value sorted = onnx::top_k(c, values, size, last - 1, false, true).first;
  c.set_shape(sorted, joined(batch_of(c, a), {size}));
  return onnx::cast(c, sorted, c.dtype_of(given));
}

Value pseudo_inverse(Call& c, const Svd& f, Value tolerance) {
  const Value counts = onnx::greater(c, f.values, tolerance);
  const Value weight =
      onnx::where(c, counts, onnx::reciprocal(c, square(c, f.values)), number(c, 0, f.values));
  return onnx::matmul(c, onnx::mul(c, f.right, as_row(c, weight)), transposed(c, f.scaled));
}

}  // namespace pt2onnx::linalg
