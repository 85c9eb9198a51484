// torch's type promotion: the dtype of a result depends on the category of the operands (tensors with dims before
// zero-dim tensors before Python numbers), and a lower category counts only when its kind (bool < int < float < complex)
// is higher. https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc describes the rules.
#pragma once

#include <utility>
#include <vector>

#include "pt2onnx/call.h"

namespace pt2onnx {

struct Operand {
  Operand(Value t) : tensor(t) {}              // NOLINT
  Operand(Scalar s) : number(std::move(s)) {}  // NOLINT
  Value tensor;                                // absent: a Python number
  std::optional<Scalar> number;
};

/// The operand under that name: a tensor, or a number where the overload takes one.
Operand operand(Call& c, std::string_view argument);

DType result_type(Call& c, const std::vector<Operand>& operands);
/// result_type, but integers and bool become the default float type (float32).
DType float_result_type(Call& c, const std::vector<Operand>& operands);
/// Where two dtypes of tensors meet, torch's table.
DType promote(DType a, DType b);

/// The operand as a value of that dtype (a number becomes a 0-d constant).
Value as(Call& c, const Operand& operand, DType dtype);

/// Both operands (arguments of those names) in their common dtype.
std::pair<Value, Value> promoted(Call& c, std::string_view a, std::string_view b);

/// A tensor argument; integers and bool become float32 (for exp, sin, sigmoid, mean ...).
Value float_tensor(Call& c, std::string_view argument);

}  // namespace pt2onnx
