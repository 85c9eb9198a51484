// LU, Cholesky and QR.
#include "symbolics/formula.h"
#include "symbolics/linalg.h"

namespace pt2onnx::linalg {
namespace {

using namespace formula;

/// 0, 1, ... as a vector, to be compared with an index.
Value places(Call& c, const Dim& size) { return onnx::range(c, 0, size); }
Value as_column(Call& c, Value v) { return onnx::unsqueeze(c, v, {static_cast<std::int64_t>(c.rank(v))}); }
Value as_row(Call& c, Value v) { return onnx::unsqueeze(c, v, {static_cast<std::int64_t>(c.rank(v)) - 1}); }
/// One element of each vector: [..., 1].
Value element(Call& c, Value v, Value index) {
  const auto last = static_cast<std::int64_t>(c.rank(v)) - 1;
  return onnx::gather(c, v, onnx::reshape(c, index, {1}), last);
}
/// What a Loop stacked in front, at the end.
Value stacked_last(Call& c, Value v, const Dim& steps, const Shape& batch) {
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < batch.size(); ++i) order.push_back(static_cast<std::int64_t>(i) + 1);
  order.push_back(0);
  c.set_shape(v, joined({steps}, batch));
  return onnx::transpose(c, v, order);
}

/// 1 + the first step at which the flag was set, else 0; flags are stacked: [steps, ...].
Value first_failure(Call& c, Value flags, const Dim& steps, const Shape& batch) {
  c.set_shape(flags, joined({steps}, batch));
  Shape counter(batch.size() + 1, Dim(1));
  counter[0] = steps;
  const Value number = onnx::reshape(c, onnx::range(c, 1, steps + 1), counter);
  const Value none = c.size_value(steps + 1);
  const Value failed = onnx::where(c, flags, number, none);
  // An empty matrix has no steps.
  const Value sentinel = onnx::expand(c, none, joined({1}, batch));
  const Value first = onnx::reduce(c, "ReduceMin", onnx::concat(c, {failed, sentinel}, 0), {0}, false);
  const Value zero = c.constant(0, DType::Int64);
  return onnx::cast(c, onnx::where(c, onnx::equal(c, first, none), zero, first), DType::Int32);
}

}  // namespace

Shape batch_of(Call& c, Value a, std::size_t matrix_dims) {
  Shape shape = c.sizes_of(a);
  if (shape.size() < matrix_dims) c.reject("takes matrices, and a tensor has too few dims");
  shape.resize(shape.size() - matrix_dims);
  return shape;
}
Dim rows_of(Call& c, Value a) { return c.size_of(a, static_cast<std::int64_t>(c.rank(a)) - 2); }
Dim columns_of(Call& c, Value a) { return c.size_of(a, static_cast<std::int64_t>(c.rank(a)) - 1); }
Shape joined(Shape batch, const Shape& tail) {
  batch.insert(batch.end(), tail.begin(), tail.end());
  return batch;
}
Value transposed(Call& c, Value a) { return onnx::swap_axes(c, a, -1, -2); }
Value identity(Call& c, const Dim& rows, const Dim& columns, DType dtype) {
  const Value i = onnx::unsqueeze(c, places(c, rows), {1});
  return onnx::cast(c, onnx::equal(c, i, onnx::unsqueeze(c, places(c, columns), {0})), dtype);
}
Value column(Call& c, Value a, Value j) {
  return onnx::gather(c, a, j, static_cast<std::int64_t>(c.rank(a)) - 1);
}
Value row(Call& c, Value a, Value i) {
  return onnx::gather(c, a, i, static_cast<std::int64_t>(c.rank(a)) - 2);
}

// ---- permutations ----------------------------------------------------------------------------------------------------

Value permute_rows(Call& c, Value a, Value permutation) {
  const Dim rows = rows_of(c, a), columns = columns_of(c, a);
  const Shape batch = onnx::broadcast_shape(c, batch_of(c, a), batch_of(c, permutation, 1));
  const Shape shape = joined(batch, {rows, columns});
  const Value index = onnx::expand(c, as_column(c, permutation), shape);
  return onnx::gather_elements(c, onnx::expand(c, a, shape), index, static_cast<std::int64_t>(batch.size()));
}

Value inverse_permutation(Call& c, Value permutation) {
  const auto last = static_cast<std::int64_t>(c.rank(permutation)) - 1;
  return onnx::top_k(c, permutation, c.size_of(permutation, last), last, false, true).second;
}

/// The order of rows after those at `a` (0-d) and `b` ([..., 1]) change places.
Value exchanged(Call& c, Value index, Value a, Value b) {
  return onnx::where(c, onnx::equal(c, index, a), b, onnx::where(c, onnx::equal(c, index, b), a, index));
}

Value permutation_of(Call& c, Value pivots, const Dim& rows) {
  const Shape shape = joined(batch_of(c, pivots, 1), {rows});
  const Dim steps = c.size_of(pivots, static_cast<std::int64_t>(c.rank(pivots)) - 1);
  const Value index = places(c, rows), one = c.constant(1, DType::Int64);
  const Value from_zero = onnx::sub(c, onnx::cast(c, pivots, DType::Int64), one);
  const auto end =
      c.loop(c.size_value(steps), {}, {onnx::expand(c, index, shape)}, 0, [&](std::vector<Value> in) {
        const Value order = onnx::expand(c, exchanged(c, index, in[0], element(c, from_zero, in[0])), shape);
        return std::vector<Value>{
            in[1], onnx::gather_elements(c, in[2], order, static_cast<std::int64_t>(shape.size()) - 1)};
      });
  c.set_shape(end[0], shape);
  return end[0];
}

// ---- LU --------------------------------------------------------------------------------------------------------------

Lu lu(Call& c, Value a) {
  const Shape batch = batch_of(c, a), shape = c.sizes_of(a);
  const Dim rows = rows_of(c, a), columns = columns_of(c, a), steps = min(rows, columns);
  const Value index = places(c, rows), along = places(c, columns);
  const Value zero = number(c, 0, a);
  const auto last = static_cast<std::int64_t>(batch.size());
  const Value start = onnx::expand(c, index, joined(batch, {rows}));
  const auto end = c.loop(c.size_value(steps), {}, {a, start}, 2, [&](std::vector<Value> in) {
    const Value k = in[0];
    const Value candidates =
        onnx::where(c, onnx::less(c, index, k), number(c, -1, a), onnx::abs(c, column(c, in[2], k)));
    const Value best = onnx::arg_extreme(c, true, candidates, last, true);
    const Value order = onnx::expand(c, exchanged(c, index, k, best), joined(batch, {rows}));
    const Value swapped = permute_rows(c, in[2], order);
    const Value permutation = onnx::gather_elements(c, in[3], order, last);

    const Value current = column(c, swapped, k);
    const Value pivot = element(c, current, k);
    const Value below = onnx::greater(c, index, k);
    const Value is_zero = is_equal(c, pivot, 0);
    const Value scaled = onnx::where(c, is_zero, current, onnx::div(c, current, pivot));
    const Value factors = onnx::where(c, below, scaled, current);
    const Value right = onnx::where(c, onnx::greater(c, along, k), row(c, swapped, k), zero);
    const Value left = onnx::where(c, below, scaled, zero);
    const Value rest = onnx::sub(c, swapped, onnx::mul(c, as_column(c, left), as_row(c, right)));
    const Value next = onnx::where(c, onnx::equal(c, along, k), as_column(c, factors), rest);
    c.set_shape(next, shape);
    const Value place = onnx::squeeze(c, best, {last});
    return std::vector<Value>{in[1], next, permutation, place, onnx::squeeze(c, is_zero, {last})};
  });
  c.set_shape(end[0], shape);
  c.set_shape(end[1], joined(batch, {rows}));
  const Value pivots = stacked_last(c, end[2], steps, batch);
  return {end[0], end[1], onnx::cast(c, onnx::add(c, pivots, c.constant(1, DType::Int64)), DType::Int32),
          first_failure(c, end[3], steps, batch)};
}

Value solve_triangular(Call& c, Value a, Value b, bool upper, bool unit_diagonal) {
  const Dim size = rows_of(c, a);
  const Shape batch = onnx::broadcast_shape(c, batch_of(c, a), batch_of(c, b));
  const Shape shape = joined(batch, {size, columns_of(c, b)});
  const Value index = places(c, size);
  const Value last = c.size_value(size - 1);
  const Value none = onnx::full(c, shape, 0, c.dtype_of(b));
  const auto end = c.loop(c.size_value(size), {}, {none}, 0, [&](std::vector<Value> in) {
    const Value i = upper ? onnx::sub(c, last, in[0]) : in[0];
    const Value coefficients = row(c, a, i);
    const Value solved = upper ? onnx::greater(c, index, i) : onnx::less(c, index, i);
    const Value known = onnx::where(c, solved, coefficients, number(c, 0, a));
    Value x = onnx::sub(c, as_row(c, row(c, b, i)), onnx::matmul(c, as_row(c, known), in[2]));
    if (!unit_diagonal) x = onnx::div(c, x, as_row(c, element(c, coefficients, i)));
    const Value here = as_column(c, onnx::equal(c, index, i));
    const Value next = onnx::where(c, here, x, in[2]);
    c.set_shape(next, shape);
    return std::vector<Value>{in[1], next};
  });
  c.set_shape(end[0], shape);
  return end[0];
}

Value solve_lu(Call& c, const Lu& f, Value b, bool transpose) {
  if (!transpose) {
    const Value y = solve_triangular(c, f.factors, permute_rows(c, b, f.permutation), false, true);
    return solve_triangular(c, f.factors, y, true, false);
  }
  const Value turned = transposed(c, f.factors);
  const Value y = solve_triangular(c, turned, b, false, false);
  const Value x = solve_triangular(c, turned, y, true, true);
  return permute_rows(c, x, inverse_permutation(c, f.permutation));
}

Value inverse(Call& c, const Lu& f) {
  const Dim size = rows_of(c, f.factors);
  return solve_lu(c, f, identity(c, size, size, c.dtype_of(f.factors)), false);
}

// ---- Cholesky --------------------------------------------------------------------------------------------------------

Cholesky cholesky(Call& c, Value a) {
  const Shape batch = batch_of(c, a), shape = c.sizes_of(a);
  const Dim size = rows_of(c, a);
  const Value index = places(c, size), zero = number(c, 0, a);
  const auto last = static_cast<std::int64_t>(batch.size());
  const auto end = c.loop(c.size_value(size), {}, {a}, 2, [&](std::vector<Value> in) {
    const Value current = column(c, in[2], in[0]);
    const Value pivot = element(c, current, in[0]);
    const Value root = onnx::sqrt(c, pivot);
    Value factor = onnx::where(c, onnx::greater(c, index, in[0]), onnx::div(c, current, root), zero);
    factor = onnx::where(c, onnx::equal(c, index, in[0]), root, factor);
    const Value rest = onnx::sub(c, in[2], onnx::mul(c, as_column(c, factor), as_row(c, factor)));
    c.set_shape(rest, shape);
    const Value failed = onnx::logical_not(c, onnx::greater(c, pivot, zero));
    return std::vector<Value>{in[1], rest, factor, onnx::squeeze(c, failed, {last})};
  });
  return {stacked_last(c, end[1], size, joined(batch, {size})), first_failure(c, end[2], size, batch)};
}

// ---- QR --------------------------------------------------------------------------------------------------------------

Qr qr(Call& c, Value a) {
  const Shape batch = batch_of(c, a), shape = c.sizes_of(a);
  const Dim rows = rows_of(c, a), columns = columns_of(c, a), steps = min(rows, columns);
  const Value index = places(c, rows), along = places(c, columns);
  const Value zero = number(c, 0, a), one = number(c, 1, a);
  const auto last = static_cast<std::int64_t>(batch.size());
  const auto end = c.loop(c.size_value(steps), {}, {a}, 1, [&](std::vector<Value> in) {
    const Value k = in[0];
    const Value below = onnx::greater(c, index, k), here = onnx::equal(c, index, k);
    const Value current = column(c, in[2], k);
    const Value alpha = element(c, current, k);
    const Value tail = onnx::where(c, below, current, zero);
    const Value rest = onnx::reduce(c, "ReduceSumSquare", tail, {last}, true);
    const Value nothing = is_equal(c, rest, 0);  // to reflect: H is the identity
    const Value length = onnx::sqrt(c, onnx::add(c, square(c, alpha), rest));
    const Value reflected = onnx::where(c, is_below(c, alpha, 0), length, onnx::neg(c, length));
    const Value beta = onnx::where(c, nothing, alpha, reflected);
    const Value gap = onnx::sub(c, beta, alpha);
    const Value tau = onnx::where(c, nothing, zero, onnx::div(c, gap, onnx::where(c, nothing, one, beta)));
    const Value scaled = onnx::div(c, tail, onnx::where(c, nothing, one, onnx::neg(c, gap)));
    const Value v = onnx::where(c, here, one, scaled);
    const Value products = onnx::matmul(c, as_row(c, v), in[2]);
    const Value right = onnx::where(c, onnx::greater(c, along, k), products, zero);
    const Value change = onnx::mul(c, as_column(c, onnx::mul(c, tau, v)), right);
    Value finished = onnx::where(c, below, scaled, current);
    finished = onnx::where(c, here, beta, finished);
    const Value next =
        onnx::where(c, onnx::equal(c, along, k), as_column(c, finished), onnx::sub(c, in[2], change));
    c.set_shape(next, shape);
    return std::vector<Value>{in[1], next, onnx::squeeze(c, tau, {last})};
  });
  c.set_shape(end[0], shape);
  return {end[0], stacked_last(c, end[1], steps, batch)};
}

Value apply_reflections(Call& c, const Qr& f, Value x, bool transpose) {
  const Dim rows = rows_of(c, f.a);
  const Dim steps = c.size_of(f.tau, static_cast<std::int64_t>(c.rank(f.tau)) - 1);
  const Value index = places(c, rows);
  const Shape shape = joined(batch_of(c, f.a), {rows, columns_of(c, x)});
  const Value last = c.size_value(steps - 1);
  // Q = H_0 H_1 ...: the last one comes first, and in the transposed the first one.
  const auto end =
      c.loop(c.size_value(steps), {}, {onnx::expand(c, x, shape)}, 0, [&](std::vector<Value> in) {
        const Value i = transpose ? in[0] : onnx::sub(c, last, in[0]);
        Value v = onnx::where(c, onnx::greater(c, index, i), column(c, f.a, i), number(c, 0, f.a));
        v = onnx::where(c, onnx::equal(c, index, i), number(c, 1, f.a), v);
        const Value scaled = onnx::mul(c, v, element(c, f.tau, i));
        const Value change = onnx::matmul(c, as_column(c, scaled), onnx::matmul(c, as_row(c, v), in[2]));
        const Value next = onnx::sub(c, in[2], change);
        c.set_shape(next, shape);
        return std::vector<Value>{in[1], next};
      });
  c.set_shape(end[0], shape);
  return end[0];
}

}  // namespace pt2onnx::linalg
