// Shapes: the same elements in another arrangement, or repeated.
#include <algorithm>
#include <numeric>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Ints = std::vector<std::int64_t>;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// ---- reshape -------------------------------------------------------------------------------------------------------

/// The sizes that a `-1` stands for.
Shape with_inferred(Call& c, const Dim& elements, Shape to) {
  Dim rest = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == -1) {
      if (open) c.reject("leaves two sizes open");
      open = i;
    } else {
      rest = rest * to[i];
    }
  }
  if (!open) return to;
  if (rest == 0) c.reject("leaves a size open beside a size of 0");
  to[*open] = floor_div(elements, rest);
  return to;
}

Value reshaped(Call& c, Value x, const Shape& sizes) {
  if (x.shape()) return onnx::reshape(c, x, with_inferred(c, product(*x.shape()), sizes));
  return c.op("Reshape", {x, c.shape_value(sizes)});
}

// aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)
template <onnx::Name Sizes>
Results reshape(Call& c) {
  return reshaped(c, c.tensor("self"), c.sizes(Sizes.text));
}

// aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)
Results reshape_as(Call& c) { return onnx::reshape(c, c.tensor("self"), c.sizes_of(c.tensor("other"))); }

// aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)
Results view_as_dtype(Call& c) {
  const Value x = c.tensor("self");
  if (c.dtype("dtype") == c.dtype_of(x)) return x;
  c.reject("reads the bits of a tensor as another element type");
}

// aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)
Results flatten(Call& c) {
  const Value x = c.tensor("self");
  Shape shape = c.sizes_of(x);
  if (shape.empty()) return onnx::reshape(c, x, {1});
  const auto first = c.axis("start_dim", shape.size()), last = c.axis("end_dim", shape.size());
  if (first > last) c.reject("flattens from a dim to an earlier one");
  const Shape merged(shape.begin() + first, shape.begin() + last + 1);
  shape.erase(shape.begin() + first, shape.begin() + last + 1);
  shape.insert(shape.begin() + first, product(merged));
  return onnx::reshape(c, x, shape);
}

// aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)
Results unflatten(Call& c) {
  const Value x = c.tensor("self");
  Shape shape = c.sizes_of(x);
  const auto axis = c.axis("dim", shape.size());
  const Shape parts = with_inferred(c, shape[at(axis)], c.sizes("sizes"));
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, parts.begin(), parts.end());
  return onnx::reshape(c, x, shape);
}

// aten::ravel(Tensor(a) self) -> Tensor(a)
Results ravel(Call& c) { return onnx::flatten_all(c, c.tensor("self")); }

// ---- dims of size 1 ------------------------------------------------------------------------------------------------

/// Removes those of the axes that have size 1. The rank of the result cannot hang on a size: of dynamic ones those stay
/// that are not 1 in the example inputs, and without `named` (the program asks for just these axes) all.
Value squeezed(Call& c, Value x, const Ints& axes, bool named) {
  const Shape& shape = c.shape(x);
  Ints ones;
  for (const auto axis : axes) {
    if (axis >= static_cast<std::int64_t>(shape.size())) continue;
    const Dim& size = shape[at(axis)];
    if (size == 1) ones.push_back(axis);
    if (provably_equal(size, 1).has_value()) continue;
    const std::string taken = "takes the dynamic size `" + size.str();
    if (named && c.assume_one(size, taken + "` as being 1, as in the example inputs"))
      ones.push_back(axis);
    else
      c.assume(taken + "` as not being 1, where torch would drop the dim");
  }
  return onnx::squeeze(c, x, ones);
}

// aten::squeeze(Tensor(a) self) -> Tensor(a)
// aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
// aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)
Results squeeze(Call& c) {
  const Value x = c.tensor("self");
  const std::size_t rank = c.rank(x);
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.has("dim")) axes = c.axes("dim", rank, true);
  return squeezed(c, x, axes, c.has("dim"));
}

// aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
Results unsqueeze(Call& c) {
  const Value x = c.tensor("self");
  return onnx::unsqueeze(c, x, {c.axis("dim", c.rank(x) + 1)});
}

template <std::size_t Rank>
Results atleast(Call& c) {
  if (c.has("self")) return onnx::at_least_dims(c, c.tensor("self"), Rank);
  std::vector<Value> tensors = c.tensors("tensors");
  for (Value& x : tensors) x = onnx::at_least_dims(c, x, Rank);
  return Results::list(tensors);
}

// ---- order of dims -------------------------------------------------------------------------------------------------

// aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)
Results permute(Call& c) {
  const Value x = c.tensor("self");
  Ints permutation = c.ints("dims");
  for (auto& axis : permutation) axis = c.normalize_axis(axis, c.rank(x));
  return onnx::transpose(c, x, permutation);
}

// aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
template <onnx::Name First, onnx::Name Second>
Results transpose(Call& c) {
  const Value x = c.tensor("self");
  if (c.rank(x) == 0) return x;
  return onnx::swap_axes(c, x, c.axis(First.text, c.rank(x)), c.axis(Second.text, c.rank(x)));
}

// aten::t(Tensor(a) self) -> Tensor(a)
Results t(Call& c) {
  const Value x = c.tensor("self");
  return c.rank(x) < 2 ? x : onnx::swap_axes(c, x, 0, 1);
}

// aten::mT(Tensor(a) self) -> Tensor(a); mH and adjoint conjugate besides, which changes nothing in real numbers
Results matrix_transpose(Call& c) {
  const Value x = c.tensor("self");
  if (is_complex(c.dtype_of(x))) c.reject("transposes a complex tensor");
  return onnx::swap_axes(c, x, -2, -1);
}

// aten::numpy_T(Tensor(a) self) -> Tensor(a)
Results reverse_dims(Call& c) {
  const Value x = c.tensor("self");
  Ints permutation(c.rank(x));
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  return onnx::transpose(c, x, permutation);
}

/// The order of dims in which each source stands at its destination and the others keep their order.
Ints moved(const Ints& sources, const Ints& destinations, std::size_t rank) {
  Ints order(rank, -1);
  std::vector<bool> taken(rank, false);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    order[at(destinations[i])] = sources[i];
    taken[at(sources[i])] = true;
  }
  std::size_t next = 0;
  for (auto& axis : order) {
    if (axis >= 0) continue;
    while (taken[next]) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return order;
}

// aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)
Results movedim(Call& c) {
  const Value x = c.tensor("self");
  Ints sources = c.ints("source"), destinations = c.ints("destination");
  if (sources.size() != destinations.size()) c.reject("moves as many dims as it names places for");
  for (auto* axes : {&sources, &destinations})
    for (auto& axis : *axes) axis = c.normalize_axis(axis, c.rank(x));
  return onnx::transpose(c, x, moved(sources, destinations, c.rank(x)));
}

// ---- repetition ----------------------------------------------------------------------------------------------------

/// The sizes of expand, -1 replaced by what is there.
Shape expanded_shape(Call& c, const Shape& from, Shape to) {
  if (to.size() < from.size()) c.reject("expands to fewer dims than the tensor has");
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == -1) {
      if (i < lead) c.reject("leaves the size of a new dim open");
      to[i] = from[i - lead];
    }
  }
  return to;
}

// aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)
Results expand(Call& c) {
  const Value x = c.tensor("self");
  return onnx::expand(c, x, expanded_shape(c, c.sizes_of(x), c.sizes("size")));
}

// aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)
Results expand_as(Call& c) { return onnx::expand_as(c, c.tensor("self"), c.tensor("other")); }

// aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]
Results broadcast_tensors(Call& c) {
  std::vector<Value> tensors = c.tensors("tensors");
  Shape shape;
  for (const Value x : tensors) shape = onnx::broadcast_shape(c, shape, c.sizes_of(x));
  for (Value& x : tensors) x = onnx::expand(c, x, shape);
  return Results::list(tensors);
}

Value tiled(Call& c, Value x, Shape repeats) {
  Shape shape = c.sizes_of(x);
  while (repeats.size() < shape.size()) repeats.insert(repeats.begin(), 1);
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), 1);
  x = onnx::reshape(c, x, shape);
  if (std::all_of(repeats.begin(), repeats.end(), [](const Dim& d) { return d == 1; })) return x;
  const Value result = c.op("Tile", {x, c.shape_value(repeats)});
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] * repeats[i];
  c.set_shape(result, shape);
  return result;
}

// aten::repeat(Tensor self, SymInt[] repeats) -> Tensor
// aten::tile(Tensor self, SymInt[] dims) -> Tensor
template <onnx::Name Repeats>
Results tile(Call& c) {
  return tiled(c, c.tensor("self"), c.sizes(Repeats.text));
}

/// 1-d: i as often as repeats[i] says.
Value repeated_indices(Call& c, Value repeats, std::optional<Dim> total) {
  repeats = onnx::cast(c, repeats, DType::Int64);
  if (!total) total = c.dim_from(onnx::reduce(c, "ReduceSum", repeats, {0}, false), "repeats");
  // The index at a place is the number of runs that end at or before it.
  const Value ends = onnx::cumulative_sum(c, repeats, 0);
  const Value places = onnx::unsqueeze(c, onnx::range(c, 0, *total), {1});
  const Value passed = onnx::cast(c, onnx::less_equal(c, ends, places), DType::Int64);
  return onnx::reduce(c, "ReduceSum", passed, {1}, false);
}

// aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor
Results repeat_interleave(Call& c) {
  Value x = c.tensor("self");
  if (c.is_none("dim") || c.rank(x) == 0) x = onnx::flatten_all(c, x);
  const auto axis = c.normalize_axis(c.optional_integer("dim").value_or(0), c.rank(x));
  Shape shape = c.sizes_of(x);
  const Dim repeats = c.size("repeats");
  if (repeats == 1) return x;
  Shape wide = shape;
  wide.insert(wide.begin() + axis + 1, repeats);
  shape[at(axis)] = shape[at(axis)] * repeats;
  return onnx::reshape(c, onnx::expand(c, onnx::unsqueeze(c, x, {axis + 1}), wide), shape);
}

// aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None)
Results repeat_interleave_by_tensor(Call& c) {
  Value x = c.tensor("self");
  if (c.is_none("dim") || c.rank(x) == 0) x = onnx::flatten_all(c, x);
  const auto axis = c.normalize_axis(c.optional_integer("dim").value_or(0), c.rank(x));
  Value repeats = onnx::flatten_all(c, c.tensor("repeats"));
  const Dim size = c.size_of(x, axis);
  if (c.size_of(repeats, 0) == 1 && size != 1) repeats = onnx::expand(c, repeats, {size});
  return onnx::gather(c, x, repeated_indices(c, repeats, c.optional_size("output_size")), axis);
}

// aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor
Results repeat_interleave_of_range(Call& c) {
  const Value repeats = c.tensor("repeats");
  return onnx::cast(c, repeated_indices(c, repeats, c.optional_size("output_size")), c.dtype_of(repeats));
}

// ---- between channels and space ------------------------------------------------------------------------------------

// aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor
Results pixel_shuffle(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t r = c.integer("upscale_factor");
  Shape shape = c.sizes_of(x);
  if (shape.size() == 4 && c.has_opset(11))
    return c.op("DepthToSpace", {x}, {{"blocksize", r}, {"mode", "CRD"}});
  // [..., C r r, H, W] -> [..., C, H, r, W, r]
  const auto lead = static_cast<std::int64_t>(shape.size()) - 3;
  const Dim channels = floor_div(shape[at(lead)], r * r), height = shape[at(lead + 1)],
            width = shape[at(lead + 2)];
  const Shape batch(shape.begin(), shape.begin() + lead);
  const auto shaped = [&](std::initializer_list<Dim> tail) {
    Shape s = batch;
    s.insert(s.end(), tail);
    return s;
  };
  Ints order(at(lead));
  std::iota(order.begin(), order.end(), 0);
  for (const int i : {0, 3, 1, 4, 2}) order.push_back(lead + i);
  const Value parts = onnx::reshape(c, x, shaped({channels, r, r, height, width}));
  return onnx::reshape(c, onnx::transpose(c, parts, order), shaped({channels, height * r, width * r}));
}

// aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor
Results pixel_unshuffle(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t r = c.integer("downscale_factor");
  const Shape shape = c.sizes_of(x);
  const auto lead = static_cast<std::int64_t>(shape.size()) - 3;
  const Dim channels = shape[at(lead)];
  const Dim height = floor_div(shape[at(lead + 1)], r), width = floor_div(shape[at(lead + 2)], r);
  const Shape batch(shape.begin(), shape.begin() + lead);
  const auto shaped = [&](std::initializer_list<Dim> tail) {
    Shape s = batch;
    s.insert(s.end(), tail);
    return s;
  };
  Ints order(at(lead));
  std::iota(order.begin(), order.end(), 0);
  for (const int i : {0, 2, 4, 1, 3}) order.push_back(lead + i);
  const Value parts = onnx::reshape(c, x, shaped({channels, height, r, width, r}));
  return onnx::reshape(c, onnx::transpose(c, parts, order), shaped({channels * (r * r), height, width}));
}

// aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor
Results channel_shuffle(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t groups = c.integer("groups");
  const Shape shape = c.sizes_of(x);
  Shape parts = shape;
  parts[1] = floor_div(shape[1], groups);
  parts.insert(parts.begin() + 1, groups);
  return onnx::reshape(c, onnx::swap_axes(c, onnx::reshape(c, x, parts), 1, 2), shape);
}

constexpr Entry kTable[] = {
    {"aten::_reshape_alias", 5, reshape<"size">, by_parts},
    {"aten::_unsafe_view", 5, reshape<"size">, by_parts},
    {"aten::adjoint", 1, matrix_transpose},
    {"aten::atleast_1d", 5, atleast<1>, by_parts},
    {"aten::atleast_2d", 5, atleast<2>, by_parts},
    {"aten::atleast_3d", 5, atleast<3>, by_parts},
    {"aten::broadcast_tensors", 8, broadcast_tensors, by_parts},
    {"aten::broadcast_to", 8, expand, by_parts},
    {"aten::channel_shuffle", 5, channel_shuffle, by_parts},
    {"aten::expand", 8, expand, by_parts},
    {"aten::expand_as", 8, expand_as, by_parts},
    {"aten::expand_copy", 8, expand, by_parts},
    {"aten::flatten", 5, flatten, by_parts},
    {"aten::mH", 1, matrix_transpose},
    {"aten::mT", 1, matrix_transpose, by_parts},
    {"aten::matrix_H", 1, matrix_transpose},
    {"aten::moveaxis", 1, movedim, by_parts},
    {"aten::movedim", 1, movedim, by_parts},
    {"aten::native_channel_shuffle", 5, channel_shuffle, by_parts},
    {"aten::numpy_T", 1, reverse_dims, by_parts},
    {"aten::permute", 1, permute, by_parts},
    {"aten::permute_copy", 1, permute, by_parts},
    {"aten::pixel_shuffle", 5, pixel_shuffle, by_parts},
    {"aten::pixel_unshuffle", 5, pixel_unshuffle, by_parts},
    {"aten::ravel", 5, ravel, by_parts},
    {"aten::repeat", 6, tile<"repeats">, by_parts},
    {"aten::repeat_interleave.Tensor", 9, repeat_interleave_of_range},
    {"aten::repeat_interleave.self_Tensor", 9, repeat_interleave_by_tensor, by_parts},
    {"aten::repeat_interleave.self_int", 8, repeat_interleave, by_parts},
    {"aten::reshape", 5, reshape<"shape">, by_parts},
    {"aten::reshape_as", 5, reshape_as, by_parts},
    {"aten::squeeze", 1, squeeze, by_parts},
    {"aten::squeeze_copy", 1, squeeze, by_parts},
    {"aten::swapaxes", 1, transpose<"axis0", "axis1">, by_parts},
    {"aten::swapdims", 1, transpose<"dim0", "dim1">, by_parts},
    {"aten::t", 1, t, by_parts},
    {"aten::t_copy", 1, t, by_parts},
    {"aten::tile", 6, tile<"dims">, by_parts},
    {"aten::transpose", 1, transpose<"dim0", "dim1">, by_parts},
    {"aten::transpose_copy", 1, transpose<"dim0", "dim1">, by_parts},
    {"aten::unflatten", 5, unflatten, by_parts},
    {"aten::unsqueeze", 1, unsqueeze, by_parts},
    {"aten::unsqueeze_copy", 1, unsqueeze, by_parts},
    {"aten::view", 5, reshape<"size">, by_parts},
    {"aten::view.dtype", 5, view_as_dtype},
    {"aten::view_as", 5, reshape_as, by_parts},
    {"aten::view_copy", 5, reshape<"size">, by_parts},
    {"aten::view_copy.dtype", 5, view_as_dtype},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> shape_table() { return kTable; }

}  // namespace pt2onnx
