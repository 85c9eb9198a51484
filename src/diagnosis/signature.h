// Small questions about the types in a schema.
#pragma once

#include <initializer_list>

#include "pt2onnx/program.h"

namespace pt2onnx {

/// Tensor or Tensor?
bool is_tensor(const program::TypeRef& type);
/// Tensor, Tensor?, Tensor[], Tensor?[]
bool holds_tensors(const program::TypeRef& type);
/// Whether it is, or is made of, one of these.
bool mentions(const program::TypeRef& type, std::initializer_list<program::TypeKind> kinds);

}  // namespace pt2onnx
