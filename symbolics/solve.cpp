// Systems of linear equations and the factorisations behind them (linalg.h).
#include <numeric>

#include "symbolics/cells.h"
#include "symbolics/formula.h"
#include "symbolics/linalg.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using namespace linalg;

using Ints = std::vector<std::int64_t>;

Value part(Call& c, Value a, bool upper, std::int64_t diagonal = 0) {
  return onnx::trilu(c, a, diagonal, upper);
}
/// The first rows, or columns, of a matrix.
Value first_rows(Call& c, Value a, const Dim& count) {
  return onnx::slice(c, a, static_cast<std::int64_t>(c.rank(a)) - 2, 0, count);
}
Value first_columns(Call& c, Value a, const Dim& count) {
  return onnx::slice(c, a, static_cast<std::int64_t>(c.rank(a)) - 1, 0, count);
}

// ---- LU --------------------------------------------------------------------------------------------------------------

Value pivoted_operand(Call& c, std::string_view name) {
  if (c.has("pivot") && !c.flag("pivot")) c.reject("`pivot=False`, which torch has on CUDA only");
  return c.tensor(name);
}

// aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)
Results lu_factor(Call& c) {
  const Lu f = lu(c, pivoted_operand(c, "A"));
  return {f.factors, f.pivots};
}

// aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)
// aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)
template <onnx::Name Matrix>
Results lu_with_info(Call& c) {
  const Lu f = lu(c, pivoted_operand(c, Matrix.text));
  return {f.factors, f.pivots, f.info};
}

struct Parts {
  Value lower, upper;
};
Parts unpacked(Call& c, Value factors) {
  const Dim rows = rows_of(c, factors), columns = columns_of(c, factors), inner = min(rows, columns);
  const Value below = first_columns(c, part(c, factors, false, -1), inner);
  return {onnx::add(c, below, identity(c, rows, inner, c.dtype_of(factors))),
          first_rows(c, part(c, factors, true), inner)};
}

/// P of a = P L U: row permutation[i] of it has its 1 in column i.
Value permutation_matrix(Call& c, Value permutation, DType dtype) {
  const auto last = static_cast<std::int64_t>(c.rank(permutation)) - 1;
  const Value rows = onnx::unsqueeze(c, onnx::range(c, 0, c.size_of(permutation, last)), {1});
  return onnx::cast(c, onnx::equal(c, rows, onnx::unsqueeze(c, permutation, {last})), dtype);
}

// aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)
Results lu_parts(Call& c) {
  const Value a = pivoted_operand(c, "A");
  const Lu f = lu(c, a);
  const Parts p = unpacked(c, f.factors);
  return {permutation_matrix(c, f.permutation, c.dtype_of(a)), p.lower, p.upper};
}

// aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (P, L, U)
Results lu_unpack(Call& c) {
  const Value factors = c.tensor("LU_data");
  const DType dtype = c.dtype_of(factors);
  const Value nothing = onnx::full(c, {0}, 0, dtype);
  const Value p =
      c.flag("unpack_pivots")
          ? permutation_matrix(c, permutation_of(c, c.tensor("LU_pivots"), rows_of(c, factors)), dtype)
          : nothing;
  if (!c.flag("unpack_data")) return {p, nothing, nothing};
  const Parts parts = unpacked(c, factors);
  return {p, parts.lower, parts.upper};
}

// aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor
// aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor
template <onnx::Name Factors, onnx::Name Pivots, onnx::Name Right>
Results lu_solve(Call& c) {
  Lu f;
  f.factors = c.tensor(Factors.text);
  f.permutation = permutation_of(c, c.tensor(Pivots.text), rows_of(c, f.factors));
  const bool left = !c.has("left") || c.flag("left");
  const bool adjoint = c.has("adjoint") && c.flag("adjoint");
  const Value b = c.tensor(Right.text);
  if (left) return solve_lu(c, f, b, adjoint);
  return transposed(c, solve_lu(c, f, transposed(c, b), !adjoint));
}

// ---- inverses and systems --------------------------------------------------------------------------------------------

// aten::linalg_inv(Tensor A) -> Tensor; aten::inverse(Tensor self) -> Tensor
template <onnx::Name Matrix>
Results inv(Call& c) {
  return inverse(c, lu(c, c.tensor(Matrix.text)));
}

// aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)
Results inv_with_info(Call& c) {
  const Lu f = lu(c, c.tensor("A"));
  return {inverse(c, f), f.info};
}

/// Whether `b` is one vector for each matrix, rather than a matrix.
bool is_vector(Call& c, Value a, Value b) {
  if (c.rank(b) == 1) return true;
  if (c.rank(b) + 1 != c.rank(a)) return false;
  const Shape vectors = c.sizes_of(b);
  Shape batch = c.sizes_of(a);
  batch.pop_back();
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (provably_equal(batch[i], vectors[i]) != true) return false;
  return true;
}

struct Solved {
  Value x;
  Lu factors;
};
Solved solved(Call& c) {
  const auto [a, b] = promoted(c, "A", "B");
  const bool vector = is_vector(c, a, b);
  const auto end = static_cast<std::int64_t>(c.rank(b));
  const Value right = vector ? onnx::unsqueeze(c, b, {end}) : b;
  const bool left = c.flag("left");
  const Lu f = lu(c, left || vector ? a : transposed(c, a));
  Value x = solve_lu(c, f, left || vector ? right : transposed(c, right), false);
  if (vector) x = onnx::squeeze(c, x, {static_cast<std::int64_t>(c.rank(x)) - 1});
  return {left || vector ? x : transposed(c, x), f};
}

// aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor
Results solve(Call& c) { return solved(c).x; }

// aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)
Results solve_with_info(Call& c) {
  const Solved s = solved(c);
  return {s.x, s.factors.info};
}

// aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor
Results tensor_inverse(Call& c) {
  const Value x = c.tensor("self");
  const Shape shape = c.sizes_of(x);
  const auto split = c.integer("ind");
  if (split <= 0 || split > static_cast<std::int64_t>(shape.size())) c.reject("`ind` is outside of the dims");
  const Shape front(shape.begin(), shape.begin() + split), back(shape.begin() + split, shape.end());
  const Value matrix = onnx::reshape(c, x, {product(front), product(back)});
  return onnx::reshape(c, inverse(c, lu(c, matrix)), joined(back, front));
}

// aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor
Results tensor_solve(Call& c) {
  Value a = c.tensor("self");
  const Value b = c.tensor("other");
  if (const auto moved = c.optional_ints("dims")) {
    const std::size_t rank = c.rank(a);
    Ints order, behind;
    for (const auto d : *moved) behind.push_back(c.normalize_axis(d, rank));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i)
      if (std::find(behind.begin(), behind.end(), i) == behind.end()) order.push_back(i);
    order.insert(order.end(), behind.begin(), behind.end());
    a = onnx::transpose(c, a, order);
  }
  const Shape shape = c.sizes_of(a);
  const Shape unknowns(shape.begin() + static_cast<std::ptrdiff_t>(c.rank(b)), shape.end());
  const Dim size = product(unknowns);
  const Lu f = lu(c, onnx::reshape(c, a, {size, size}));
  return onnx::reshape(c, solve_lu(c, f, onnx::reshape(c, b, {size, 1}), false), unknowns);
}

// ---- triangular ------------------------------------------------------------------------------------------------------

// aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor
Results triangular(Call& c) {
  const Value a = c.tensor("self"), b = c.tensor("B");
  const bool upper = c.flag("upper"), unit = c.flag("unitriangular");
  if (c.flag("left")) return solve_triangular(c, a, b, upper, unit);
  return transposed(c, solve_triangular(c, transposed(c, a), transposed(c, b), !upper, unit));
}

// aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False)
//     -> (Tensor solution, Tensor cloned_coefficient)
Results triangular_and_copy(Call& c) {
  const Value a = c.tensor("A"), b = c.tensor("self");
  const bool upper = c.flag("upper"), turn = c.flag("transpose");
  const Value x = solve_triangular(c, turn ? transposed(c, a) : a, b, upper != turn, c.flag("unitriangular"));
  const Shape batch = onnx::broadcast_shape(c, batch_of(c, a), batch_of(c, b));
  return {x, onnx::expand(c, a, joined(batch, {rows_of(c, a), columns_of(c, a)}))};
}

// ---- Cholesky --------------------------------------------------------------------------------------------------------

Cholesky factor(Call& c) {
  const Value a = c.tensor("self");
  if (!c.flag("upper")) return cholesky(c, a);
  Cholesky f = cholesky(c, transposed(c, a));
  f.lower = transposed(c, f.lower);
  return f;
}

// aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor
Results cholesky_factor(Call& c) { return factor(c).lower; }

// aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)
Results cholesky_with_info(Call& c) {
  const Cholesky f = factor(c);
  return {f.lower, f.info};
}

/// x of L L^T x = b
Value solve_by_cholesky(Call& c, Value given, bool upper, Value b) {
  const Value lower = upper ? transposed(c, given) : given;
  return solve_triangular(c, transposed(c, lower), solve_triangular(c, lower, b, false, false), true, false);
}

// aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor
Results cholesky_solve(Call& c) {
  return solve_by_cholesky(c, c.tensor("input2"), c.flag("upper"), c.tensor("self"));
}

// aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor
Results cholesky_inverse(Call& c) {
  const Value a = c.tensor("self");
  const Dim size = rows_of(c, a);
  return solve_by_cholesky(c, a, c.flag("upper"), identity(c, size, size, c.dtype_of(a)));
}

// ---- QR --------------------------------------------------------------------------------------------------------------

// aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)
Results geqrf(Call& c) {
  const Qr f = qr(c, c.tensor("self"));
  return {f.a, f.tau};
}

// aten::linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R); aten::qr(Tensor self, bool some=True)
template <onnx::Name Matrix>
Results qr_parts(Call& c) {
  const Value a = c.tensor(Matrix.text);
  const std::string mode = c.has("mode") ? c.text("mode") : c.flag("some") ? "reduced" : "complete";
  const Dim rows = rows_of(c, a);
  const Dim inner = mode == "complete" ? rows : min(rows, columns_of(c, a));
  const Qr f = qr(c, a);
  const Value r = first_rows(c, part(c, f.a, true), inner);
  if (mode == "r") return {onnx::full(c, {0}, 0, c.dtype_of(a)), r};
  return {apply_reflections(c, f, identity(c, rows, inner, c.dtype_of(a)), false), r};
}

// aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor; aten::orgqr(Tensor self, Tensor input2)
template <onnx::Name Matrix, onnx::Name Tau>
Results householder_product(Call& c) {
  const Value a = c.tensor(Matrix.text);
  const Value start = identity(c, rows_of(c, a), columns_of(c, a), c.dtype_of(a));
  return apply_reflections(c, {a, c.tensor(Tau.text)}, start, false);
}

// aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor
Results ormqr(Call& c) {
  const Qr f{c.tensor("self"), c.tensor("input2")};
  const Value x = c.tensor("input3");
  const bool transpose = c.flag("transpose");
  if (c.flag("left")) return apply_reflections(c, f, x, transpose);
  return transposed(c, apply_reflections(c, f, transposed(c, x), !transpose));
}

constexpr Entry kTable[] = {
    {"aten::_lu_with_info", 11, lu_with_info<"self">},
    {"aten::cholesky", 9, cholesky_factor},
    {"aten::cholesky_inverse", 9, cholesky_inverse},
    {"aten::cholesky_solve", 9, cholesky_solve},
    {"aten::geqrf", 9, geqrf},
    {"aten::inverse", 11, inv<"self">},
    {"aten::linalg_cholesky", 9, cholesky_factor},
    {"aten::linalg_cholesky_ex", 9, cholesky_with_info},
    {"aten::linalg_householder_product", 9, householder_product<"input", "tau">},
    {"aten::linalg_inv", 11, inv<"A">},
    {"aten::linalg_inv_ex", 11, inv_with_info},
    {"aten::linalg_lu", 11, lu_parts},
    {"aten::linalg_lu_factor", 11, lu_factor},
    {"aten::linalg_lu_factor_ex", 11, lu_with_info<"A">},
    {"aten::linalg_lu_solve", 11, lu_solve<"LU", "pivots", "B">},
    {"aten::linalg_qr", 9, qr_parts<"A">},
    {"aten::linalg_solve", 11, solve},
    {"aten::linalg_solve_ex", 11, solve_with_info},
    {"aten::linalg_solve_triangular", 9, triangular},
    {"aten::linalg_tensorinv", 11, tensor_inverse},
    {"aten::linalg_tensorsolve", 11, tensor_solve},
    {"aten::lu_solve", 11, lu_solve<"LU_data", "LU_pivots", "self">},
    {"aten::lu_unpack", 11, lu_unpack},
    {"aten::orgqr", 9, householder_product<"self", "input2">},
    {"aten::ormqr", 9, ormqr},
    {"aten::qr", 9, qr_parts<"self">},
    {"aten::triangular_solve", 9, triangular_and_copy},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> solve_table() { return kTable; }

}  // namespace pt2onnx
