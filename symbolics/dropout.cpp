// Dropout: nothing in eval mode. In training mode (or where a model keeps it on, as Tacotron 2 does) the distribution is
// kept, not torch's sequence.
#include "symbolics/dropout.h"

#include <algorithm>
#include <cmath>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

/// True with probability 1 - p.
Value kept(Call& c, const Shape& shape, double p) {
  Value numbers;
  if (const auto known = static_shape(shape))
    numbers = c.op("RandomUniform", {}, {{"shape", *known}});
  else
    numbers = c.op("RandomUniformLike", {onnx::full(c, shape, 0.0, DType::Float32)});
  c.set_shape(numbers, shape);
  return onnx::less(c, numbers, c.constant(1 - p, DType::Float32));
}

/// Whole channels go: the mask has the batch and the channels of x, and 1 elsewhere.
Shape channels(Call& c, Value x) {
  Shape shape = c.sizes_of(x);
  if (shape.size() < 2) c.reject("drops the channels of a tensor with fewer than two dims");
  std::fill(shape.begin() + 2, shape.end(), Dim(1));
  return shape;
}

Value masked(Call& c, Value x, const Shape& mask, double p) {
  if (p == 1) return onnx::mul(c, x, onnx::constant_like(c, 0, x));
  const Value scaled = onnx::div(c, x, onnx::constant_like(c, 1 - p, x));
  return onnx::where(c, kept(c, mask, p), scaled, onnx::constant_like(c, 0, x));
}

bool drops(Call& c) { return c.flag("train") && c.number("p") != 0; }

// aten::dropout(Tensor input, float p, bool train) -> Tensor
Results dropout(Call& c) {
  const Value x = c.tensor("input");
  return drops(c) ? dropped(c, x, c.number("p")) : x;
}

// aten::feature_dropout(Tensor input, float p, bool train) -> Tensor
Results feature_dropout(Call& c) {
  const Value x = c.tensor("input");
  return drops(c) ? masked(c, x, channels(c, x), c.number("p")) : x;
}

/// Dropout that keeps mean and variance of what SELU gives (Klambauer et al. 2017, section 3): what is dropped becomes
/// the limit of SELU for very negative numbers, -lambda * alpha, and the result is mapped back by an affine function.
Value alpha_dropped(Call& c, Value x, const Shape& mask, double p) {
  constexpr double kLimit = 1.7580993408473766;
  if (p == 1) return onnx::mul(c, x, onnx::constant_like(c, 0, x));
  const double scale = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const Value chosen = onnx::where(c, kept(c, mask, p), x, onnx::constant_like(c, -kLimit, x));
  return onnx::add(c, onnx::mul(c, chosen, onnx::constant_like(c, scale, x)),
                   onnx::constant_like(c, scale * kLimit * p, x));
}

// aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor
Results alpha_dropout(Call& c) {
  const Value x = c.tensor("input");
  return drops(c) ? alpha_dropped(c, x, c.sizes_of(x), c.number("p")) : x;
}

// aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor
Results feature_alpha_dropout(Call& c) {
  const Value x = c.tensor("input");
  return drops(c) ? alpha_dropped(c, x, channels(c, x), c.number("p")) : x;
}

// aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)
Results native_dropout(Call& c) {
  const Value x = c.tensor("input");
  const double p = c.number("p");
  if (!c.optional_flag("train").value_or(true) || p == 0)
    return {x, onnx::full_like(c, x, true, DType::Bool)};
  const Value zero = onnx::constant_like(c, 0, x);
  if (p == 1) return {onnx::mul(c, x, zero), onnx::full_like(c, x, false, DType::Bool)};
  const Value mask = kept(c, c.sizes_of(x), p);
  return {onnx::where(c, mask, onnx::div(c, x, onnx::constant_like(c, 1 - p, x)), zero), mask};
}

constexpr Entry kTable[] = {
    {"aten::alpha_dropout", 9, alpha_dropout, takes_complex},
    {"aten::dropout", 1, dropout, takes_complex},
    {"aten::feature_alpha_dropout", 9, feature_alpha_dropout, takes_complex},
    {"aten::feature_dropout", 9, feature_dropout, takes_complex},
    {"aten::native_dropout", 9, native_dropout, takes_complex},
};
static_assert(strictly_ascending(kTable));

}  // namespace

Value dropped(Call& c, Value x, double p) {
  const DType dtype = c.dtype_of(x);
  // Below opset 12 the node drops nothing, whatever it is told.
  if (c.has_opset(12) && p < 1 && (dtype == DType::Float32 || dtype == DType::Float64))
    return c.op("Dropout", {x, c.constant(p, DType::Float32), c.constant(true, DType::Bool)});
  return masked(c, x, c.sizes_of(x), p);
}

std::span<const Entry> dropout_table() { return kTable; }

}  // namespace pt2onnx
