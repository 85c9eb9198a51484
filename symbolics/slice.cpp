// Parts of a tensor, and the parts put together in another order.
#include <algorithm>
#include <numeric>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Ints = std::vector<std::int64_t>;
using onnx::kEnd;

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// ---- one part ------------------------------------------------------------------------------------------------------

// aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)
Results slice(Call& c) {
  const Value x = c.tensor("self");
  return onnx::slice(c, x, c.axis("dim", c.rank(x)), c.optional_size("start").value_or(0),
                     c.optional_size("end").value_or(kEnd), c.integer("step"));
}

// aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)
Results select(Call& c) {
  const Value x = c.tensor("self");
  if (c.rank(x) == 0) c.reject("selects from a tensor without dims");
  return onnx::select(c, x, c.axis("dim", c.rank(x)), c.size("index"));
}

// aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)
// aten::narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)
Results narrow(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  Dim start = c.size("start");
  if (start.known().value_or(0) < 0) start = start + c.size_of(x, axis);
  return onnx::slice(c, x, axis, start, start + c.size("length"));
}

// aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)
Value diagonal_of(Call& c, Value x, std::int64_t offset, std::int64_t rows, std::int64_t columns) {
  const std::size_t rank = c.rank(x);
  Ints order;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i)
    if (i != rows && i != columns) order.push_back(i);
  order.insert(order.end(), {rows, columns});
  x = onnx::transpose(c, x, order);

  Shape shape = c.sizes_of(x);
  const Dim height = shape[rank - 2], width = shape[rank - 1];
  const Dim length = max(offset >= 0 ? min(height, width - offset) : min(height + offset, width), 0);
  shape.pop_back();
  shape.back() = height * width;
  const Value flat = onnx::reshape(c, x, shape);
  // The diagonal is every (width + 1)-th element from its first one on.
  const Dim first = offset >= 0 ? Dim(offset) : width * -offset;
  const Dim step = width + 1;
  Value places;
  if (step.is_static()) {
    places = onnx::range(c, first, first + length * step, *step.known());
  } else {
    places = onnx::mul(c, onnx::range(c, 0, length), c.size_value(step));
    if (first != 0) places = onnx::add(c, places, c.size_value(first));
  }
  const Value result = onnx::gather(c, flat, places, -1);
  shape.back() = length;
  c.set_shape(result, shape);
  return result;
}

// aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)
template <onnx::Name Source>
Results diagonal(Call& c) {
  const Value x = c.tensor(Source.text);
  return diagonal_of(c, x, c.integer("offset"), c.axis("dim1", c.rank(x)), c.axis("dim2", c.rank(x)));
}

// aten::trace(Tensor self) -> Tensor
Results trace(Call& c) {
  const Value x = c.tensor("self");
  const Value diagonal = diagonal_of(c, x, 0, 0, 1);
  const bool counted = !is_floating(c.dtype_of(x));
  return onnx::reduce(c, "ReduceSum", counted ? onnx::cast(c, diagonal, DType::Int64) : diagonal, {0}, false);
}

// aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor
Value diagonal_matrix(Call& c, Value x, std::int64_t offset, std::int64_t rows, std::int64_t columns) {
  const auto last = static_cast<std::int64_t>(c.rank(x)) - 1;
  const Dim size = c.size_of(x, last) + std::abs(offset);
  // Each row holds the padded vector; only where column - row is the offset does it stay.
  std::vector<std::pair<Dim, Dim>> pads(c.rank(x), {0, 0});
  pads.back() = offset >= 0 ? std::pair<Dim, Dim>(offset, 0) : std::pair<Dim, Dim>(0, -offset);
  const Value row = onnx::unsqueeze(c, onnx::pad(c, x, pads), {last});
  const Value kept = onnx::equal(c, onnx::unsqueeze(c, onnx::range(c, 0, size), {0}),
                                 onnx::unsqueeze(c, onnx::range(c, offset, size + offset), {1}));
  const bool logical = c.dtype_of(x) == DType::Bool;
  const Value matrix =
      logical ? onnx::logical_and(c, kept, row) : onnx::where(c, kept, row, onnx::constant_like(c, 0, x));

  const std::size_t rank = c.rank(x) + 1;
  Ints order(rank, -1);
  order[at(rows)] = static_cast<std::int64_t>(rank) - 2;
  order[at(columns)] = static_cast<std::int64_t>(rank) - 1;
  std::int64_t next = 0;
  for (auto& axis : order)
    if (axis < 0) axis = next++;
  return onnx::transpose(c, matrix, order);
}

Results diag_embed(Call& c) {
  const Value x = c.tensor("self");
  const std::size_t rank = c.rank(x) + 1;
  return diagonal_matrix(c, x, c.integer("offset"), c.axis("dim1", rank), c.axis("dim2", rank));
}

// aten::diag(Tensor self, int diagonal=0) -> Tensor
Results diag(Call& c) {
  const Value x = c.tensor("self");
  if (c.rank(x) == 1) return diagonal_matrix(c, x, c.integer("diagonal"), 0, 1);
  return diagonal_of(c, x, c.integer("diagonal"), 0, 1);
}

// aten::diagflat(Tensor self, int offset=0) -> Tensor
Results diagflat(Call& c) {
  return diagonal_matrix(c, onnx::flatten_all(c, c.tensor("self")), c.integer("offset"), 0, 1);
}

/// 0, 1, ... along one axis of a tensor of that rank.
Value places_along(Call& c, const Dim& size, std::size_t axis, std::size_t rank) {
  Ints others;
  for (std::size_t i = 0; i < rank; ++i)
    if (i != axis) others.push_back(static_cast<std::int64_t>(i));
  return onnx::unsqueeze(c, onnx::range(c, 0, size), others);
}

// aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)
Results fill_diagonal(Call& c) {
  const Value x = c.tensor("self");
  const Shape shape = c.sizes_of(x);
  Value first = places_along(c, shape[0], 0, shape.size());
  if (c.flag("wrap") && shape.size() == 2) {
    // Below a square, the diagonal begins anew after one row that is left out.
    const Value period = c.size_value(shape[1] + 1);
    first = onnx::sub(c, first, onnx::mul(c, onnx::div(c, first, period), period));
  }
  std::optional<Value> on_diagonal;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) {
    const Value here = onnx::equal(c, first, places_along(c, shape[axis], axis, shape.size()));
    on_diagonal = on_diagonal ? onnx::logical_and(c, *on_diagonal, here) : here;
  }
  return onnx::where(c, *on_diagonal, c.constant(c.number("fill_value"), c.dtype_of(x)), x);
}

// aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)
Results unfold(Call& c) {
  const Value x = c.tensor("self");
  if (c.rank(x) == 0) return onnx::reshape(c, x, {1});  // the one window that there can be
  const auto axis = c.axis("dimension", c.rank(x));
  const std::int64_t size = c.integer("size"), step = c.integer("step");
  const Dim windows = floor_div(c.size_of(x, axis) - size, step) + 1;
  const Value starts = onnx::unsqueeze(c, onnx::range(c, 0, windows * step, step), {1});
  const Value places = onnx::add(c, starts, onnx::unsqueeze(c, onnx::range(c, 0, size), {0}));
  Ints order(c.rank(x) + 1);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + axis + 1, order.begin() + axis + 2, order.end());  // the window goes to the end
  return onnx::transpose(c, onnx::gather(c, x, places, axis), order);
}

// ---- all parts -----------------------------------------------------------------------------------------------------

/// Parts of one size, the last one perhaps smaller.
Results split_evenly(Call& c, Value x, std::int64_t axis, const Dim& part) {
  const Dim size = c.size_of(x, axis);
  const auto count = (part == 0 ? Dim(1) : max(ceil_div(size, part), 1)).known();
  if (!count) c.reject("splits a dynamic dim into a number of parts that depends on its size");
  Shape sizes(at(*count), part);
  sizes.back() = size - part * (*count - 1);
  return Results::list(onnx::split(c, x, axis, sizes));
}

Results split_to_sizes(Call& c, Value x, std::int64_t axis, const Shape& sizes) {
  return Results::list(onnx::split(c, x, axis, sizes));
}

// aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]
Results split(Call& c) {
  const Value x = c.tensor("self");
  return split_evenly(c, x, c.axis("dim", c.rank(x)), c.size("split_size"));
}

// aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]
template <onnx::Name Sizes>
Results split_with_sizes(Call& c) {
  const Value x = c.tensor("self");
  return split_to_sizes(c, x, c.axis("dim", c.rank(x)), c.sizes(Sizes.text));
}

// aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
Results chunk(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  const std::int64_t chunks = c.integer("chunks");
  const Dim size = c.size_of(x, axis);
  const Dim part = ceil_div(size, chunks);
  if (size.is_static() || chunks == 1) return split_evenly(c, x, axis, part);
  // Of a dynamic size there may be fewer chunks than asked for, unless it divides evenly or there are two.
  if (chunks != 2 && mod(size, chunks) != 0)
    c.reject("cuts a dynamic dim into a number of chunks that depends on its size");
  Shape sizes(at(chunks), part);
  sizes.back() = size - part * (chunks - 1);
  return split_to_sizes(c, x, axis, sizes);
}

/// Cut at the given places, as numpy.array_split.
Results split_at(Call& c, Value x, std::int64_t axis, const Ints& places) {
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const auto place : places) {
    parts.push_back(onnx::slice(c, x, axis, start, place));
    start = place;
  }
  parts.push_back(onnx::slice(c, x, axis, start, kEnd));
  return Results::list(parts);
}

/// Sections of nearly one size, the first ones larger by one where it does not come out even.
Results split_to_sections(Call& c, Value x, std::int64_t axis, std::int64_t sections) {
  const Dim size = c.size_of(x, axis);
  Shape sizes;
  for (std::int64_t i = 0; i < sections; ++i) sizes.push_back(floor_div(size + (sections - 1 - i), sections));
  return split_to_sizes(c, x, axis, sizes);
}

// aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]
// aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]
// aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0)
Results tensor_split(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  if (c.has("sections")) return split_to_sections(c, x, axis, c.integer("sections"));
  if (c.has("indices")) return split_at(c, x, axis, c.ints("indices"));
  const Tensor* places = c.tensor("tensor_indices_or_sections").constant();
  if (!places) c.reject("splits at places that the graph computes");
  if (places->dims.empty()) return split_to_sections(c, x, axis, places->to_ints().front());
  return split_at(c, x, axis, places->to_ints());
}

// aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]
// aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]
template <std::int64_t Axis>
Results split_along(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t axis = c.rank(x) == 1 ? 0 : Axis;
  if (c.has("sections")) return split_to_sections(c, x, axis, c.integer("sections"));
  return split_at(c, x, axis, c.ints("indices"));
}

// aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
Results unbind(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  const auto count = c.size_of(x, axis).known();
  if (!count) c.reject("takes a dynamic dim apart into single tensors");
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < *count; ++i) parts.push_back(onnx::select(c, x, axis, i));
  return Results::list(parts);
}

// ---- another order -------------------------------------------------------------------------------------------------

// aten::flip(Tensor self, int[] dims) -> Tensor
Results flip(Call& c) {
  const Value x = c.tensor("self");
  return onnx::reverse(c, x, c.axes("dims", c.rank(x), true));
}

Results fliplr(Call& c) { return onnx::reverse(c, c.tensor("self"), {1}); }
Results flipud(Call& c) { return onnx::reverse(c, c.tensor("self"), {0}); }

Value rolled(Call& c, Value x, std::int64_t axis, const Dim& shift) {
  const Dim size = c.size_of(x, axis);
  // Where the tensor is cut: what stands behind goes to the front.
  Dim cut;
  if (shift.is_static() && size.is_static()) {
    if (size == 0) return x;
    cut = mod(-shift, size);
  } else if (shift.lower_bound().value_or(-1) >= 0 && provably_less(size, shift) == false) {
    cut = size - shift;
  } else if (shift.upper_bound().value_or(1) <= 0 && provably_less(size, -shift) == false) {
    cut = -shift;
  } else {
    cut = mod(-shift, size);
  }
  if (cut == 0) return x;
  const Value result =
      onnx::concat(c, {onnx::slice(c, x, axis, cut, kEnd), onnx::slice(c, x, axis, 0, cut)}, axis);
  c.set_shape(result, c.shape(x));
  return result;
}

// aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor
Results roll(Call& c) {
  Value x = c.tensor("self");
  if (c.rank(x) == 0) return x;
  const Shape shifts = c.sizes("shifts");
  const Ints dims = c.ints("dims");
  if (dims.empty()) {
    const Shape shape = c.sizes_of(x);
    return onnx::reshape(c, rolled(c, onnx::flatten_all(c, x), 0, shifts.at(0)), shape);
  }
  if (shifts.size() != dims.size()) c.reject("rolls as many dims as it names shifts for");
  for (std::size_t i = 0; i < dims.size(); ++i)
    x = rolled(c, x, c.normalize_axis(dims[i], c.rank(x)), shifts[i]);
  return x;
}

// aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor
Results rot90(Call& c) {
  const Value x = c.tensor("self");
  const Ints dims = c.ints("dims", 2);
  const std::int64_t turns = ((c.integer("k") % 4) + 4) % 4;
  if (turns == 0) return x;
  if (turns == 2) return onnx::reverse(c, x, dims);
  const Value flipped = onnx::reverse(c, x, {turns == 1 ? dims[1] : dims[0]});
  return onnx::swap_axes(c, flipped, dims[0], dims[1]);
}

// aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor
Results diff(Call& c) {
  Value x = c.tensor("self");
  if (c.integer("n") == 0) return x;  // whatever stands before or behind
  const auto axis = c.axis("dim", c.rank(x));
  std::vector<Value> parts{x};
  if (const Value before = c.optional_tensor("prepend")) parts.insert(parts.begin(), before);
  if (const Value after = c.optional_tensor("append")) parts.push_back(after);
  x = onnx::concat(c, parts, axis);
  for (std::int64_t i = 0; i < c.integer("n"); ++i) {
    const Value later = onnx::slice(c, x, axis, 1, kEnd), earlier = onnx::slice(c, x, axis, 0, -1);
    x = c.dtype_of(x) == DType::Bool ? c.op("Xor", {later, earlier}) : onnx::sub(c, later, earlier);
  }
  return x;
}

constexpr Entry kTable[] = {
    {"aten::chunk", 2, chunk, by_parts},
    {"aten::diag", 9, diag, by_parts},
    {"aten::diag_embed", 9, diag_embed, by_parts},
    {"aten::diagflat", 9, diagflat, by_parts},
    {"aten::diagonal", 1, diagonal<"self">, by_parts},
    {"aten::diagonal_copy", 1, diagonal<"self">, by_parts},
    {"aten::diff", 7, diff, by_parts},
    {"aten::dsplit", 2, split_along<2>, by_parts},
    {"aten::fill_diagonal", 9, fill_diagonal},
    {"aten::flip", 9, flip, by_parts},
    {"aten::fliplr", 9, fliplr, by_parts},
    {"aten::flipud", 9, flipud, by_parts},
    {"aten::hsplit", 2, split_along<1>, by_parts},
    {"aten::linalg_diagonal", 1, diagonal<"A">, by_parts},
    {"aten::narrow", 1, narrow, by_parts},
    {"aten::narrow_copy", 1, narrow, by_parts},
    {"aten::roll", 4, roll, by_parts},
    {"aten::rot90", 9, rot90, by_parts},
    {"aten::select", 1, select, by_parts},
    {"aten::select_copy", 1, select, by_parts},
    {"aten::slice", 1, slice, by_parts},
    {"aten::slice_copy", 1, slice, by_parts},
    {"aten::split.Tensor", 2, split, by_parts},
    {"aten::split.sizes", 2, split_with_sizes<"split_size">, by_parts},
    {"aten::split_copy", 2, split, by_parts},
    {"aten::split_with_sizes", 2, split_with_sizes<"split_sizes">, by_parts},
    {"aten::split_with_sizes_copy", 2, split_with_sizes<"split_sizes">, by_parts},
    {"aten::tensor_split", 2, tensor_split, by_parts},
    {"aten::trace", 1, trace, by_parts},
    {"aten::unbind", 1, unbind, by_parts},
    {"aten::unbind_copy", 1, unbind, by_parts},
    {"aten::unfold", 1, unfold, by_parts},
    {"aten::unfold_copy", 1, unfold, by_parts},
    {"aten::unsafe_chunk", 2, chunk, by_parts},
    {"aten::unsafe_split.Tensor", 2, split, by_parts},
    {"aten::unsafe_split_with_sizes", 2, split_with_sizes<"split_sizes">, by_parts},
    {"aten::vsplit", 2, split_along<0>, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> slice_table() { return kTable; }

}  // namespace pt2onnx
