// Comparisons.
#include <cmath>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

/// Whether every element is true, as a 0-d bool.
Value all_of(Call& c, Value x) { return onnx::extreme(c, false, x, onnx::all_axes(c, x), false); }

// aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor
Value close(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  const Value same = onnx::equal(c, a, b);
  if (!is_floating(c.dtype_of(a)) && c.number("rtol") == 0 && c.number("atol") < 1) return same;
  // Integers are compared as real numbers.
  const bool real = is_floating(c.dtype_of(a));
  const Value x = real ? a : onnx::cast(c, a, DType::Float64),
              y = real ? b : onnx::cast(c, b, DType::Float64);
  const auto number = [&](double v) { return onnx::constant_like(c, v, x); };
  const Value allowed =
      onnx::add(c, number(c.number("atol")), onnx::mul(c, number(c.number("rtol")), onnx::abs(c, y)));
  const Value gap = onnx::abs(c, onnx::sub(c, x, y));
  // An infinite gap is within an infinite allowance, yet not close.
  const Value finite = onnx::less(c, gap, number(std::numeric_limits<double>::infinity()));
  Value result = onnx::logical_or(c, same, onnx::logical_and(c, finite, onnx::less_equal(c, gap, allowed)));
  if (c.flag("equal_nan"))
    result = onnx::logical_or(c, result, onnx::logical_and(c, onnx::is_nan(c, x), onnx::is_nan(c, y)));
  return result;
}

Results isclose(Call& c) { return close(c); }

// aten::allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool
Results allclose(Call& c) { return Scalar(Scalar::Kind::Bool, all_of(c, close(c))); }

// aten::equal(Tensor self, Tensor other) -> bool
Results equal_tensors(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  const Shape &left = c.shape(a), &right = c.shape(b);
  bool same_shape = left.size() == right.size();
  for (std::size_t i = 0; same_shape && i < left.size(); ++i) {
    const auto same = provably_equal(left[i], right[i]);
    if (!same) c.reject("compares tensors whose shapes agree for some inputs only");
    same_shape = *same;
  }
  if (!same_shape) return Scalar(false);
  return Scalar(Scalar::Kind::Bool, all_of(c, onnx::equal(c, a, b)));
}

// aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False)
Results isin(Call& c) {
  // One of the two may be a number, which then has a name of its own.
  const auto [elements, tests] = promoted(c, c.has("elements") ? "elements" : "element",
                                          c.has("test_elements") ? "test_elements" : "test_element");
  const Value list = onnx::flatten_all(c, tests);
  const auto last = static_cast<std::int64_t>(c.rank(elements));
  const Value hits = onnx::equal(c, onnx::unsqueeze(c, elements, {last}), list);
  const Value found = onnx::extreme(c, true, hits, {last}, false);
  return c.flag("invert") ? onnx::logical_not(c, found) : found;
}

constexpr Entry kTable[] = {
    {"aten::allclose", 9, allclose},
    {"aten::eq", 7, of_both<onnx::equal>},
    {"aten::equal", 7, equal_tensors},
    {"aten::ge", 7, of_both<onnx::greater_equal>},
    {"aten::greater", 7, of_both<onnx::greater>},
    {"aten::greater_equal", 7, of_both<onnx::greater_equal>},
    {"aten::gt", 7, of_both<onnx::greater>},
    {"aten::isclose", 9, isclose},
    {"aten::isin", 9, isin},
    {"aten::le", 7, of_both<onnx::less_equal>},
    {"aten::less", 7, of_both<onnx::less>},
    {"aten::less_equal", 7, of_both<onnx::less_equal>},
    {"aten::lt", 7, of_both<onnx::less>},
    {"aten::ne", 7, of_both<onnx::not_equal>},
    {"aten::not_equal", 7, of_both<onnx::not_equal>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> compare_table() { return kTable; }

}  // namespace pt2onnx
