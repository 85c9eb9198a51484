#include "diagnosis/signature.h"

#include <algorithm>

namespace pt2onnx {
namespace {

bool wraps_one(const program::TypeRef& type, program::TypeKind kind) {
  return type->kind == kind && !type->elements.empty();
}

}  // namespace

bool is_tensor(const program::TypeRef& type) {
  if (!type) return false;
  if (type->kind == program::TypeKind::Tensor) return true;
  return wraps_one(type, program::TypeKind::Optional) && is_tensor(type->elements.front());
}

bool holds_tensors(const program::TypeRef& type) {
  if (!type) return false;
  if (is_tensor(type)) return true;
  return (wraps_one(type, program::TypeKind::List) || wraps_one(type, program::TypeKind::Optional)) &&
         holds_tensors(type->elements.front());
}

bool mentions(const program::TypeRef& type, std::initializer_list<program::TypeKind> kinds) {
  if (!type) return false;
  return std::ranges::find(kinds, type->kind) != kinds.end() ||
         std::ranges::any_of(type->elements, [&](const auto& element) { return mentions(element, kinds); });
}

}  // namespace pt2onnx
