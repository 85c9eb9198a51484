// Running sums, products and extremes along a dim.
#include <functional>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Combine = std::function<Value(Value, Value)>;

/// The running combination of a dim of known size by doubling: after the step of width w each place holds what its
/// 2w last places give. `neutral` changes nothing when combined.
Value doubled(Call& c, Value x, std::int64_t axis, std::int64_t size, Value neutral, const Combine& combine) {
  for (std::int64_t width = 1; width < size; width *= 2) {
    std::vector<std::pair<Dim, Dim>> pads(c.rank(x), {0, 0});
    pads[static_cast<std::size_t>(axis)] = {width, -width};
    x = combine(onnx::pad(c, x, pads, "constant", neutral), x);
  }
  return x;
}

std::int64_t known_size(Call& c, Value x, std::int64_t axis) {
  const auto size = c.size_of(x, axis).known();
  if (!size) c.reject("runs along a dynamic dim", "keep that dim static: leave it out of --dynamic");
  return *size;
}

Value running_operand(Call& c) {
  const Value x = c.tensor("self");
  if (const auto dtype = c.dtype("dtype")) return onnx::cast(c, x, *dtype);
  return is_floating(c.dtype_of(x)) ? x : onnx::cast(c, x, DType::Int64);
}

// aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
Results cumsum(Call& c) {
  const Value x = running_operand(c);
  return onnx::cumulative_sum(c, x, c.axis("dim", c.rank(x)));
}

// aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
Results cumprod(Call& c) {
  const Value x = running_operand(c);
  if (c.rank(x) == 0) return x;
  return c.op("CumProd", {x, c.constant(static_cast<double>(c.axis("dim", c.rank(x))), DType::Int64)});
}

Results cumprod_by_parts(Call& c) {
  const Value x = running_operand(c);
  if (c.rank(x) == 0) return x;
  const auto axis = c.axis("dim", c.rank(x));
  if (const auto size = c.size_of(x, axis).known())
    return doubled(c, x, axis, *size, onnx::constant_like(c, 1, x),
                   [&](Value a, Value b) { return onnx::mul(c, a, b); });
  // One product after another, along the dim brought to the front.
  const Value moved = onnx::swap_axes(c, x, axis, 0);
  Shape slice = c.sizes_of(moved);
  slice.erase(slice.begin());
  const Value ones = onnx::full(c, slice, 1, c.dtype_of(x));
  const auto results = c.scan({ones}, {moved}, 1, [&](std::vector<Value> in) {
    const Value product = onnx::mul(c, in[0], in[1]);
    return std::vector<Value>{product, product};
  });
  c.set_shape(results[1], c.sizes_of(moved));
  return onnx::swap_axes(c, results[1], axis, 0);
}

// aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices): of equal elements the last one counts
template <bool Maximum>
Results running_extreme(Call& c) {
  const Value x = c.tensor("self");
  if (c.rank(x) == 0) return {x, c.constant(0, DType::Int64)};
  const auto axis = c.axis("dim", c.rank(x));
  const std::int64_t size = known_size(c, x, axis);
  const auto further = [&](Value a, Value b) {
    return Maximum ? onnx::maximum(c, a, b) : onnx::minimum(c, a, b);
  };
  // The first element is as good as neutral: it takes part in every running extreme.
  Value values = x;
  for (std::int64_t width = 1; width < size; width *= 2) {
    std::vector<std::pair<Dim, Dim>> pads(c.rank(x), {0, 0});
    pads[static_cast<std::size_t>(axis)] = {width, -width};
    values = further(onnx::pad(c, values, pads, "edge"), values);
  }
  Shape along(c.rank(x), Dim(1));
  along[static_cast<std::size_t>(axis)] = size;
  const Value place = onnx::reshape(c, onnx::range(c, 0, size), along);
  const Value zero = c.constant(0, DType::Int64);
  const Value reached =
      onnx::where(c, onnx::equal(c, x, values), onnx::expand(c, place, c.sizes_of(x)), zero);
  const Value indices =
      doubled(c, reached, axis, size, zero, [&](Value a, Value b) { return onnx::maximum(c, a, b); });
  return {values, indices};
}

// aten::logcumsumexp(Tensor self, int dim) -> Tensor
Results logcumsumexp(Call& c) {
  const Value x = float_tensor(c, "self");
  if (c.rank(x) == 0) return x;
  const auto axis = c.axis("dim", c.rank(x));
  const Value none = onnx::constant_like(c, -std::numeric_limits<double>::infinity(), x);
  const Value zero = onnx::constant_like(c, 0, x), one = onnx::constant_like(c, 1, x);
  return doubled(c, x, axis, known_size(c, x, axis), none, [&](Value a, Value b) {
    const Value same = onnx::equal(c, a, b);  // two infinities have no difference
    const Value gap = onnx::where(c, same, zero, onnx::abs(c, onnx::sub(c, a, b)));
    const Value rise = onnx::log(c, onnx::add(c, onnx::exp(c, onnx::neg(c, gap)), one));
    return onnx::add(c, onnx::maximum(c, a, b), rise);
  });
}

constexpr Entry kTable[] = {
    {"aten::cummax", 9, running_extreme<true>}, {"aten::cummin", 9, running_extreme<false>},
    {"aten::cumprod", 9, cumprod_by_parts},     {"aten::cumprod", 26, cumprod},
    {"aten::cumsum", 9, cumsum, by_parts},      {"aten::logcumsumexp", 9, logcumsumexp},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> scan_table() { return kTable; }

}  // namespace pt2onnx
