// Values that the graph does not have as such. ONNX has complex element types, but hardly an operator for them, and ONNX
// Runtime has none; so a complex value stands for two real ones, and at the borders of graphs it is a real tensor with a
// last axis of 2. A quantized value stands for integer codes and for the floats that they mean.
#include <algorithm>
#include <array>

#include "registry/builder.h"

namespace pt2onnx {
namespace {

/// Every second element, the first one of which has that index.
Tensor part_of(const Tensor& complex, std::size_t index) {
  const std::size_t size = size_of(complex.dtype) / 2;
  std::vector<std::byte> bytes(complex.bytes.size() / 2);
  for (std::size_t i = 0; i * size < bytes.size(); ++i)
    std::copy_n(complex.bytes.begin() + static_cast<std::ptrdiff_t>((2 * i + index) * size), size,
                bytes.begin() + static_cast<std::ptrdiff_t>(i * size));
  Tensor part = Tensor::of_bytes(std::move(bytes), complex.dims, real_of(complex.dtype));
  if (!complex.name.empty()) part.name = complex.name + (index == 0 ? ".real" : ".imag");
  return part;
}

}  // namespace

std::pair<Value, Value> Builder::parts(Value complex) {
  ValueInfo& info = *complex.info();
  if (!info.real && info.constant) {
    info.real = constant(part_of(*info.constant, 0)).info();
    info.imaginary = constant(part_of(*info.constant, 1)).info();
  }
  if (!info.real) throw Rejection("computes with a complex value of which the parts are not known");
  return {Value(info.real), Value(info.imaginary)};
}

Value Builder::complex_value(Value real, Value imaginary) {
  ValueType type = real.type();
  if (!type.shape) type.shape = imaginary.shape();
  if (!type.dtype) throw Rejection("makes a complex value of parts whose element type is not known");
  type.dtype = complex_of(*type.dtype);
  const Value value = new_value("complex", std::move(type));
  value.info()->real = real.info();
  value.info()->imaginary = imaginary.info();
  return value;
}

Value Builder::pairs_of(Value complex) {
  if (const Tensor* known = complex.constant()) return constant(real_pairs(*known));
  if (const Value pairs(complex.info()->pairs); pairs && visible(pairs)) return pairs;
  const auto [real, imaginary] = parts(complex);
  if (!real.rank()) throw Rejection("gives a complex value of unknown rank out of the graph");
  const auto axis = static_cast<std::int64_t>(*real.rank());
  const auto lifted = [&](Value part) {
    if (opset() >= 13) return emit("", "Unsqueeze", 1, {part, int_vector({axis})}, {})[0];
    return emit("", "Unsqueeze", 1, {part}, {{"axes", std::vector<std::int64_t>{axis}}})[0];
  };
  return emit("", "Concat", 1, {lifted(real), lifted(imaginary)}, {{"axis", axis}})[0];
}

Value Builder::from_pairs(Value pairs) {
  if (!pairs.rank() || *pairs.rank() == 0)
    throw Rejection("makes a complex value of a tensor of unknown rank");
  const auto axis = static_cast<std::int64_t>(*pairs.rank()) - 1;
  const auto part = [&](std::int64_t index) {
    return emit("", "Gather", 1, {pairs, constant(Tensor::scalar(index, DType::Int64))}, {{"axis", axis}})[0];
  };
  const Value value = complex_value(part(0), part(1));
  value.info()->pairs = pairs.info();
  return value;
}

/// Multiplying by zero would keep NaN and infinities.
Value Builder::zeros_like(Value v) {
  const Value zero = constant(Tensor::scalar(std::int64_t{0}, v.dtype().value()));
  if (v.rank() == std::size_t{0}) return zero;
  if (v.shape()) return emit("", "Expand", 1, {zero, shape_value(*v.shape())}, {})[0];
  return emit("", "Expand", 1, {zero, emit("", "Shape", 1, {v}, {})[0]}, {})[0];
}

Value Builder::quantized_value(Value codes, double scale, std::int64_t zero_point, DType dtype) {
  const Value floats = emit("", "DequantizeLinear", 1,
                            {codes, constant(Tensor::scalar(scale, DType::Float32)),
                             constant(Tensor::scalar(zero_point, codes.dtype().value()))},
                            {})[0];
  floats.info()->step = scale;
  ValueType type = codes.type();
  type.dtype = dtype;
  const Value value = new_value("quantized", std::move(type));
  value.info()->quantization = std::make_shared<ValueInfo::Quantization>(
      ValueInfo::Quantization{codes.info(), floats.info(), scale, zero_point});
  return value;
}

/// From real to complex the imaginary part is 0; back, it is dropped.
Value Builder::cast_complex(Value v, DType to) {
  if (!v.dtype()) throw Rejection("makes a complex value of a tensor whose element type is not known");
  if (!is_complex(*v.dtype())) {
    const Value real = cast(v, real_of(to));
    return complex_value(real, zeros_like(real));
  }
  const auto [real, imaginary] = parts(v);
  if (to == DType::Bool) {  // not zero
    return emit("", "Or", 1, {cast(real, to), cast(imaginary, to)}, {})[0];
  }
  if (!is_complex(to)) return cast(real, to);
  return complex_value(cast(real, real_of(to)), cast(imaginary, real_of(to)));
}

}  // namespace pt2onnx
