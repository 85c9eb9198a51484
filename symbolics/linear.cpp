// Products of matrices and vectors.
#include <algorithm>
#include <numeric>

#include "blocks.h"
#include "einsum.h"
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::add;
using onnx::matmul;
using onnx::mul;
using onnx::transpose;

// ---- linear --------------------------------------------------------------------------------------------------------

// aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
Results linear_call(Call& c) {
  return linear(c, c.tensor("input"), c.tensor("weight"), c.optional_tensor("bias"));
}

// ---- products ------------------------------------------------------------------------------------------------------

// aten::matmul(Tensor self, Tensor other) -> Tensor
// aten::mm(Tensor self, Tensor mat2), aten::bmm(Tensor self, Tensor mat2), aten::mv(Tensor self, Tensor vec),
// aten::dot(Tensor self, Tensor tensor)
template <onnx::Name Second>
Results product(Call& c) {
  return matmul(c, c.tensor("self"), c.tensor(Second.text));
}

// aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor
Results product_in_dtype(Call& c) {
  const auto dtype = c.dtype("out_dtype").value_or(c.dtype_of(c.tensor("self")));
  return matmul(c, onnx::cast(c, c.tensor("self"), dtype), onnx::cast(c, c.tensor("mat2"), dtype));
}

// aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None) -> Tensor
/// Products of group by group: a matrix per group where an operand has three dims, else the rows or columns from the end of
/// the group before to `offs[group]`. The last group takes what is left, of which torch says nothing.
Results grouped_product(Call& c) {
  const Value a = c.tensor("self"), b = c.tensor("mat2");
  if (!c.is_none("bias")) c.reject("adds a bias to each group, which PyTorch does not compute yet either");
  const auto cast_result = [&](Value result) {
    return onnx::cast(c, result, c.dtype("out_dtype").value_or(c.dtype_of(a)));
  };
  if (c.is_none("offs")) return cast_result(matmul(c, a, b));
  const Value ends = c.tensor("offs");
  const auto groups = c.static_shape(ends).at(0);
  const bool many_a = c.rank(a) == 3, many_b = c.rank(b) == 3;
  std::vector<Value> products;
  Dim start = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    const Dim end =
        group + 1 == groups ? Dim(onnx::kEnd) : c.dim_from(onnx::select(c, ends, 0, group), "end");
    const auto part = [&](Value x, bool many, std::int64_t axis) {
      return many ? onnx::select(c, x, 0, group) : onnx::slice(c, x, axis, start, end);
    };
    products.push_back(matmul(c, part(a, many_a, many_b ? 0 : 1), part(b, many_b, many_a ? 1 : 0)));
    start = end;
  }
  if (many_a || many_b) {
    const Value result = onnx::concat(c, products, many_b ? 0 : 1);
    c.set_shape(result, {c.size_of(a, many_a ? 1 : 0), c.size_of(b, many_b ? 2 : 1)});
    return cast_result(result);
  }
  for (Value& product : products) product = onnx::unsqueeze(c, product, {0});
  return cast_result(onnx::concat(c, products, 0));
}

/// beta * self + alpha * product. A beta of 0 ignores self, as torch does (its NaN too).
Value scaled_sum(Call& c, Value self, Value product) {
  const auto alpha = c.scalar("alpha");
  const auto beta = c.scalar("beta");
  const auto dtype = c.dtype_of(product);
  if (!alpha.equals(1)) product = mul(c, product, c.scalar_value(alpha, dtype));
  if (beta.equals(0)) return product;
  if (!beta.equals(1)) self = mul(c, self, c.scalar_value(beta, dtype));
  return add(c, self, product);
}

Value addmm_value(Call& c) {
  const auto self = c.tensor("self");
  const auto a = c.tensor("mat1");
  const auto b = c.tensor("mat2");
  const auto alpha = c.scalar("alpha").number();
  const auto beta = c.scalar("beta").number();
  if (!alpha || !beta || !is_floating(c.dtype_of(a))) return scaled_sum(c, self, matmul(c, a, b));
  if (*beta != 0) return c.op("Gemm", {a, b, self}, {{"alpha", *alpha}, {"beta", *beta}});
  if (c.has_opset(11)) return c.op("Gemm", {a, b}, {{"alpha", *alpha}});
  return scaled_sum(c, self, matmul(c, a, b));
}

// aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
Results addmm(Call& c) { return addmm_value(c); }

// aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1,
//                         bool use_gelu=False) -> Tensor
Results addmm_activation(Call& c) {
  const auto y = addmm_value(c);
  return c.flag("use_gelu") ? gelu(c, y) : c.op("Relu", {y});
}

// aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor
Results addmv(Call& c) {
  return scaled_sum(c, c.tensor("self"), matmul(c, c.tensor("mat"), c.tensor("vec")));
}

// aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
Results addr(Call& c) {
  const auto [a, b] = promoted(c, "vec1", "vec2");
  const auto product = mul(c, onnx::unsqueeze(c, a, {1}), b);
  const auto dtype = promote(c.dtype_of(c.tensor("self")), c.dtype_of(product));
  return scaled_sum(c, onnx::cast(c, c.tensor("self"), dtype), onnx::cast(c, product, dtype));
}

// aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
Results baddbmm(Call& c) {
  return scaled_sum(c, c.tensor("self"), matmul(c, c.tensor("batch1"), c.tensor("batch2")));
}

// aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor
Results addbmm(Call& c) {
  const auto products = matmul(c, c.tensor("batch1"), c.tensor("batch2"));
  return scaled_sum(c, c.tensor("self"), onnx::reduce(c, "ReduceSum", products, {0}, false));
}

// aten::outer(Tensor self, Tensor vec2) -> Tensor
Results outer(Call& c) {
  const auto [a, b] = promoted(c, "self", "vec2");
  return mul(c, onnx::unsqueeze(c, a, {1}), b);
}

// aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor
Results vecdot(Call& c) {
  const auto [x, y] = promoted(c, "x", "y");
  const auto product = mul(c, x, y);
  return onnx::reduce(c, "ReduceSum", product, {c.axis("dim", c.rank(product))}, false);
}

// aten::chain_matmul(Tensor[] matrices) -> Tensor; aten::linalg_multi_dot(Tensor[] tensors) -> Tensor
template <onnx::Name List>
Results chain(Call& c) {
  const auto matrices = c.tensors(List.text);
  if (matrices.empty()) c.reject("an empty list of matrices");
  return std::accumulate(matrices.begin() + 1, matrices.end(), matrices.front(),
                         [&](Value a, Value b) { return matmul(c, a, b); });
}

// ---- contractions --------------------------------------------------------------------------------------------------

// aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor
Results tensordot(Call& c) {
  const auto a = c.tensor("self");
  const auto b = c.tensor("other");
  auto axes_a = c.ints("dims_self");
  auto axes_b = c.ints("dims_other");
  if (axes_a.size() != axes_b.size()) c.reject("lists of contracted dims of different length");
  einsum::Labels labels_a(c.rank(a)), labels_b(c.rank(b)), result;
  std::iota(labels_a.begin(), labels_a.end(), 0);
  std::iota(labels_b.begin(), labels_b.end(), static_cast<int>(labels_a.size()));
  for (std::size_t i = 0; i < axes_a.size(); ++i) {
    axes_a[i] = c.normalize_axis(axes_a[i], labels_a.size());
    axes_b[i] = c.normalize_axis(axes_b[i], labels_b.size());
    labels_b[static_cast<std::size_t>(axes_b[i])] = labels_a[static_cast<std::size_t>(axes_a[i])];
  }
  for (std::size_t i = 0; i < labels_a.size(); ++i)
    if (std::ranges::find(axes_a, static_cast<std::int64_t>(i)) == axes_a.end())
      result.push_back(labels_a[i]);
  for (std::size_t i = 0; i < labels_b.size(); ++i)
    if (std::ranges::find(axes_b, static_cast<std::int64_t>(i)) == axes_b.end())
      result.push_back(labels_b[i]);
  return einsum::contract(c, {a, b}, {labels_a, labels_b}, result);
}

// aten::inner(Tensor self, Tensor other) -> Tensor: over the last dim of both.
Results inner(Call& c) {
  const auto a = c.tensor("self");
  const auto b = c.tensor("other");
  if (c.rank(a) == 0 || c.rank(b) == 0) return mul(c, a, b);
  einsum::Labels labels_a(c.rank(a)), labels_b(c.rank(b));
  std::iota(labels_a.begin(), labels_a.end(), 0);
  std::iota(labels_b.begin(), labels_b.end(), static_cast<int>(labels_a.size()));
  labels_b.back() = labels_a.back();
  einsum::Labels result(labels_a.begin(), labels_a.end() - 1);
  result.insert(result.end(), labels_b.begin(), labels_b.end() - 1);
  return einsum::contract(c, {a, b}, {labels_a, labels_b}, result);
}

// aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor
Results einsum_(Call& c) {
  const auto tensors = c.tensors("tensors");
  const auto equation = einsum::parse(c, c.text("equation"), tensors);
  // A single operand whose labels are only reordered is a Transpose, at any opset.
  if (tensors.size() == 1 && equation.operands[0].size() == equation.result.size())
    return einsum::contract(c, tensors, equation.operands, equation.result);
  if (c.has_opset(12) && einsum::fits_node(c, equation, tensors))
    return c.op("Einsum", tensors, {{"equation", equation.text}});
  return einsum::contract(c, tensors, equation.operands, equation.result);
}

// aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor
// y[..., o] = sum_ij input1[..., i] weight[o, i, j] input2[..., j]
Results bilinear(Call& c) {
  const auto a = c.tensor("input1");
  const auto b = c.tensor("input2");
  const auto w = c.tensor("weight");
  const auto rank = static_cast<std::int64_t>(c.rank(a));
  const auto bias = c.optional_tensor("bias");
  // [..., 1, 1, i] x [o, i, j] -> [..., o, 1, j], then with [..., 1, j, 1]
  const auto left = matmul(c, onnx::unsqueeze(c, a, {rank - 1, rank}), w);
  const auto right = onnx::unsqueeze(c, b, {rank - 1, rank + 1});
  const auto y = onnx::squeeze(c, matmul(c, left, right), {rank, rank + 1});
  return bias ? add(c, y, bias) : y;
}

// aten::kron(Tensor self, Tensor other) -> Tensor
Results kron(Call& c) {
  auto [a, b] = promoted(c, "self", "other");
  const auto rank = static_cast<std::int64_t>(std::max(c.rank(a), c.rank(b)));
  if (rank == 0) return mul(c, a, b);
  // Both with `rank` dims; then [a0, 1, a1, 1, ...] * [1, b0, 1, b1, ...] -> [a0 * b0, a1 * b1, ...]
  const auto sizes = [&](Value v) {
    auto shape = c.sizes_of(v);
    shape.insert(shape.begin(), static_cast<std::size_t>(rank) - shape.size(), Dim(1));
    return shape;
  };
  const auto shape_a = sizes(a);
  const auto shape_b = sizes(b);
  Shape spread_a, spread_b, shape;
  for (std::size_t i = 0; i < shape_a.size(); ++i) {
    spread_a.insert(spread_a.end(), {shape_a[i], Dim(1)});
    spread_b.insert(spread_b.end(), {Dim(1), shape_b[i]});
    shape.push_back(shape_a[i] * shape_b[i]);
  }
  return onnx::reshape(c, mul(c, onnx::reshape(c, a, spread_a), onnx::reshape(c, b, spread_b)), shape);
}

// aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor
// aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor: the first dim of size 3 by default.
Results cross(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  const auto rank = std::max(c.rank(a), c.rank(b));
  std::int64_t axis = 0;
  if (c.is_none("dim")) {
    const auto& shape = c.shape(a);
    const auto found = std::ranges::find(shape, Dim(3));
    if (found == shape.end()) c.reject("no dim of size 3");
    axis = found - shape.begin();
  } else {
    axis = c.axis("dim", rank);
  }
  // rotated(v, k) is v[(i + k) % 3]
  const auto rotated = [&](Value v, std::int64_t k) {
    return onnx::concat(c, {onnx::slice(c, v, axis, k, 3), onnx::slice(c, v, axis, 0, k)}, axis);
  };
  return onnx::sub(c, mul(c, rotated(a, 1), rotated(b, 2)), mul(c, rotated(a, 2), rotated(b, 1)));
}

// aten::linalg_matrix_power(Tensor self, int n) -> Tensor
Results matrix_power(Call& c) {
  auto base = c.tensor("self");
  auto n = c.integer("n");
  if (n < 0) c.reject("a negative power, which needs the inverse of a matrix");
  if (n == 0) {  // the identity
    const auto places = onnx::range(c, 0, c.size_of(base, -1));
    const auto diagonal = onnx::equal(c, onnx::unsqueeze(c, places, {1}), places);
    return onnx::expand(c, onnx::cast(c, diagonal, c.dtype_of(base)), c.sizes_of(base));
  }
  Value result;
  for (; n > 0; n /= 2) {
    if (n % 2 != 0) result = result ? matmul(c, result, base) : base;
    if (n > 1) base = matmul(c, base, base);
  }
  return result;
}

// aten::linalg_det(Tensor A) -> Tensor; aten::det(Tensor self) -> Tensor
template <onnx::Name Matrix>
Results determinant(Call& c) {
  return c.op("Det", {c.tensor(Matrix.text)});
}

// aten::logdet(Tensor self) -> Tensor: NaN where the determinant is negative.
Results logdet(Call& c) { return onnx::log(c, c.op("Det", {c.tensor("self")})); }

// aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet); aten::slogdet(Tensor self)
template <onnx::Name Matrix>
Results slogdet(Call& c) {
  const auto value = c.op("Det", {c.tensor(Matrix.text)});
  return {onnx::sign(c, value), onnx::log(c, onnx::abs(c, value))};
}

Value distances(Call& c, Value a, Value b, double p) {
  const auto axis = static_cast<std::int64_t>(std::max(c.rank(a), c.rank(b)));
  const auto difference = onnx::sub(c, onnx::unsqueeze(c, a, {static_cast<std::int64_t>(c.rank(a)) - 1}),
                                    onnx::unsqueeze(c, b, {static_cast<std::int64_t>(c.rank(b)) - 2}));
  return onnx::squeeze(c, p_norm(c, difference, {axis}, p), {axis});
}

// aten::pdist(Tensor self, float p=2) -> Tensor: of all pairs of rows, the first before the second.
Results pdist(Call& c) {
  const auto x = c.tensor("self");
  const auto rows = c.static_shape(x).at(0);
  std::vector<std::int64_t> pairs;
  for (std::int64_t i = 0; i < rows; ++i)
    for (auto k = i + 1; k < rows; ++k) pairs.push_back(i * rows + k);
  const auto all = onnx::flatten_all(c, distances(c, x, x, c.number("p")));
  return onnx::gather(c, all, c.constant(pairs), 0);
}

// aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor
// [..., n, w] and [..., m, w] -> [..., n, m]: norms of all differences.
Results cdist(Call& c) { return distances(c, c.tensor("x1"), c.tensor("x2"), c.number("p")); }

constexpr Entry kTable[] = {
    {"aten::_addmm_activation", 9, addmm_activation},
    {"aten::_grouped_mm", 10, grouped_product},
    {"aten::addbmm", 9, addbmm, multilinear},
    {"aten::addmm", 9, addmm, multilinear},
    {"aten::addmv", 9, addmv, multilinear},
    {"aten::addr", 9, addr, multilinear},
    {"aten::baddbmm", 9, baddbmm, multilinear},
    {"aten::bilinear", 9, bilinear},
    {"aten::bmm", 9, product<"mat2">, multilinear},
    {"aten::bmm.dtype", 9, product_in_dtype},
    {"aten::cdist", 9, cdist},
    {"aten::chain_matmul", 9, chain<"matrices">, multilinear},
    {"aten::cross", 9, cross, multilinear},
    {"aten::det", 11, determinant<"self">},
    {"aten::dot", 9, product<"tensor">, multilinear},
    {"aten::einsum", 9, einsum_, multilinear},
    {"aten::ger", 9, outer, multilinear},
    {"aten::inner", 9, inner, multilinear},
    {"aten::kron", 9, kron, multilinear},
    {"aten::linalg_cross", 9, cross, multilinear},
    {"aten::linalg_det", 11, determinant<"A">},
    {"aten::linalg_matmul", 9, product<"other">, multilinear},
    {"aten::linalg_matrix_power", 9, matrix_power},
    {"aten::linalg_multi_dot", 9, chain<"tensors">, multilinear},
    {"aten::linalg_slogdet", 11, slogdet<"A">},
    {"aten::linalg_vecdot", 9, vecdot},
    {"aten::linear", 9, linear_call, multilinear},
    {"aten::logdet", 11, logdet},
    {"aten::matmul", 9, product<"other">, multilinear},
    {"aten::matrix_power", 9, matrix_power},
    {"aten::mm", 9, product<"mat2">, multilinear},
    {"aten::mm.dtype", 9, product_in_dtype},
    {"aten::mv", 9, product<"vec">, multilinear},
    {"aten::outer", 9, outer, multilinear},
    {"aten::pdist", 9, pdist},
    {"aten::slogdet", 11, slogdet<"self">},
    {"aten::tensordot", 9, tensordot, multilinear},
    {"aten::vdot", 9, product<"other">},
};
static_assert(strictly_ascending(kTable));

}  // namespace

Value linear(Call& c, Value x, Value weight, Value bias) {
  if (c.rank(weight) == 1) {
    const auto y = matmul(c, x, weight);
    return bias ? add(c, y, bias) : y;
  }
  // Gemm is one node, but for matrices only, and its C is optional from 11 on.
  if (c.rank(x) == 2 && is_floating(c.dtype_of(x)) && (bias || c.has_opset(11)))
    return c.op("Gemm", {x, weight, bias}, {{"transB", 1}});
  const auto y = matmul(c, x, transpose(c, weight, {1, 0}));
  return bias ? add(c, y, bias) : y;
}

std::span<const Entry> linear_table() { return kTable; }

}  // namespace pt2onnx
