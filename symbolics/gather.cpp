// Reading by index: embedding, index_select, gather, advanced indexing, masks, search in sorted data.
#include <algorithm>
#include <limits>

#include "blocks.h"
#include "indexing.h"
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::cast;

// aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
//                 bool sparse=False) -> Tensor: the other arguments matter for gradients only.
Results embedding(Call& c) { return onnx::gather(c, c.tensor("weight"), c.tensor("indices"), 0); }

// aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor
// Rows that an index names are made no longer than max_norm.
Results embedding_renorm(Call& c) {
  const auto x = c.tensor("self");
  const auto norm = p_norm(c, x, {1}, c.number("norm_type"));
  const auto limit = onnx::constant_like(c, c.number("max_norm"), norm);
  const auto factor = onnx::div(c, limit, onnx::add(c, norm, onnx::constant_like(c, 1e-7, norm)));
  const auto rows = onnx::unsqueeze(c, onnx::range(c, 0, c.size_of(x, 0)), {1});
  const auto named = onnx::equal(c, rows, onnx::flatten_all(c, cast(c, c.tensor("indices"), DType::Int64)));
  const auto count = onnx::reduce(c, "ReduceSum", cast(c, named, DType::Int64), {1}, true);
  const auto used = onnx::greater(c, count, onnx::constant_like(c, 0, count));
  const auto shrinks = onnx::logical_and(c, used, onnx::greater(c, norm, limit));
  return onnx::mul(c, x, onnx::where(c, shrinks, factor, onnx::constant_like(c, 1, norm)));
}

// aten::index_select(Tensor self, int dim, Tensor index) -> Tensor
Results index_select(Call& c) {
  const auto x = c.tensor("self");
  auto index = c.tensor("index");
  const bool single = c.rank(index) == 0;
  if (c.rank(x) == 0) return x;
  if (single) index = onnx::unsqueeze(c, index, {0});
  return onnx::gather(c, x, index, c.axis("dim", c.rank(x)));
}

// aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor
Results gather(Call& c) {
  auto x = c.tensor("self");
  auto index = c.tensor("index");
  const auto axis = c.axis("dim", c.rank(x));
  if (c.rank(x) == 0 && c.rank(index) == 0) return x;
  const bool scalar_index = c.rank(index) == 0;
  if (c.rank(x) == 0) x = onnx::unsqueeze(c, x, {0});
  if (scalar_index) index = onnx::unsqueeze(c, index, {0});
  // An index without elements may have any shape.
  if (product(c.sizes_of(index)) == Dim(0)) return onnx::full(c, c.sizes_of(index), 0, c.dtype_of(x));
  const auto y = onnx::gather_elements(c, x, index, axis);
  return scalar_index ? onnx::squeeze(c, y, {0}) : y;
}

// aten::take(Tensor self, Tensor index) -> Tensor
Results take(Call& c) {
  return onnx::gather(c, onnx::flatten_all(c, c.tensor("self")), c.tensor("index"), 0);
}

// aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor
Results take_along_dim(Call& c) {
  const auto x = c.tensor("self");
  const auto index = c.tensor("indices");
  if (c.is_none("dim")) return onnx::gather(c, onnx::flatten_all(c, x), onnx::flatten_all(c, index), 0);
  const auto axis = c.axis("dim", c.rank(x));
  auto shape_x = c.sizes_of(x);
  auto shape_index = c.sizes_of(index);
  if (shape_x.size() != shape_index.size()) c.reject("`indices` of another rank than self");
  for (std::size_t i = 0; i < shape_x.size(); ++i) {
    if (static_cast<std::int64_t>(i) == axis) continue;
    if (shape_x[i] == Dim(1)) shape_x[i] = shape_index[i];
    if (shape_index[i] == Dim(1)) shape_index[i] = shape_x[i];
  }
  return onnx::gather_elements(c, onnx::expand(c, x, shape_x), onnx::expand(c, index, shape_index), axis);
}

// ---- advanced indexing ---------------------------------------------------------------------------------------------

/// Keeps the slices along `axis` where the 1-d mask is set.
Value compress(Call& c, Value x, Value mask, std::int64_t axis) {
  const auto y = c.op("Compress", {x, mask}, {{"axis", axis}});
  if (!y.shape()) {  // Compress 9 says nothing of its result
    auto shape = c.sizes_of(x);
    shape[static_cast<std::size_t>(axis)] = onnx::open_size(c, y, axis, "selected");
    c.set_shape(y, shape);
  }
  return y;
}

/// The elements where the mask is set, along the dims that it covers: those become one dim.
Value masked(Call& c, Value x, const MaskIndex& index) {
  const auto rank = c.rank(index.mask);
  const auto sizes = c.sizes_of(x);
  const auto axis = static_cast<std::size_t>(index.axis);
  if (axis + rank > sizes.size()) c.reject("a mask with more dims than the tensor");
  if (rank > 1) {
    Shape shape(sizes.begin(), sizes.begin() + index.axis);
    shape.push_back(product(
        Shape(sizes.begin() + index.axis, sizes.begin() + index.axis + static_cast<std::int64_t>(rank))));
    shape.insert(shape.end(), sizes.begin() + index.axis + static_cast<std::int64_t>(rank), sizes.end());
    x = onnx::reshape(c, x, shape);
  }
  return compress(c, x, onnx::flatten_all(c, index.mask), index.axis);
}

/// Below opset 11, without GatherND: one position along the indexed dims taken together.
Value gather_by_offsets(Call& c, Value x, const Indexing& indexing) {
  const auto sizes = c.sizes_of(x);
  const auto dims = indexing.indexed();
  Value offset;
  for (const auto dim : dims) {
    const auto size = c.size_value(sizes[static_cast<std::size_t>(dim)]);
    auto position = indexing.positions[static_cast<std::size_t>(dim)];
    const auto negative = onnx::less(c, position, onnx::constant_like(c, 0, position));
    position = onnx::where(c, negative, onnx::add(c, position, size), position);
    offset = offset ? onnx::add(c, onnx::mul(c, offset, size), position) : position;
  }
  const auto order = indexed_first(indexing, sizes.size());
  Shape shape = {Dim(1)};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& size = sizes[static_cast<std::size_t>(order[i])];
    if (i < dims.size()) {
      shape[0] = shape[0] * size;
    } else {
      shape.push_back(size);
    }
  }
  return onnx::gather(c, onnx::reshape(c, onnx::transpose(c, x, order), shape), offset, 0);
}

// aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
Results index(Call& c) {
  const auto x = c.tensor("self");
  const auto list = index_list(c, "indices");
  if (const auto mask = only_mask(c, list)) return masked(c, x, *mask);
  const auto rank = c.rank(x);
  const auto indexing = positions_of(c, list, rank);
  const auto dims = indexing.indexed();
  if (dims.empty()) return x;
  if (dims.size() == 1)
    return onnx::gather(c, x, indexing.positions[static_cast<std::size_t>(dims[0])], dims[0]);

  Value y;
  if (c.has_opset(11)) {
    y = c.op("GatherND",
             {onnx::transpose(c, x, indexed_first(indexing, rank)), stacked_positions(c, indexing)});
  } else {
    y = gather_by_offsets(c, x, indexing);
  }
  return to_result_order(c, y, indexing, c.rank(y) - (rank - dims.size()));
}

// aten::masked_select(Tensor self, Tensor mask) -> Tensor
Results masked_select(Call& c) {
  const auto x = c.tensor("self");
  const auto mask = cast(c, c.tensor("mask"), DType::Bool);
  const auto shape = broadcast_shape(c, {x, mask});
  const auto flat = [&](Value v) { return onnx::flatten_all(c, onnx::expand(c, v, shape)); };
  return compress(c, flat(x), flat(mask), 0);
}

// ---- positions -----------------------------------------------------------------------------------------------------

/// [rank, count]
Value nonzero_rows(Call& c, Value x) {
  if (c.rank(x) != 0) return c.op("NonZero", {x});
  // One row in ONNX, none in torch.
  const auto rows = c.op("NonZero", {onnx::unsqueeze(c, x, {0})});
  return onnx::slice(c, rows, 0, 0, 0);
}

// aten::nonzero(Tensor self) -> Tensor: [count, rank]
Results nonzero(Call& c) { return onnx::transpose(c, nonzero_rows(c, c.tensor("self")), {1, 0}); }

// aten::nonzero_numpy(Tensor self) -> Tensor[]
Results nonzero_numpy(Call& c) {
  auto x = c.tensor("self");
  if (c.rank(x) == 0) x = onnx::unsqueeze(c, x, {0});
  const auto rows = c.op("NonZero", {x});
  std::vector<Value> result;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.rank(x)); ++i)
    result.push_back(onnx::select(c, rows, 0, i));
  return Results::list(result);
}

// aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor
Results nonzero_static(Call& c) {
  const auto rows = onnx::transpose(c, nonzero_rows(c, c.tensor("self")), {1, 0});
  const auto size = c.size("size");
  const Dim missing = max(size - c.size_of(rows, 0), Dim(0));
  const auto fill = c.constant(Tensor::scalar(c.integer("fill_value"), DType::Int64));
  const auto y = onnx::slice(c, onnx::pad(c, rows, {{0, missing}, {0, 0}}, "constant", fill), 0, 0, size);
  c.set_shape(y, {size, c.size_of(rows, 1)});
  return y;
}

/// How many entries of the sorted last dim of `sorted` come before each value: not (entry >= value), so that NaN is
/// behind everything, as torch has it.
Results positions_in_sorted(Call& c, Value sorted, Value values, bool right) {
  const auto dtype = promote(c.dtype_of(sorted), c.dtype_of(values));
  sorted = cast(c, sorted, dtype);
  values = cast(c, values, dtype);
  const auto rank = static_cast<std::int64_t>(c.rank(values));
  values = onnx::unsqueeze(c, values, {rank});
  if (c.rank(sorted) > 1)  // [..., 1, n] beside [..., m, 1]
    sorted = onnx::unsqueeze(c, sorted, {static_cast<std::int64_t>(c.rank(sorted)) - 1});
  const auto behind = right ? onnx::greater(c, sorted, values) : onnx::greater_equal(c, sorted, values);
  const auto before = cast(c, onnx::logical_not(c, behind), DType::Int64);
  const auto count = onnx::reduce(c, "ReduceSum", before, {rank}, false);
  return cast(c, count, c.flag("out_int32") ? DType::Int32 : DType::Int64);
}

// aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False,
//                           str? side=None, Tensor? sorter=None) -> Tensor
Results searchsorted(Call& c) {
  auto sorted = c.tensor("sorted_sequence");
  if (const auto sorter = c.optional_tensor("sorter"))
    sorted = onnx::gather_elements(c, sorted, sorter, static_cast<std::int64_t>(c.rank(sorted)) - 1);
  return positions_in_sorted(c, sorted, c.tensor("self"),
                             c.flag("right") || c.optional_text("side") == "right");
}

// aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor
Results bucketize(Call& c) {
  return positions_in_sorted(c, c.tensor("boundaries"), c.tensor("self"), c.flag("right"));
}

// ---- bags ----------------------------------------------------------------------------------------------------------

enum class BagMode { Sum = 0, Mean = 1, Max = 2 };

/// membership[b, k]: whether entry k is in bag b.
Value bag_membership(Call& c, Value offsets, Value count_of_entries, Value entries) {
  const auto starts = onnx::unsqueeze(c, offsets, {1});
  const auto next = onnx::concat(c,
                                 {onnx::slice(c, offsets, 0, 1, std::numeric_limits<std::int64_t>::max()),
                                  onnx::unsqueeze(c, count_of_entries, {0})},
                                 0);
  const auto ends = onnx::unsqueeze(c, next, {1});
  return onnx::logical_and(c, onnx::greater_equal(c, entries, starts), onnx::less(c, entries, ends));
}

/// The index whose entries are left out. A negative one counts from the end; the default of _embedding_bag is none.
std::optional<Dim> padding_index(Call& c, Value weight) {
  const auto padding = c.has("padding_idx") ? c.optional_integer("padding_idx") : std::nullopt;
  if (!padding || (*padding < 0 && c.name() != "aten::embedding_bag")) return std::nullopt;
  return *padding < 0 ? c.size_of(weight, 0) + *padding : Dim(*padding);
}

// aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
//                     bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False)
//     -> (Tensor, Tensor offset2bag, Tensor bag_size, Tensor max_indices)
// aten::embedding_bag.padding_idx(..., int? padding_idx): entries with that index are left out.
Results embedding_bag(Call& c) {
  const auto weight = c.tensor("weight");
  const auto indices = c.tensor("indices");
  const auto mode = static_cast<BagMode>(c.integer("mode"));
  const auto per_sample = c.optional_tensor("per_sample_weights");
  const auto dtype = c.dtype_of(weight);
  if (c.rank(indices) != 1) c.reject("`indices` that are not 1-d");

  auto offsets = cast(c, c.tensor("offsets"), DType::Int64);
  if (c.flag("include_last_offset")) offsets = onnx::slice(c, offsets, 0, 0, c.size_of(offsets, 0) - 1);
  const auto count = c.size_of(indices, 0);
  const auto in_order = bag_membership(c, offsets, c.size_value(count), onnx::range(c, 0, count));
  auto members = in_order;
  if (auto padding = padding_index(c, weight)) {
    const auto used =
        onnx::logical_not(c, onnx::equal(c, cast(c, indices, DType::Int64), c.size_value(*padding)));
    members = onnx::logical_and(c, members, used);
  }

  auto rows = onnx::gather(c, weight, indices, 0);
  if (per_sample) rows = onnx::mul(c, rows, onnx::unsqueeze(c, cast(c, per_sample, dtype), {1}));
  const auto sizes = onnx::reduce(c, "ReduceSum", cast(c, members, DType::Int64), {1}, false);
  const auto bag_of_entry = onnx::arg_extreme(c, true, cast(c, in_order, DType::Int32), 0, false);

  Value y;
  Value max_indices = c.constant(Tensor::of_ints({}, {0}, DType::Int64));
  if (mode == BagMode::Max) {
    const auto lowest = onnx::constant_like(c, -std::numeric_limits<double>::infinity(), rows);
    const auto spread =
        onnx::where(c, onnx::unsqueeze(c, members, {2}), rows, lowest);  // [bags, entries, width]
    const auto empty = onnx::equal(c, onnx::unsqueeze(c, sizes, {1}),
                                   c.constant(Tensor::scalar(std::int64_t{0}, DType::Int64)));
    y = onnx::where(c, empty, onnx::constant_like(c, 0, rows),
                    onnx::reduce(c, "ReduceMax", spread, {1}, false));
    max_indices =
        onnx::gather(c, cast(c, indices, DType::Int64), onnx::arg_extreme(c, true, spread, 1, false), 0);
  } else {
    y = onnx::matmul(c, cast(c, members, dtype), rows);
    if (mode == BagMode::Mean) {
      const auto at_least_one = onnx::clip(c, cast(c, sizes, dtype), onnx::constant_like(c, 1, rows), {});
      y = onnx::div(c, y, onnx::unsqueeze(c, at_least_one, {1}));
    }
  }
  return {y, bag_of_entry, sizes, max_indices};
}

constexpr Entry kTable[] = {
    {"aten::_embedding_bag", 9, embedding_bag},
    {"aten::_embedding_bag_forward_only", 9, embedding_bag},
    {"aten::_unsafe_index", 9, index, by_parts},
    {"aten::argwhere", 9, nonzero, by_truth},
    {"aten::bucketize", 9, bucketize},
    {"aten::embedding", 9, embedding},
    {"aten::embedding_bag", 9, embedding_bag},
    {"aten::embedding_renorm", 9, embedding_renorm},
    {"aten::gather", 9, gather, by_parts},
    {"aten::index.Tensor", 9, index, by_parts},
    {"aten::index.Tensor_hacked_twin", 9, index, by_parts},
    {"aten::index_select", 9, index_select, by_parts},
    {"aten::masked_select", 9, masked_select, by_parts},
    {"aten::nonzero", 9, nonzero, by_truth},
    {"aten::nonzero_numpy", 9, nonzero_numpy, by_truth},
    {"aten::nonzero_static", 9, nonzero_static, by_truth},
    {"aten::searchsorted", 9, searchsorted},
    {"aten::take", 9, take, by_parts},
    {"aten::take_along_dim", 9, take_along_dim, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> gather_table() { return kTable; }

}  // namespace pt2onnx
