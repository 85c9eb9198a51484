// Small questions about the types in a schema.
#pragma once

#include "pt2onnx/program.h"

namespace pt2onnx {

/// Tensor or Tensor?
bool is_tensor(const program::TypeRef& type);
/// Tensor, Tensor?, Tensor[], Tensor?[]
bool holds_tensors(const program::TypeRef& type);

}  // namespace pt2onnx
