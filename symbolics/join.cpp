// Several tensors become one, or several of one shape.
#include <algorithm>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

/// In their common dtype.
std::vector<Value> same_dtype(Call& c, const std::vector<Value>& tensors) {
  const DType dtype = result_type(c, std::vector<Operand>(tensors.begin(), tensors.end()));
  std::vector<Value> result;
  for (const Value x : tensors) result.push_back(onnx::cast(c, x, dtype));
  return result;
}

Value joined(Call& c, std::vector<Value> tensors, std::int64_t axis) {
  tensors = same_dtype(c, tensors);
  // A 1-d tensor without elements may stand among tensors of any rank, and adds nothing.
  const auto adds_nothing = [&](Value x) { return c.rank(x) == 1 && c.shape(x)[0] == 0; };
  std::vector<Value> kept;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(kept),
               [&](Value x) { return !adds_nothing(x); });
  if (kept.empty()) return tensors.front();
  return onnx::concat(c, kept, axis);
}

// aten::cat(Tensor[] tensors, int dim=0) -> Tensor
Results cat(Call& c) { return joined(c, c.tensors("tensors"), c.integer("dim")); }

// aten::stack(Tensor[] tensors, int dim=0) -> Tensor
Results stack(Call& c) {
  std::vector<Value> tensors = same_dtype(c, c.tensors("tensors"));
  if (tensors.empty()) c.reject("stacks an empty list");
  const auto axis = c.axis("dim", c.rank(tensors.front()) + 1);
  for (Value& x : tensors) x = onnx::unsqueeze(c, x, {axis});
  return onnx::concat(c, tensors, axis);
}

std::vector<Value> tensors_of_rank(Call& c, std::size_t rank) {
  std::vector<Value> tensors = c.tensors("tensors");
  if (tensors.empty()) c.reject("stacks an empty list");
  for (Value& x : tensors) x = onnx::at_least_dims(c, x, rank);
  return tensors;
}

// aten::hstack(Tensor[] tensors) -> Tensor
Results hstack(Call& c) {
  const auto tensors = tensors_of_rank(c, 1);
  return joined(c, tensors, c.rank(tensors.front()) == 1 ? 0 : 1);
}

Results vstack(Call& c) { return joined(c, tensors_of_rank(c, 2), 0); }
Results dstack(Call& c) { return joined(c, tensors_of_rank(c, 3), 2); }

// aten::column_stack(Tensor[] tensors) -> Tensor
Results column_stack(Call& c) {
  std::vector<Value> tensors = tensors_of_rank(c, 1);
  for (Value& x : tensors)
    if (c.rank(x) == 1) x = onnx::unsqueeze(c, x, {1});
  return joined(c, tensors, 1);
}

/// Each tensor spread over the product of all; `columns_first` exchanges the first two dims.
std::vector<Value> grid_of(Call& c, std::vector<Value> tensors, bool columns_first) {
  columns_first = columns_first && tensors.size() >= 2;
  Shape shape;
  for (Value& x : tensors) {
    x = onnx::flatten_all(c, x);
    shape.push_back(c.size_of(x, 0));
  }
  if (columns_first) std::swap(shape[0], shape[1]);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t axis = columns_first && i < 2 ? 1 - i : i;
    Shape own(shape.size(), Dim(1));
    own[axis] = shape[axis];
    tensors[i] = onnx::expand(c, onnx::reshape(c, tensors[i], own), shape);
  }
  return tensors;
}

// aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]
Results meshgrid(Call& c) {
  return Results::list(grid_of(c, c.tensors("tensors"), c.has("indexing") && c.text("indexing") == "xy"));
}

// aten::block_diag(Tensor[] tensors) -> Tensor
Results block_diag(Call& c) {
  std::vector<Value> blocks = same_dtype(c, tensors_of_rank(c, 2));
  Dim width = 0, before = 0;
  for (const Value x : blocks) width = width + c.size_of(x, 1);
  for (Value& x : blocks) {
    const Dim own = c.size_of(x, 1);
    x = onnx::pad(c, x, {{0, 0}, {before, width - before - own}});
    before = before + own;
  }
  return onnx::concat(c, blocks, 0);
}

// aten::cartesian_prod(Tensor[] tensors) -> Tensor
Results cartesian_prod(Call& c) {
  std::vector<Value> tensors = c.tensors("tensors");
  if (tensors.size() == 1) return tensors.front();
  const std::vector<Value> grid = grid_of(c, tensors, false);
  std::vector<Value> columns;
  for (const Value x : grid) columns.push_back(onnx::unsqueeze(c, onnx::flatten_all(c, x), {1}));
  return onnx::concat(c, columns, 1);
}

/// The places of r of n elements, in lexical order, one after another.
std::vector<std::int64_t> chosen(std::int64_t n, std::int64_t r, bool with_replacement) {
  std::vector<std::int64_t> all, places(static_cast<std::size_t>(r));
  for (std::int64_t i = 0; i < r; ++i) places[static_cast<std::size_t>(i)] = with_replacement ? 0 : i;
  const auto last = [&](std::int64_t i) { return with_replacement ? n - 1 : n - r + i; };
  if (n == 0 || (!with_replacement && r > n)) return all;
  for (;;) {
    all.insert(all.end(), places.begin(), places.end());
    std::int64_t i = r - 1;
    while (i >= 0 && places[static_cast<std::size_t>(i)] == last(i)) --i;
    if (i < 0) return all;
    std::int64_t next = ++places[static_cast<std::size_t>(i)];
    for (++i; i < r; ++i) places[static_cast<std::size_t>(i)] = with_replacement ? next : ++next;
  }
}

// aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor
Results combinations(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t r = c.integer("r");
  const auto size = c.size_of(x, 0).known();
  if (!size) c.reject("combines the elements of a dynamic dim");
  if (r == 0) return c.constant(Tensor::of_ints({}, {0}, c.dtype_of(x)));
  const auto places = chosen(*size, r, c.flag("with_replacement"));
  const auto rows = static_cast<std::int64_t>(places.size()) / r;
  return onnx::gather(c, x, c.constant(Tensor::of_ints(places, {rows, r})), 0);
}

// aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side="right")
Results pad_sequence(Call& c) {
  std::vector<Value> sequences = c.tensors("sequences");
  if (sequences.empty()) c.reject("pads an empty list of sequences");
  Dim longest = 0;
  for (const Value x : sequences) longest = max(longest, c.size_of(x, 0));
  const bool left = c.text("padding_side") == "left";
  const Value fill = onnx::constant_like(c, c.number("padding_value"), sequences.front());
  for (Value& x : sequences) {
    const Dim missing = longest - c.size_of(x, 0);
    std::vector<std::pair<Dim, Dim>> pads(c.rank(x), {0, 0});
    (left ? pads[0].first : pads[0].second) = missing;
    x = onnx::unsqueeze(c, onnx::pad(c, x, pads, "constant", fill), {c.flag("batch_first") ? 0 : 1});
  }
  return onnx::concat(c, sequences, c.flag("batch_first") ? 0 : 1);
}

constexpr Entry kTable[] = {
    {"aten::block_diag", 4, block_diag, by_parts},
    {"aten::cartesian_prod", 8, cartesian_prod, by_parts},
    {"aten::cat", 4, cat, by_parts},
    {"aten::column_stack", 5, column_stack, by_parts},
    {"aten::combinations", 1, combinations, by_parts},
    {"aten::concat", 4, cat, by_parts},
    {"aten::concatenate", 4, cat, by_parts},
    {"aten::dstack", 5, dstack, by_parts},
    {"aten::hstack", 5, hstack, by_parts},
    {"aten::meshgrid", 8, meshgrid, by_parts},
    {"aten::pad_sequence", 4, pad_sequence},
    {"aten::row_stack", 5, vstack, by_parts},
    {"aten::stack", 4, stack, by_parts},
    {"aten::vstack", 5, vstack, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> join_table() { return kTable; }

}  // namespace pt2onnx
