// Spread, norms and distances.
#include <algorithm>
#include <cmath>
#include <limits>

#include "symbolics/cells.h"
#include "symbolics/linalg.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// ---- variance ------------------------------------------------------------------------------------------------------

struct Spread {
  Value variance, mean;
};

/// How much less than the number of elements the squares are divided by: 1 unless the call says otherwise.
double correction_of(Call& c) {
  if (c.has("unbiased")) return c.flag("unbiased") ? 1 : 0;
  return c.optional_number("correction").value_or(1);
}

Spread spread(Call& c) {
  const Value x = c.tensor("self");
  if (!is_floating(c.dtype_of(x))) c.reject("takes the variance of whole numbers, which torch refuses too");
  const Ints axes = c.has("dim") ? c.axes("dim", c.rank(x)) : onnx::all_axes(c, x);
  const bool keep = c.has("keepdim") && c.flag("keepdim");
  const double correction = correction_of(c);

  const Value mean = onnx::reduce(c, "ReduceMean", x, axes, true);
  const Value gap = onnx::sub(c, x, mean);
  const Value squares = onnx::mul(c, gap, gap);
  Value variance;
  if (correction == 0) {
    variance = onnx::reduce(c, "ReduceMean", squares, axes, keep);
  } else {
    const Value count = onnx::count(c, x, axes, c.dtype_of(x));
    const Value freedom = onnx::maximum(c, onnx::sub(c, count, onnx::constant_like(c, correction, x)),
                                        onnx::constant_like(c, 0, x));
    variance = onnx::div(c, onnx::reduce(c, "ReduceSum", squares, axes, keep), freedom);
  }
  return {variance, keep ? mean : onnx::squeeze(c, mean, axes)};
}

// aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
Results var(Call& c) { return spread(c).variance; }
Results std_deviation(Call& c) { return onnx::sqrt(c, spread(c).variance); }

// aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)
Results var_mean(Call& c) {
  const Spread s = spread(c);
  return {s.variance, s.mean};
}

Results std_mean(Call& c) {
  const Spread s = spread(c);
  return {onnx::sqrt(c, s.variance), s.mean};
}

// ---- norms ---------------------------------------------------------------------------------------------------------

/// (sum |x|^p)^(1/p), with its limits at 0 and the infinities.
Value vector_norm(Call& c, Value x, double p, const Ints& axes, bool keep) {
  if (p == 1) return onnx::reduce(c, "ReduceL1", x, axes, keep);
  if (p == 2) return onnx::reduce(c, "ReduceL2", x, axes, keep);
  const Value size = onnx::abs(c, x);
  if (std::isinf(p)) return onnx::extreme(c, p > 0, size, axes, keep);
  if (p == 0) {
    const Value present = onnx::cast(c, onnx::cast(c, x, DType::Bool), c.dtype_of(x));
    return onnx::reduce(c, "ReduceSum", present, axes, keep);
  }
  const Value powers = onnx::pow(c, size, onnx::constant_like(c, p, x));
  const Value total = onnx::reduce(c, "ReduceSum", powers, axes, keep);
  return onnx::pow(c, total, onnx::constant_like(c, 1 / p, x));
}

/// The operand of a norm, in the dtype asked for.
Value norm_operand(Call& c) {
  const Value x = c.tensor("self");
  if (is_complex(c.dtype_of(x))) c.reject("takes the norm of complex numbers");
  const auto dtype = c.has("dtype") ? c.dtype("dtype") : std::nullopt;
  return dtype ? onnx::cast(c, x, *dtype) : float_tensor(c, "self");
}

// aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor
Results norm(Call& c) {
  const Value x = norm_operand(c);
  const Ints axes = c.has("dim") ? c.axes("dim", c.rank(x)) : onnx::all_axes(c, x);
  return vector_norm(c, x, c.optional_number("p").value_or(2), axes, c.has("keepdim") && c.flag("keepdim"));
}

// aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
Results linalg_vector_norm(Call& c) {
  const Value x = norm_operand(c);
  return vector_norm(c, x, c.number("ord"), c.axes("dim", c.rank(x)), c.flag("keepdim"));
}

}  // namespace

namespace linalg {

/// The largest (smallest) sum of a column or a row, or norms of the singular values.
Value matrix_norm(Call& c, Value x, double order, std::int64_t rows, std::int64_t columns, bool keep) {
  if (std::abs(order) == 2 || order == kNuclear) {
    std::vector<std::int64_t> front;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.rank(x)); ++i)
      if (i != rows && i != columns) front.push_back(i);
    front.insert(front.end(), {rows, columns});
    const Value values = singular_values(c, onnx::transpose(c, x, front));
    const auto last = static_cast<std::int64_t>(c.rank(values)) - 1;
    const Value norm = order == kNuclear ? onnx::reduce(c, "ReduceSum", values, {last}, false)
                                         : onnx::extreme(c, order > 0, values, {last}, false);
    return keep ? onnx::unsqueeze(c, norm, {std::min(rows, columns), std::max(rows, columns)}) : norm;
  }
  if (std::abs(order) != 1 && !std::isinf(order)) c.reject("a norm of an order that torch has not");
  const bool by_column = std::abs(order) == 1;
  const Value sums = onnx::reduce(c, "ReduceSum", onnx::abs(c, x), {by_column ? rows : columns}, true);
  const Value most = onnx::extreme(c, order > 0, sums, {by_column ? columns : rows}, true);
  return keep ? most : onnx::squeeze(c, most, {rows, columns});
}

}  // namespace linalg

namespace {

using linalg::matrix_norm;

Value frobenius(Call& c, Value x, const Ints& axes, bool keep) {
  return onnx::reduce(c, "ReduceL2", x, axes, keep);
}

// aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
Results linalg_norm(Call& c) {
  const Value x = norm_operand(c);
  const auto order = c.optional_number("ord");
  const Ints axes = c.axes("dim", c.rank(x));
  const bool keep = c.flag("keepdim");
  if (!order) return frobenius(c, x, axes, keep);
  if (axes.size() == 1) return vector_norm(c, x, *order, axes, keep);
  if (axes.size() != 2)
    c.reject("takes a norm of this order over more than two dims, which torch refuses too");
  return matrix_norm(c, x, *order, axes[0], axes[1], keep);
}

// aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)
// aten::linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, ...) -> Tensor
Results norm_by_name(Call& c) {
  const Value x = norm_operand(c);
  const Ints axes = c.axes("dim", c.rank(x));
  if (c.text("ord") == "fro") return frobenius(c, x, axes, c.flag("keepdim"));
  if (axes.size() != 2) c.reject("takes the nuclear norm over other than two dims");
  return matrix_norm(c, x, linalg::kNuclear, axes[0], axes[1], c.flag("keepdim"));
}

// aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ...) -> Tensor
Results linalg_matrix_norm(Call& c) {
  const Value x = norm_operand(c);
  const Ints dims = c.ints("dim", 2);
  return matrix_norm(c, x, c.number("ord"), c.normalize_axis(dims[0], c.rank(x)),
                     c.normalize_axis(dims[1], c.rank(x)), c.flag("keepdim"));
}

// aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
Results frobenius_norm(Call& c) {
  const Value x = norm_operand(c);
  return frobenius(c, x, c.axes("dim", c.rank(x)), c.flag("keepdim"));
}

// aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor
Results dist(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  const Value gap = onnx::sub(c, a, b);
  return vector_norm(c, gap, c.number("p"), onnx::all_axes(c, gap), false);
}

// aten::pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor
Results pairwise_distance(Call& c) {
  // Whole numbers are subtracted as such, wrapping around as in torch.
  const auto [a, b] = promoted(c, "x1", "x2");
  const Value difference = onnx::cast(c, onnx::sub(c, a, b), float_result_type(c, {a, b}));
  const Value gap = onnx::add(c, difference, onnx::constant_like(c, c.number("eps"), difference));
  return vector_norm(c, gap, c.number("p"), {-1}, c.flag("keepdim"));
}

// aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor
Results cosine_similarity(Call& c) {
  auto [a, b] = promoted(c, "x1", "x2");
  if (c.rank(a) == 0 && c.rank(b) == 0) {
    // The one element is the vector.
    const auto sign = [&](Value x) {
      const Value size = onnx::maximum(c, onnx::abs(c, x), onnx::constant_like(c, c.number("eps"), x));
      return onnx::div(c, x, size);
    };
    return onnx::mul(c, sign(a), sign(b));
  }
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(a), c.sizes_of(b));
  const auto axis = c.axis("dim", shape.size());
  const auto from_end = axis - static_cast<std::int64_t>(shape.size());
  const auto unit = [&](Value x) {
    // Both vectors have the common length, also where one of them stands for all its elements.
    const auto own = from_end + static_cast<std::int64_t>(c.rank(x));
    const bool full = own >= 0 && c.size_of(x, own) == shape[static_cast<std::size_t>(axis)];
    if (!full) x = onnx::expand(c, x, shape);
    const Value size = vector_norm(c, x, 2, {from_end}, true);
    return onnx::div(c, x, onnx::maximum(c, size, onnx::constant_like(c, c.number("eps"), x)));
  };
  return onnx::reduce(c, "ReduceSum", onnx::mul(c, unit(a), unit(b)), {from_end}, false);
}

// ---- of rows of observations ---------------------------------------------------------------------------------------

/// [1, 1] has no dims in torch's eyes.
Value without_dims(Call& c, Value square) {
  return c.size_of(square, 0) == 1 ? onnx::reshape(c, square, {}) : square;
}

/// A matrix whose rows hold the observations of one variable each.
Value as_rows(Call& c, Value x) {
  return c.rank(x) < 2 ? onnx::reshape(c, x, {1, product(c.sizes_of(x))}) : x;
}

/// Covariances of the rows.
Value covariance(Call& c, Value x, double correction) {
  const Value gap = onnx::sub(c, x, onnx::reduce(c, "ReduceMean", x, {1}, true));
  const Value freedom =
      onnx::sub(c, onnx::count(c, x, {1}, c.dtype_of(x)), onnx::constant_like(c, correction, x));
  const Value products = onnx::matmul(c, gap, onnx::swap_axes(c, gap, 0, 1));
  return onnx::div(c, products, onnx::maximum(c, freedom, onnx::constant_like(c, 0, x)));
}

// aten::cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor
Results cov(Call& c) {
  if (!c.is_none("fweights") || !c.is_none("aweights")) c.reject("weighs the observations");
  const Value x = as_rows(c, float_tensor(c, "self"));
  return without_dims(c, covariance(c, x, static_cast<double>(c.integer("correction"))));
}

// aten::corrcoef(Tensor self) -> Tensor
Results corrcoef(Call& c) {
  const Value x = as_rows(c, float_tensor(c, "self"));
  const Value covariances = covariance(c, x, 1);
  const Value gap = onnx::sub(c, x, onnx::reduce(c, "ReduceMean", x, {1}, true));
  const Value freedom = onnx::sub(c, onnx::count(c, x, {1}, c.dtype_of(x)), onnx::constant_like(c, 1, x));
  const Value variance = onnx::div(c, onnx::reduce(c, "ReduceSumSquare", gap, {1}, true), freedom);
  const Value deviation = onnx::sqrt(c, variance);
  const Value scaled =
      onnx::div(c, onnx::div(c, covariances, deviation), onnx::swap_axes(c, deviation, 0, 1));
  return without_dims(c, onnx::clip(c, scaled, onnx::constant_like(c, -1, x), onnx::constant_like(c, 1, x)));
}

/// The areas of the trapezoids between neighbouring points along a dim of y.
Value trapezoids(Call& c, Value y, std::int64_t axis) {
  const DType dtype = float_result_type(c, {y});
  if (!is_floating(c.dtype_of(y)) && size_of(c.dtype_of(y)) < 4)
    c.reject("multiplies narrow integers, whose products wrap around", "cast to float before");
  const auto neighbours = [&](Value v, std::int64_t along) {
    return std::pair(onnx::slice(c, v, along, 1, onnx::kEnd), onnx::slice(c, v, along, 0, -1));
  };
  const auto [later, earlier] = neighbours(y, axis);
  const Value sums = onnx::cast(c, onnx::add(c, later, earlier), dtype);
  const Value means = onnx::mul(c, sums, c.constant(0.5, dtype));
  if (c.has("dx")) return onnx::mul(c, means, c.scalar_value(c.scalar("dx"), dtype));

  Value x = c.tensor("x");
  std::int64_t along = axis;
  if (c.rank(x) == 1 && c.rank(y) > 1) {
    // Points of one dim go with every row.
    Shape shape(c.rank(y), Dim(1));
    shape[static_cast<std::size_t>(axis)] = c.size_of(x, 0);
    x = onnx::reshape(c, x, shape);
  } else {
    along += static_cast<std::int64_t>(c.rank(x)) - static_cast<std::int64_t>(c.rank(y));
  }
  const auto [right, left] = neighbours(x, along);
  return onnx::mul(c, onnx::cast(c, onnx::sub(c, right, left), dtype), means);
}

// aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor
// aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor
Results trapezoid(Call& c) {
  const Value y = c.tensor("y");
  const auto axis = c.axis("dim", c.rank(y));
  return onnx::reduce(c, "ReduceSum", trapezoids(c, y, axis), {axis - static_cast<std::int64_t>(c.rank(y))},
                      false);
}

// aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor
Results cumulative_trapezoid(Call& c) {
  const Value y = c.tensor("y");
  const auto axis = c.axis("dim", c.rank(y));
  return onnx::cumulative_sum(c, trapezoids(c, y, axis), axis - static_cast<std::int64_t>(c.rank(y)));
}

constexpr Entry kTable[] = {
    {"aten::corrcoef", 9, corrcoef},
    {"aten::cosine_similarity", 9, cosine_similarity},
    {"aten::cov", 9, cov},
    {"aten::cumulative_trapezoid", 9, cumulative_trapezoid, multilinear},
    {"aten::dist", 9, dist},
    {"aten::frobenius_norm", 9, frobenius_norm, by_modulus},
    {"aten::linalg_matrix_norm", 9, linalg_matrix_norm},
    {"aten::linalg_matrix_norm.str_ord", 9, norm_by_name},
    {"aten::linalg_norm", 9, linalg_norm},
    {"aten::linalg_norm.ord_str", 9, norm_by_name},
    {"aten::linalg_vector_norm", 9, linalg_vector_norm, by_modulus},
    {"aten::norm", 9, norm, by_modulus},
    {"aten::pairwise_distance", 9, pairwise_distance},
    {"aten::std", 9, std_deviation},
    {"aten::std_mean", 9, std_mean},
    {"aten::trapezoid", 9, trapezoid, multilinear},
    {"aten::trapz", 9, trapezoid, multilinear},
    {"aten::var", 9, var},
    {"aten::var_mean", 9, var_mean},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> statistics_table() { return kTable; }

}  // namespace pt2onnx
