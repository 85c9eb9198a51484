// Writing by index: scatter and its reductions, index_put and its kin, masked_scatter, and the functional forms of
// writing into a view.
#include <algorithm>
#include <limits>

#include "indexing.h"
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::cast;

/// How values that meet are combined; None: the new one replaces.
enum class Reduction { None, Add, Mul, Max, Min };

/// The `reduction` attribute, which Scatter* have from 16 on (max and min from 18).
Attributes reduction_attribute(Call& c, Reduction reduction) {
  static constexpr const char* kNames[] = {"none", "add", "mul", "max", "min"};
  if (reduction == Reduction::None) return {};
  const int first = reduction >= Reduction::Max ? 18 : 16;
  if (!c.has_opset(first)) c.needs_opset(first, "values that meet at one index are to be combined");
  return {{"reduction", kNames[static_cast<int>(reduction)]}};
}

/// ONNX Runtime combines neither half precision nor bool: those are widened.
DType combining_dtype(DType dtype, Reduction reduction) {
  if (reduction == Reduction::None) return dtype;
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return DType::Float32;
  return dtype == DType::Bool ? DType::Int32 : dtype;
}

Value scatter_node(Call& c, std::string_view op, Value data, Value indices, Value updates,
                   Reduction reduction, Attributes attributes) {
  const auto dtype = c.dtype_of(data);
  const auto wide = combining_dtype(dtype, reduction);
  const auto y = c.op(op, {cast(c, data, wide), indices, cast(c, updates, wide)}, std::move(attributes));
  c.set_shape(y, c.sizes_of(data));
  return cast(c, y, dtype);
}

Value scatter_elements(Call& c, Value data, Value indices, Value updates, std::int64_t axis,
                       Reduction reduction) {
  auto attributes = reduction_attribute(c, reduction);
  attributes.set({"axis", axis});
  return scatter_node(c, c.has_opset(11) ? "ScatterElements" : "Scatter", data, indices, updates, reduction,
                      attributes);
}

Value scatter_nd(Call& c, Value data, Value indices, Value updates, Reduction reduction) {
  if (!c.has_opset(11)) c.needs_opset(11, "`ScatterND` exists from opset 11 on");
  return scatter_node(c, "ScatterND", data, indices, updates, reduction, reduction_attribute(c, reduction));
}

/// Slices of `source` along `axis` go to the places that the 1-d `index` says.
Value scatter_slices(Call& c, Value self, std::int64_t axis, Value index, Value source, Reduction reduction) {
  if (axis == 0 && c.has_opset(11))
    return scatter_nd(c, self, onnx::unsqueeze(c, index, {1}), source, reduction);
  auto shape = c.sizes_of(source);
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (static_cast<std::int64_t>(i) != axis) others.push_back(static_cast<std::int64_t>(i));
  return scatter_elements(c, self, onnx::expand(c, onnx::unsqueeze(c, index, others), shape), source, axis,
                          reduction);
}

/// Tensors without dims as tensors of one element, and back.
struct AtLeastOneDim {
  bool scalar = false;
  Value of(Call& c, Value v) const { return c.rank(v) == 0 ? onnx::unsqueeze(c, v, {0}) : v; }
  Value restore(Call& c, Value v) const { return scalar ? onnx::squeeze(c, v, {0}) : v; }
};

// ---- scatter -------------------------------------------------------------------------------------------------------

struct Scatter {
  AtLeastOneDim dims;
  Value self, index, source;
  std::int64_t axis = 0;
};

/// torch reads only the part of src that index covers.
Value cut_to_index(Call& c, Value source, Value index) {
  const auto want = c.sizes_of(index);
  const auto have = c.sizes_of(source);
  for (std::size_t i = 0; i < want.size(); ++i)
    if (provably_equal(want[i], have[i]) != true)
      source = onnx::slice(c, source, static_cast<std::int64_t>(i), 0, want[i]);
  return source;
}

Scatter read_scatter(Call& c) {
  Scatter s;
  s.self = c.tensor("self");
  s.dims.scalar = c.rank(s.self) == 0;
  s.axis = c.axis("dim", c.rank(s.self));
  s.self = s.dims.of(c, s.self);
  s.index = s.dims.of(c, c.tensor("index"));
  const auto dtype = c.dtype_of(s.self);
  if (c.has("value")) {
    s.source = onnx::expand(c, c.scalar_value(c.scalar("value"), dtype), c.sizes_of(s.index));
  } else {
    s.source = cut_to_index(c, s.dims.of(c, cast(c, c.tensor("src"), dtype)), s.index);
  }
  return s;
}

Value scattered(Call& c, const Scatter& s, Reduction reduction) {
  return s.dims.restore(c, scatter_elements(c, s.self, s.index, s.source, s.axis, reduction));
}

// aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
// aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
// aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor
// aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor
Results scatter(Call& c) {
  auto reduction = Reduction::None;
  if (c.has("reduce")) {
    const auto name = c.text("reduce");
    if (name != "add" && name != "multiply") c.reject("the reduction `" + name + "`");
    reduction = name == "add" ? Reduction::Add : Reduction::Mul;
  }
  return scattered(c, read_scatter(c), reduction);
}

// aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor
Results scatter_add(Call& c) { return scattered(c, read_scatter(c), Reduction::Add); }

struct NamedReduction {
  Reduction reduction;
  bool mean;
};

NamedReduction reduction_of(Call& c) {
  const auto name = c.text("reduce");
  if (name == "sum") return {Reduction::Add, false};
  if (name == "mean") return {Reduction::Add, true};
  if (name == "prod") return {Reduction::Mul, false};
  if (name == "amax") return {Reduction::Max, false};
  if (name == "amin") return {Reduction::Min, false};
  c.reject("the reduction `" + name + "`");
}

/// What changes nothing when combined with a value of that dtype.
Value neutral(Call& c, Reduction reduction, DType dtype) {
  if (reduction == Reduction::Add) return c.constant(0, dtype);
  if (reduction == Reduction::Mul) return c.constant(1, dtype);
  const bool lowest = reduction == Reduction::Max;
  if (is_floating(dtype)) {
    const auto infinity = std::numeric_limits<double>::infinity();
    return c.constant(lowest ? -infinity : infinity, dtype);
  }
  if (dtype == DType::Bool) return c.constant(lowest ? 0 : 1, dtype);
  const auto bits = static_cast<int>(size_of(dtype)) * 8 - (is_unsigned(dtype) ? 0 : 1);
  if (bits == 64) c.reject("the largest uint64 as start of a minimum");
  const auto highest = bits == 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
  const auto low = is_unsigned(dtype) ? 0 : -highest - 1;
  return c.constant(Tensor::scalar(lowest ? low : highest, dtype));
}

/// Quotient of a mean: integers are rounded down, as torch does.
Value mean_of(Call& c, Value sum, Value count) {
  if (is_floating(c.dtype_of(sum))) return onnx::div(c, sum, count);
  const auto quotient = onnx::div(c, sum, count);
  const auto rounded_up = onnx::greater(c, onnx::mul(c, quotient, count), sum);
  return onnx::sub(c, quotient, cast(c, rounded_up, c.dtype_of(sum)));
}

/// `write(data, updates, reduction)` scatters to the indices of the call.
template <typename Write>
Value scatter_reduced(Call& c, Value self, Value source, const NamedReduction& named, bool include_self,
                      const Write& write) {
  const auto dtype = c.dtype_of(self);
  const auto like_source = [&](Value v) { return onnx::expand(c, v, c.sizes_of(source)); };
  auto start = self;
  if (!include_self) start = write(self, like_source(neutral(c, named.reduction, dtype)), Reduction::None);
  const auto combined = write(start, source, named.reduction);
  if (!named.mean) return combined;

  const auto ones = like_source(c.constant(1, dtype));
  auto counts = onnx::expand(c, c.constant(1, dtype), c.sizes_of(self));
  if (!include_self) counts = write(counts, like_source(c.constant(0, dtype)), Reduction::None);
  counts = write(counts, ones, Reduction::Add);
  return mean_of(c, combined, counts);
}

// aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)
Results scatter_reduce(Call& c) {
  const auto s = read_scatter(c);
  const auto y = scatter_reduced(c, s.self, s.source, reduction_of(c), c.flag("include_self"),
                                 [&](Value data, Value updates, Reduction reduction) {
                                   return scatter_elements(c, data, s.index, updates, s.axis, reduction);
                                 });
  return s.dims.restore(c, y);
}

// ---- index_add and kin ---------------------------------------------------------------------------------------------

struct IndexWrite {
  AtLeastOneDim dims;
  Value self, index, source;
  std::int64_t axis = 0;
};

/// self, a 1-d index and a source with as many slices as the index has entries.
IndexWrite read_index_write(Call& c) {
  IndexWrite w;
  w.self = c.tensor("self");
  w.dims.scalar = c.rank(w.self) == 0;
  w.axis = c.axis("dim", c.rank(w.self));
  w.self = w.dims.of(c, w.self);
  w.index = w.dims.of(c, c.tensor("index"));
  const auto dtype = c.dtype_of(w.self);
  if (c.has("source")) {
    w.source = cast(c, c.tensor("source"), dtype);
    while (c.rank(w.source) < c.rank(w.self)) w.source = onnx::unsqueeze(c, w.source, {0});
  } else {
    auto shape = c.sizes_of(w.self);
    shape[static_cast<std::size_t>(w.axis)] = c.size_of(w.index, 0);
    w.source = onnx::expand(c, cast(c, c.tensor("value"), dtype), shape);
  }
  return w;
}

Value index_written(Call& c, const IndexWrite& w, Reduction reduction) {
  return w.dims.restore(c, scatter_slices(c, w.self, w.axis, w.index, w.source, reduction));
}

// aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor
Results index_add(Call& c) {
  auto w = read_index_write(c);
  const auto alpha = c.scalar("alpha");
  if (!alpha.equals(1)) w.source = onnx::mul(c, w.source, c.scalar_value(alpha, c.dtype_of(w.source)));
  return index_written(c, w, Reduction::Add);
}

// aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor
// aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor
Results index_copy(Call& c) { return index_written(c, read_index_write(c), Reduction::None); }

// aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)
Results index_reduce(Call& c) {
  const auto w = read_index_write(c);
  const auto y = scatter_reduced(c, w.self, w.source, reduction_of(c), c.flag("include_self"),
                                 [&](Value data, Value updates, Reduction reduction) {
                                   return scatter_slices(c, data, w.axis, w.index, updates, reduction);
                                 });
  return w.dims.restore(c, y);
}

// ---- index_put -----------------------------------------------------------------------------------------------------

/// `self[mask] = values` where the values do not depend on the place in the mask: a Where.
std::optional<Value> put_by_mask(Call& c, Value self, const MaskIndex& index, Value values) {
  const auto rank = c.rank(self);
  const auto mask_rank = c.rank(index.mask);
  const auto behind = rank - mask_rank - static_cast<std::size_t>(index.axis);
  const auto& shape = c.shape(values);
  // Dims of values: [before..., selected, behind...]; `selected` must be absent or 1.
  if (shape.size() > behind && !(shape[shape.size() - behind - 1] == Dim(1))) return std::nullopt;
  if (shape.size() > behind + 1) {  // dims before the mask: room for the mask's dims
    std::vector<std::int64_t> axes;
    for (std::size_t i = 1; i < mask_rank; ++i)
      axes.push_back(static_cast<std::int64_t>(shape.size() - behind - 1 + i));
    values = onnx::unsqueeze(c, values, axes);
  }
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < behind; ++i) axes.push_back(static_cast<std::int64_t>(mask_rank + i));
  const auto mask = axes.empty() ? index.mask : onnx::unsqueeze(c, index.mask, axes);
  const auto y = onnx::where(c, mask, values, self);
  c.set_shape(y, c.sizes_of(self));
  return y;
}

// aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor
Results index_put(Call& c) {
  const auto self = c.tensor("self");
  const auto values = cast(c, c.tensor("values"), c.dtype_of(self));
  const auto list = index_list(c, "indices");
  const bool accumulate = c.flag("accumulate");
  if (const auto mask = only_mask(c, list)) {
    // No place is written twice, so adding is writing the sum.
    const auto fits = accumulate ? std::nullopt : put_by_mask(c, self, *mask, values);
    if (fits) return *fits;
  }
  const auto rank = c.rank(self);
  const auto indexing = positions_of(c, list, rank);
  const auto dims = indexing.indexed();
  const auto sizes = c.sizes_of(self);
  if (dims.empty()) {
    const auto expanded = onnx::expand(c, values, sizes);
    return accumulate ? onnx::add(c, self, expanded) : expanded;
  }

  std::vector<Value> present;
  for (const auto dim : dims) present.push_back(indexing.positions[static_cast<std::size_t>(dim)]);
  const auto positions = broadcast_shape(c, present);
  const auto order = indexed_first(indexing, rank);
  Shape rest;
  for (std::size_t i = dims.size(); i < order.size(); ++i)
    rest.push_back(sizes[static_cast<std::size_t>(order[i])]);

  // Values broadcast to the shape that reading would give, then positions first.
  Shape read = rest;
  read.insert(read.begin() + indexing.place(), positions.begin(), positions.end());
  const auto updates = from_result_order(c, onnx::expand(c, values, read), indexing, positions.size());
  const auto written = scatter_nd(c, onnx::transpose(c, self, order), stacked_positions(c, indexing), updates,
                                  accumulate ? Reduction::Add : Reduction::None);
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return onnx::transpose(c, written, back);
}

// aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor
Results put(Call& c) {
  const auto self = c.tensor("self");
  const auto source = cast(c, c.tensor("source"), c.dtype_of(self));
  const auto flat = [&](Value v) { return onnx::flatten_all(c, v); };
  const auto y = scatter_elements(c, flat(self), flat(c.tensor("index")), flat(source), 0,
                                  c.flag("accumulate") ? Reduction::Add : Reduction::None);
  return onnx::reshape(c, y, c.sizes_of(self));
}

// aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor
Results masked_scatter(Call& c) {
  auto self = c.tensor("self");
  auto mask = cast(c, c.tensor("mask"), DType::Bool);
  const auto shape = broadcast_shape(c, {self, mask});
  self = onnx::expand(c, self, shape);
  mask = onnx::expand(c, mask, shape);
  if (shape.empty()) {
    const auto first = onnx::select(c, onnx::flatten_all(c, c.tensor("source")), 0, 0);
    return onnx::where(c, mask, first, self);
  }
  const auto positions = c.op("NonZero", {mask});  // [rank, count]
  const auto source = onnx::flatten_all(c, c.tensor("source"));
  const auto used = onnx::slice(c, source, 0, 0, c.size_of(positions, 1));
  return scatter_nd(c, self, onnx::transpose(c, positions, {1, 0}), used, Reduction::None);
}

// ---- writing into views --------------------------------------------------------------------------------------------

/// A bound of a slice within [0, size], negative ones counted from the end, as Python does.
Dim bound(const std::optional<Dim>& given, const Dim& missing, const Dim& size) {
  if (!given) return missing;
  if (const auto known = given->known()) {
    if (*known >= 0) return min(*given, size);
    return max(*given + size, Dim(0));
  }
  return min(max(*given, Dim(0)), size);
}

/// [start, start + length) along `axis` is replaced.
Value with_range(Call& c, Value self, std::int64_t axis, const Dim& start, const Dim& length, Value part) {
  const auto size = c.size_of(self, axis);
  std::vector<Value> parts;
  if (!(start == Dim(0))) parts.push_back(onnx::slice(c, self, axis, 0, start));
  parts.push_back(part);
  if (!(start + length == size)) parts.push_back(onnx::slice(c, self, axis, start + length, size));
  const auto y = onnx::concat(c, parts, axis);
  c.set_shape(y, c.sizes_of(self));
  return y;
}

// aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor
Results select_scatter(Call& c) {
  const auto self = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(self));
  auto index = c.size("index");
  if (provably_less(index, 0) == true) index = index + c.size_of(self, axis);
  const auto part = onnx::unsqueeze(c, cast(c, c.tensor("src"), c.dtype_of(self)), {axis});
  if (provably_less(index, 0) == false) return with_range(c, self, axis, index, 1, part);
  return scatter_slices(c, self, axis, c.shape_value({index}), part, Reduction::None);
}

// aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)
Results slice_scatter(Call& c) {
  const auto self = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(self));
  const auto size = c.size_of(self, axis);
  const auto start = bound(c.optional_size("start"), 0, size);
  const auto step = c.integer("step");
  const auto source = cast(c, c.tensor("src"), c.dtype_of(self));
  const auto length = c.size_of(source, axis);
  if (step == 1) return with_range(c, self, axis, start, length, source);
  const auto places = onnx::range(c, start, start + length * step, step);
  c.set_shape(places, {length});
  return scatter_slices(c, self, axis, places, source, Reduction::None);
}

// aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor
Results diagonal_scatter(Call& c) {
  const auto self = c.tensor("self");
  const auto rank = c.rank(self);
  const auto row_axis = c.axis("dim1", rank);
  const auto column_axis = c.axis("dim2", rank);
  const auto offset = c.integer("offset");
  // The two axes at the end: rows [r, 1] and columns [c]; element k of src is at row k + max(-offset, 0).
  std::vector<std::int64_t> order, back(rank);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i)
    if (i != row_axis && i != column_axis) order.push_back(i);
  order.insert(order.end(), {row_axis, column_axis});
  for (std::size_t i = 0; i < rank; ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);

  const auto source = cast(c, c.tensor("src"), c.dtype_of(self));
  const auto source_axis = static_cast<std::int64_t>(c.rank(source)) - 1;
  const auto rows = onnx::range(c, 0, c.size_of(self, row_axis));
  const auto columns = onnx::range(c, 0, c.size_of(self, column_axis));
  const auto number = [&](std::int64_t n) { return c.constant(Tensor::scalar(n, DType::Int64)); };
  const auto row_of_column = onnx::sub(c, columns, number(offset));
  const auto on_diagonal = onnx::equal(c, onnx::unsqueeze(c, rows, {1}), row_of_column);
  const auto last = c.size_value(c.size_of(source, source_axis) - 1);
  const auto element = onnx::sub(c, rows, number(std::max<std::int64_t>(-offset, 0)));  // of each row
  const auto clipped = onnx::where(c, onnx::less(c, element, number(0)), number(0),
                                   onnx::where(c, onnx::greater(c, element, last), last, element));
  const auto spread = onnx::unsqueeze(c, onnx::gather(c, source, clipped, source_axis), {source_axis + 1});
  const auto y = onnx::where(c, on_diagonal, spread, onnx::transpose(c, self, order));
  return onnx::transpose(c, y, back);
}

constexpr Entry kTable[] = {
    {"aten::_index_put_impl", 9, index_put, by_parts},
    {"aten::_unsafe_index_put", 9, index_put, by_parts},
    {"aten::diagonal_scatter", 9, diagonal_scatter, by_parts},
    {"aten::index_add", 16, index_add, by_parts},
    {"aten::index_copy", 9, index_copy, by_parts},
    {"aten::index_fill", 9, index_copy, by_parts},
    {"aten::index_put", 9, index_put, by_parts},
    {"aten::index_reduce", 16, index_reduce},
    {"aten::masked_scatter", 9, masked_scatter, by_parts},
    {"aten::put", 9, put, by_parts},
    {"aten::scatter", 9, scatter, by_parts},
    {"aten::scatter_add", 16, scatter_add, by_parts},
    {"aten::scatter_reduce", 16, scatter_reduce, by_parts},
    {"aten::select_scatter", 9, select_scatter, by_parts},
    {"aten::slice_scatter", 9, slice_scatter, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> scatter_table() { return kTable; }

}  // namespace pt2onnx
