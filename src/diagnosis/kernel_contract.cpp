#include "diagnosis/kernel_contract.h"

#include <fmt/format.h>

#include "diagnosis/signature.h"

namespace pt2onnx {
namespace {

using program::TypeKind;

/// Empty for what no attribute holds (a device, a generator): such arguments are no part of the node.
std::string attribute_kind(const program::TypeRef& type) {
  if (!type) return {};
  switch (type->kind) {
    case TypeKind::Bool:
    case TypeKind::Int: return "int";
    case TypeKind::Float: return "float";
    case TypeKind::Number: return "int or float";
    case TypeKind::String: return "string";
    case TypeKind::Optional: return type->elements.empty() ? "" : attribute_kind(type->elements.front());
    case TypeKind::List: {
      const std::string element = type->elements.empty() ? "" : attribute_kind(type->elements.front());
      if (element == "int or float") return "ints or floats";
      return element.empty() ? element : element + "s";
    }
    default: return {};
  }
}

const program::TypeRef& bare(const program::TypeRef& type) {
  return type->kind == TypeKind::Optional && !type->elements.empty() ? type->elements.front() : type;
}

}  // namespace

std::string KernelContract::Attribute::plugin_field() const {
  if (kind.starts_with("string")) return "CHAR";
  if (kind.find(" or ") != std::string::npos) return "INT32 or FLOAT32";
  return kind.starts_with("int") ? "INT32" : "FLOAT32";
}

KernelContract kernel_contract(const program::Schema& schema, std::string_view domain) {
  KernelContract contract;
  contract.domain = domain;
  contract.name = schema.name.substr(schema.name.rfind(':') + 1);
  for (const auto& argument : schema.arguments) {
    if (argument.is_out || !argument.type) continue;
    const bool optional = argument.type->kind == TypeKind::Optional;
    const program::TypeRef& type = bare(argument.type);
    if (holds_tensors(type)) {
      contract.inputs.push_back({argument.name, optional, type->kind == TypeKind::List});
    } else if (std::string kind = attribute_kind(type); !kind.empty()) {
      contract.attributes.push_back({argument.name, std::move(kind), optional, type->kind == TypeKind::Bool});
    }
  }
  for (const auto& result : schema.returns)
    contract.outputs.emplace_back(result.type && result.type->kind == TypeKind::List ? "Tensor[]" : "Tensor");
  return contract;
}

std::string text_of(const KernelContract& contract) {
  std::string inputs, attributes;
  for (const auto& input : contract.inputs)
    inputs += fmt::format("{}{}{}{}", inputs.empty() ? "" : ", ", input.name, input.list ? "..." : "",
                          input.optional ? "?" : "");
  for (const auto& attribute : contract.attributes)
    attributes += fmt::format("{}{}{}: {}", attributes.empty() ? "; " : ", ", attribute.name,
                              attribute.optional ? "?" : "", attribute.kind);
  return fmt::format("{}::{}({}{}) -> {}", contract.domain, contract.name, inputs, attributes,
                     fmt::format("{}", fmt::join(contract.outputs, ", ")));
}

}  // namespace pt2onnx
