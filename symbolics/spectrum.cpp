// What singular values and eigenvalues are good for, and functions of matrices.
#include <algorithm>
#include <cmath>
#include <limits>

#include "symbolics/cells.h"
#include "symbolics/formula.h"
#include "symbolics/linalg.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using namespace formula;
using namespace linalg;

// aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor
Results svdvals(Call& c) { return singular_values(c, c.tensor("A")); }

// aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)
// aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)
template <onnx::Name Matrix>
Results only_singular_values(Call& c) {
  if (c.is_used(0) || c.is_used(2)) c.reject(kSigns, "torch.linalg.svdvals, if the values are enough");
  return {Argument(), singular_values(c, c.tensor(Matrix.text)), Argument()};
}

bool is_lower(Call& c) {
  const std::string triangle = c.text("UPLO");
  return triangle == "L" || triangle == "l";
}

// aten::linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor
Results eigvalsh(Call& c) { return symmetric_eigenvalues(c, c.tensor("self"), is_lower(c)); }

// aten::linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)
Results eigh(Call& c) {
  if (c.is_used(1)) c.reject(kSigns, "torch.linalg.eigvalsh, if the values are enough");
  return {symmetric_eigenvalues(c, c.tensor("self"), is_lower(c)), Argument()};
}

// ---- rank and pseudo-inverse -----------------------------------------------------------------------------------------

double precision_of(DType dtype) {
  return dtype == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon();
}

/// An argument that may be a number, a tensor (one for each matrix of the batch) or None.
Value tolerance_argument(Call& c, std::string_view name, DType dtype) {
  if (!c.has(name) || c.is_none(name)) return {};
  return as(c, operand(c, name), dtype);
}

/// What a singular value must exceed to count, [..., 1] or 0-d: atol or rtol times the largest, whichever is more.
Value tolerance(Call& c, Value a, Value values, Value absolute, Value relative) {
  const DType dtype = c.dtype_of(values);
  const auto rows = rows_of(c, a).known(), columns = columns_of(c, a).known();
  if (!relative) {
    if (!rows || !columns) c.reject("the default of `rtol` hangs on dynamic sizes", "give `rtol`");
    const auto size = static_cast<double>(std::max(*rows, *columns));
    relative = c.constant(precision_of(c.dtype_of(a)) * size, dtype);
    // One that is given takes the place of the default.
    if (absolute) relative = onnx::where(c, is_above(c, absolute, 0), number(c, 0, absolute), relative);
  }
  const auto last = static_cast<std::int64_t>(c.rank(values)) - 1;
  const Value largest = onnx::reduce(c, "ReduceMax", values, {last}, true);
  const auto per_matrix = [&](Value v) {
    return c.rank(v) == 0 ? v : onnx::unsqueeze(c, v, {static_cast<std::int64_t>(c.rank(v))});
  };
  const Value limit = onnx::mul(c, per_matrix(relative), largest);
  return absolute ? onnx::maximum(c, per_matrix(absolute), limit) : limit;
}

/// The matrix that is meant: of a hermitian one torch reads the lower triangle.
Value meant_matrix(Call& c, std::string_view name) {
  const Value a = c.tensor(name);
  return c.has("hermitian") && c.flag("hermitian") ? mirrored(c, a, true) : a;
}

// aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)
// aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor
Results matrix_rank(Call& c) {
  const Value a = meant_matrix(c, c.has("input") ? "input" : "self");
  const Value values = singular_values(c, a);
  const DType dtype = c.dtype_of(values);
  const auto last = static_cast<std::int64_t>(c.rank(values)) - 1;
  Value limit;
  if (c.has("tol")) {
    limit = tolerance(c, a, values, tolerance_argument(c, "tol", dtype), c.constant(0, dtype));
  } else {
    limit =
        tolerance(c, a, values, tolerance_argument(c, "atol", dtype), tolerance_argument(c, "rtol", dtype));
  }
  const Value counts = onnx::cast(c, onnx::greater(c, values, limit), DType::Int64);
  return onnx::reduce(c, "ReduceSum", counts, {last}, false);
}

/// For more columns than rows that of the transposed matrix, transposed. The limits are [..., 1].
Value pseudo_inverse_of(Call& c, Value a, Value absolute, Value relative, Value* rank = nullptr,
                        Value* values = nullptr) {
  const auto rows = rows_of(c, a).known(), columns = columns_of(c, a).known();
  const bool turn = rows && columns && *rows < *columns;
  const Svd f = svd(c, turn ? transposed(c, a) : a);
  const auto wide = [&](Value v) { return v ? onnx::cast(c, v, DType::Float64) : v; };
  const Value limit = tolerance(c, a, f.values, wide(absolute), wide(relative));
  if (rank) {
    const auto last = static_cast<std::int64_t>(c.rank(f.values)) - 1;
    *rank = onnx::reduce(c, "ReduceSum", onnx::cast(c, onnx::greater(c, f.values, limit), DType::Int64),
                         {last}, false);
  }
  if (values) *values = f.values;
  const Value inverse = pseudo_inverse(c, f, limit);
  return onnx::cast(c, turn ? transposed(c, inverse) : inverse, c.dtype_of(a));
}

// aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor
// aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor; aten::pinverse(Tensor self, float rcond)
Results pinv(Call& c) {
  const Value a = meant_matrix(c, "self");
  const DType dtype = c.dtype_of(a);
  if (c.has("rcond"))
    return pseudo_inverse_of(c, a, c.constant(0, dtype), tolerance_argument(c, "rcond", dtype));
  return pseudo_inverse_of(c, a, tolerance_argument(c, "atol", dtype), tolerance_argument(c, "rtol", dtype));
}

// aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None)
//     -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)
Results lstsq(Call& c) {
  const Value a = c.tensor("self"), b = c.tensor("b");
  const std::string driver = c.optional_text("driver").value_or("gelsy");
  const DType dtype = c.dtype_of(a);
  const bool vector = c.rank(b) + 1 == c.rank(a);
  const Value right = vector ? onnx::unsqueeze(c, b, {static_cast<std::int64_t>(c.rank(b))}) : b;
  Value rank, values;
  const Value inverse = pseudo_inverse_of(c, a, {}, tolerance_argument(c, "rcond", dtype), &rank, &values);
  Value x = onnx::matmul(c, inverse, right);
  const Value nothing = onnx::full(c, {0}, 0, dtype);
  Value residuals = nothing;
  if (c.is_used(1) && driver != "gelsy") {
    const auto rows = rows_of(c, a).known(), columns = columns_of(c, a).known();
    if (!rows || !columns) c.reject("whether there are residuals hangs on dynamic sizes");
    if (driver != "gels" && *rows > *columns)
      c.reject("whether there are residuals hangs on the rank, which the data decides", "driver=\"gels\"");
    if (*rows > *columns) {
      const Value gap = onnx::sub(c, onnx::matmul(c, a, x), right);
      residuals =
          onnx::reduce(c, "ReduceSumSquare", gap, {static_cast<std::int64_t>(c.rank(gap)) - 2}, false);
    }
  }
  if (vector) x = onnx::squeeze(c, x, {static_cast<std::int64_t>(c.rank(x)) - 1});
  Value sorted = nothing;
  if (driver == "gelsd" || driver == "gelss") sorted = singular_values(c, a);
  return {x, residuals, driver == "gels" ? onnx::full(c, {0}, 0, DType::Int64) : rank, sorted};
}

// ---- condition -------------------------------------------------------------------------------------------------------

/// The norm of each matrix, [...].
Value norm_of(Call& c, Value a, const std::string& order) {
  const auto last = static_cast<std::int64_t>(c.rank(a)) - 1;
  if (order == "fro") return onnx::reduce(c, "ReduceL2", a, {last - 1, last}, false);
  if (order == "nuc") return onnx::reduce(c, "ReduceSum", singular_values(c, a), {last - 1}, false);
  const double p = std::stod(order);
  const bool by_column = std::abs(p) == 1;
  const Value sums = onnx::reduce(c, "ReduceSum", onnx::abs(c, a), {by_column ? last - 1 : last}, false);
  return onnx::extreme(c, p > 0, sums, {last - 1}, false);
}

// aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor; aten::linalg_cond.p_str(Tensor self, str p) -> Tensor
Results cond(Call& c) {
  const Value a = c.tensor("self");
  const bool named = c.schema().overload == "p_str";
  const double p = named ? 0 : c.optional_number("p").value_or(2);
  if (!named && std::abs(p) == 2) {
    const Value values = singular_values(c, a);
    const auto last = static_cast<std::int64_t>(c.rank(values)) - 1;
    const Value most = onnx::reduce(c, "ReduceMax", values, {last}, false);
    const Value least = onnx::reduce(c, "ReduceMin", values, {last}, false);
    return p > 0 ? onnx::div(c, most, least) : onnx::div(c, least, most);
  }
  const std::string order = named ? c.text("p") : std::to_string(p);
  const Value result = onnx::mul(c, norm_of(c, a, order), norm_of(c, inverse(c, lu(c, a)), order));
  // A matrix without inverse: torch says infinite.
  return onnx::where(c, onnx::is_nan(c, result), number(c, std::numeric_limits<double>::infinity(), result),
                     result);
}

// aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor
Results nuclear_norm(Call& c) {
  const Value x = c.tensor("self");
  const bool keep = c.flag("keepdim");
  std::vector<std::int64_t> axes = c.has("dim") ? c.axes("dim", c.rank(x)) : onnx::all_axes(c, x);
  return matrix_norm(c, x, kNuclear, axes.at(0), axes.at(1), keep);
}

// ---- functions of matrices -------------------------------------------------------------------------------------------

// aten::linalg_matrix_exp(Tensor self) -> Tensor
// Scaling and squaring: e^A = (e^(A / 2^s))^(2^s), the inner one by Taylor's series where the norm is at most 1/2.
Results matrix_exp(Call& c) {
  constexpr int kTerms = 16;
  const Value given = c.tensor("self");
  const Value a = onnx::cast(c, given, DType::Float64);
  const Shape shape = c.sizes_of(a);
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const Value norm = onnx::reduce(
      c, "ReduceMax", onnx::reduce(c, "ReduceSum", onnx::abs(c, a), {last - 1}, true), {last}, true);
  // 2^s is at least twice the norm; s is 0 where that is small.
  const Value at_least = onnx::maximum(c, times(c, norm, 2), number(c, 1, a));
  const Value power = onnx::ceil(c, times(c, onnx::log(c, at_least), 1 / std::log(2.0)));
  const Value scaled = onnx::div(c, a, onnx::pow(c, number(c, 2, a), power));
  const Value eye = identity(c, shape[shape.size() - 2], shape.back(), DType::Float64);
  Value sum = onnx::add(c, times(c, scaled, 1.0 / kTerms), eye);
  for (int n = kTerms - 1; n > 0; --n)
    sum = onnx::add(c, times(c, onnx::matmul(c, scaled, sum), 1.0 / n), eye);
  const Value zero = onnx::cast(c, c.constant({0}), DType::Float64);
  const Value most =
      onnx::reduce(c, "ReduceMax", onnx::concat(c, {onnx::flatten_all(c, power), zero}, 0), {0}, false);
  const auto end = c.loop(onnx::cast(c, most, DType::Int64), {}, {sum}, 0, [&](std::vector<Value> in) {
    const Value still = onnx::less(c, onnx::cast(c, in[0], DType::Float64), power);
    const Value next = onnx::where(c, still, onnx::matmul(c, in[2], in[2]), in[2]);
    c.set_shape(next, shape);
    return std::vector<Value>{in[1], next};
  });
  c.set_shape(end[0], shape);
  return onnx::cast(c, end[0], c.dtype_of(given));
}

// aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor; aten::vander(Tensor x, int? N=None, bool increasing=False)
template <bool Falling>
Results vander(Call& c) {
  Value x = onnx::at_least_dims(c, c.tensor("x"), 1);
  if (c.dtype_of(x) == DType::Bool || (is_integral(c.dtype_of(x)) && c.dtype_of(x) != DType::Int64))
    x = onnx::cast(c, x, DType::Int64);
  const auto last = static_cast<std::int64_t>(c.rank(x)) - 1;
  const auto size = c.optional_size("N").value_or(c.size_of(x, last)).known();
  if (!size) c.reject("a dynamic number of columns", "give `N`");
  const Value base = onnx::unsqueeze(c, x, {last + 1});
  std::vector<Value> powers{onnx::full_like(c, base, 1)};
  for (std::int64_t n = 1; n < *size; ++n) powers.push_back(onnx::mul(c, powers.back(), base));
  powers.resize(static_cast<std::size_t>(*size));
  if (powers.empty()) return onnx::full(c, joined(c.sizes_of(x), {0}), 0, c.dtype_of(x));
  if (Falling && !c.flag("increasing")) std::reverse(powers.begin(), powers.end());
  return onnx::concat(c, powers, last + 1);
}

constexpr Entry kTable[] = {
    {"aten::linalg_cond", 11, cond},
    {"aten::linalg_eigh", 9, eigh},
    {"aten::linalg_eigvalsh", 9, eigvalsh},
    {"aten::linalg_lstsq", 9, lstsq},
    {"aten::linalg_matrix_exp", 9, matrix_exp},
    {"aten::linalg_matrix_rank", 9, matrix_rank},
    {"aten::linalg_pinv", 9, pinv},
    {"aten::linalg_svd", 9, only_singular_values<"A">},
    {"aten::linalg_svdvals", 9, svdvals},
    {"aten::linalg_vander", 9, vander<false>},
    {"aten::matrix_exp", 9, matrix_exp},
    {"aten::nuclear_norm", 9, nuclear_norm},
    {"aten::pinverse", 9, pinv},
    {"aten::svd", 9, only_singular_values<"self">},
    {"aten::vander", 9, vander<true>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> spectrum_table() { return kTable; }

}  // namespace pt2onnx
