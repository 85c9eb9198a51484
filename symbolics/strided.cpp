// Tensors given by sizes and strides in memory. The elements of the input lie there row by row: the interpreter
// refuses those of which it does not know that (tensor_builtins.cpp).
#include <algorithm>

#include "onnx.h"
#include "tables.h"

namespace pt2onnx {
namespace {

/// Where the elements lie, counted from the beginning of the input.
Value memory_places(Call& c) {
  const Shape sizes = c.sizes("size"), strides = c.sizes("stride");
  const auto rank = static_cast<std::int64_t>(sizes.size());
  Value places = c.size_value(c.optional_size("storage_offset").value_or(Dim(0)));
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const Value steps = onnx::mul(c, onnx::range(c, 0, sizes[at]), c.size_value(strides[at]));
    std::vector<std::int64_t> later;
    for (std::int64_t i = 1; i < rank - axis; ++i) later.push_back(i);
    places = onnx::add(c, places, onnx::unsqueeze(c, steps, later));
  }
  return places;
}

// aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)
Results as_strided(Call& c) {
  const Value places = memory_places(c);
  const Value result = onnx::gather(c, onnx::flatten_all(c, c.tensor("self")), places, 0);
  c.set_shape(result, c.sizes("size"));
  return result;
}

// aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor
Results as_strided_scatter(Call& c) {
  const Value x = c.tensor("self");
  const Value places = onnx::flatten_all(c, memory_places(c));
  const Value source = onnx::flatten_all(c, onnx::cast(c, c.tensor("src"), c.dtype_of(x)));
  const Value written = c.op(c.has_opset(11) ? "ScatterElements" : "Scatter",
                             {onnx::flatten_all(c, x), places, source}, {{"axis", 0}});
  return onnx::reshape(c, written, c.sizes_of(x));
}

constexpr Entry kTable[] = {
    {"aten::as_strided", 9, as_strided, by_parts},
    {"aten::as_strided_copy", 9, as_strided, by_parts},
    {"aten::as_strided_scatter", 9, as_strided_scatter},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> strided_table() { return kTable; }

}  // namespace pt2onnx
