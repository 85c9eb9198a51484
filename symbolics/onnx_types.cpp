// Casts, small constants and filled tensors.
#include <cstring>

#include "symbolics/onnx.h"

namespace pt2onnx::onnx {
namespace {

// Up to this many elements a filled tensor is a constant of its own, above it is a ConstantOfShape.
constexpr std::int64_t kSmallTensor = 64;

Tensor one_element(const Scalar& value, DType dtype) {
  const auto integer = value.integer();
  Tensor tensor = integer ? Tensor::scalar(*integer, dtype) : Tensor::scalar(*value.number(), dtype);
  tensor.dims = {1};
  return tensor;
}

Tensor repeated(const Tensor& element, std::vector<std::int64_t> dims) {
  std::size_t count = 1;
  for (const auto d : dims) count *= static_cast<std::size_t>(d);
  const std::size_t width = element.bytes.size();
  std::vector<std::byte> bytes(width * count);
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * width, element.bytes.data(), width);
  return Tensor::of_bytes(std::move(bytes), std::move(dims), element.dtype);
}

}  // namespace

Value cast(Call& c, Value x, DType to) { return c.cast(x, to); }

Value constant_like(Call& c, double value, Value like) { return c.constant(value, c.dtype_of(like)); }

std::optional<double> constant_number(Value x) {
  const Tensor* tensor = x ? x.constant() : nullptr;
  if (!tensor || tensor->numel() != 1 || is_complex(tensor->dtype) || tensor->dtype == DType::String)
    return std::nullopt;
  return tensor->to_doubles().front();
}

Argument int_list(std::span<const std::int64_t> ints) {
  Argument::List list;
  for (const auto i : ints) list.emplace_back(Scalar(i));
  return list;
}

Value range(Call& c, const Dim& start, const Dim& end, std::int64_t step) {
  if (step <= 0) c.reject("counts by a step that is not positive");
  const auto first = start.known();
  const auto last = end.known();
  const Dim length = max(ceil_div(end - start, step), 0);
  if (first && last) {
    std::vector<std::int64_t> values;
    for (auto i = *first; i < *last; i += step) values.push_back(i);
    return c.constant(values);
  }
  Value result;
  if (c.has_opset(11)) {
    result = c.op("Range", {c.size_value(start), c.size_value(end),
                            c.constant(static_cast<double>(step), DType::Int64)});
  } else {
    // The places of the ones in a tensor of ones are 0, 1, 2, ...
    const Value ones =
        c.op("ConstantOfShape", {c.shape_value({length})}, {{"value", one_element(Scalar(1), DType::Int64)}});
    result = reshape(c, c.op("NonZero", {ones}), {length});
    if (step != 1) result = mul(c, result, c.constant(static_cast<double>(step), DType::Int64));
    if (first != 0) result = add(c, result, c.size_value(start));
  }
  c.set_shape(result, {length});
  return result;
}

Value full(Call& c, const Shape& shape, const Scalar& value, DType dtype) {
  if (!value.number()) return expand(c, c.scalar_value(value, dtype), shape);
  const auto dims = static_shape(shape);
  const Tensor element = one_element(value, dtype);
  if (dims && product(shape).known().value_or(0) <= kSmallTensor) return c.constant(repeated(element, *dims));
  // The attribute cannot be cast around: bfloat16 is not among its types below 20.
  if (dtype == DType::BFloat16 && !c.has_opset(20))
    return cast(c, full(c, shape, value, DType::Float32), dtype);
  const Value result = c.op("ConstantOfShape", {c.shape_value(shape)}, {{"value", element}});
  c.set_shape(result, shape);
  return result;
}

Value full_like(Call& c, Value x, const Scalar& value, std::optional<DType> dtype) {
  const DType to = dtype.value_or(c.dtype_of(x));
  if (x.shape()) return full(c, c.sizes_of(x), value, to);
  return expand_as(c, c.scalar_value(value, to), x);
}

Value expand_as(Call& c, Value x, Value like) {
  if (like.shape()) return expand(c, x, c.sizes_of(like));
  return c.op("Expand", {x, c.op("Shape", {like})});
}

Value triangle(Call& c, const Dim& rows, const Dim& columns, const Dim& diagonal, bool upper) {
  const Value row = unsqueeze(c, range(c, diagonal, rows + diagonal), {1});
  const Value column = unsqueeze(c, range(c, 0, columns), {0});
  return upper ? greater_equal(c, column, row) : less_equal(c, column, row);
}

Value trilu(Call& c, Value x, std::int64_t diagonal, bool upper) {
  if (c.has_opset(14))
    return c.op("Trilu", {x, c.constant(static_cast<double>(diagonal), DType::Int64)}, {{"upper", upper}});
  const Shape shape = c.sizes_of(x);
  if (shape.size() < 2) c.reject("needs at least two dims");
  const Value kept = triangle(c, shape[shape.size() - 2], shape.back(), diagonal, upper);
  if (c.dtype_of(x) == DType::Bool) return logical_and(c, x, kept);
  return where(c, kept, x, constant_like(c, 0, x));
}

}  // namespace pt2onnx::onnx
