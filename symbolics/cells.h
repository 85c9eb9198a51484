// Symbolic functions that are cells of a table: one ONNX operator on the operands, nothing else.
#pragma once

#include "symbolics/onnx.h"
#include "symbolics/promotion.h"

namespace pt2onnx {

/// aten::op(Tensor self): as it is.
template <onnx::Name Op>
Results unary(Call& c) {
  return c.op(Op.text, {c.tensor("self")});
}

/// aten::op(Tensor self): integers and bool become float first, as in torch.
template <onnx::Name Op>
Results float_unary(Call& c) {
  return c.op(Op.text, {float_tensor(c, "self")});
}

/// A function of onnx.h on `self`.
template <Value (*Word)(Call&, Value)>
Results of_self(Call& c) {
  return Word(c, c.tensor("self"));
}

/// A function of onnx.h on `self` as float.
template <Value (*Word)(Call&, Value)>
Results of_float(Call& c) {
  return Word(c, float_tensor(c, "self"));
}

/// A function of onnx.h on `self` and `other` in their common dtype.
template <Value (*Word)(Call&, Value, Value)>
Results of_both(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  return Word(c, a, b);
}

/// The argument itself.
template <onnx::Name Argument>
Results unchanged(Call& c) {
  return c.tensor(Argument.text);
}

}  // namespace pt2onnx
