#include "frontend/types.h"

#include <ATen/core/function.h>
#include <ATen/core/function_schema.h>

#include "frontend/values.h"

namespace pt2onnx::frontend {

using program::Type;
using program::TypeKind;
using program::TypeRef;

namespace {

TypeKind kind_of(c10::TypeKind kind) {
  switch (kind) {
    case c10::TypeKind::AnyType: return TypeKind::Any;
    case c10::TypeKind::NoneType: return TypeKind::None;
    case c10::TypeKind::TensorType: return TypeKind::Tensor;
    case c10::TypeKind::BoolType:
    case c10::TypeKind::SymBoolType: return TypeKind::Bool;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::ScalarTypeType:
    case c10::TypeKind::LayoutType:
    case c10::TypeKind::MemoryFormatType: return TypeKind::Int;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::SymFloatType: return TypeKind::Float;
    case c10::TypeKind::ComplexType: return TypeKind::Complex;
    case c10::TypeKind::NumberType: return TypeKind::Number;
    case c10::TypeKind::StringType: return TypeKind::String;
    case c10::TypeKind::DeviceObjType: return TypeKind::Device;
    case c10::TypeKind::GeneratorType: return TypeKind::Generator;
    case c10::TypeKind::OptionalType: return TypeKind::Optional;
    case c10::TypeKind::ListType: return TypeKind::List;
    case c10::TypeKind::DictType: return TypeKind::Dict;
    case c10::TypeKind::TupleType: return TypeKind::Tuple;
    case c10::TypeKind::ClassType: return TypeKind::Object;
    case c10::TypeKind::InterfaceType: return TypeKind::Interface;
    case c10::TypeKind::EnumType: return TypeKind::Enum;
    case c10::TypeKind::FunctionType: return TypeKind::Function;
    case c10::TypeKind::FutureType: return TypeKind::Future;
    case c10::TypeKind::UnionType: return TypeKind::Union;
    default: return TypeKind::Other;
  }
}

}  // namespace

TypeRef TypeTable::of(const c10::TypePtr& type) {
  if (!type) return nullptr;
  const auto known = known_.find(type.get());
  if (known != known_.end()) return known->second.second;
  TypeRef made = convert(type);
  known_.emplace(type.get(), std::pair(type, made));
  return made;
}

TypeRef TypeTable::convert(const c10::TypePtr& type) {
  auto out = std::make_shared<Type>();
  out->kind = kind_of(type->kind());
  out->text = type->annotation_str();
  switch (out->kind) {
    case TypeKind::Optional:
    case TypeKind::List:
    case TypeKind::Dict:
    case TypeKind::Tuple:
    case TypeKind::Union:
    case TypeKind::Future:
      // Not for classes: their attributes are contained types as well, and may lead back to the class.
      for (const c10::TypePtr& element : type->containedTypes()) out->elements.push_back(of(element));
      break;
    case TypeKind::Tensor: {
      const auto& tensor = type->expectRef<c10::TensorType>();
      if (const auto scalar = tensor.scalarType()) out->dtype = dtype_of(*scalar);
      out->dims = tensor.sizes().sizes();
      break;
    }
    case TypeKind::Function:
      out->name = type->expectRef<c10::FunctionType>().function()->qualname().qualifiedName();
      break;
    default: break;
  }
  if (const auto named = type->cast<c10::NamedType>(); named && named->name())
    out->name = named->name()->qualifiedName();
  if (out->kind == TypeKind::Tuple) {
    const auto& schema = type->expectRef<c10::TupleType>().schema();
    if (schema)
      for (const c10::Argument& field : schema->arguments()) out->fields.push_back(field.name());
  }
  return out;
}

c10::TypePtr torch_type(const TypeRef& type) {
  if (!type) return c10::AnyType::get();
  const auto element = [&](std::size_t i) {
    return torch_type(i < type->elements.size() ? type->elements[i] : nullptr);
  };
  switch (type->kind) {
    case TypeKind::None: return c10::NoneType::get();
    case TypeKind::Tensor: return c10::TensorType::get();
    case TypeKind::Bool: return c10::BoolType::get();
    case TypeKind::Int: return c10::IntType::get();
    case TypeKind::Float: return c10::FloatType::get();
    case TypeKind::Complex: return c10::ComplexType::get();
    case TypeKind::Number: return c10::NumberType::get();
    case TypeKind::String: return c10::StringType::get();
    case TypeKind::Device: return c10::DeviceObjType::get();
    case TypeKind::Optional: return c10::OptionalType::create(element(0));
    case TypeKind::List: return c10::ListType::create(element(0));
    case TypeKind::Dict: return c10::DictType::create(element(0), element(1));
    case TypeKind::Tuple: {
      std::vector<c10::TypePtr> elements;
      for (const TypeRef& item : type->elements) elements.push_back(torch_type(item));
      return c10::TupleType::create(std::move(elements));
    }
    default: return c10::AnyType::get();
  }
}

}  // namespace pt2onnx::frontend
