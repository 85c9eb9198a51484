// A mapping's inputs and attributes against the arguments of a schema.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/near_names.h"
#include "diagnosis/signature.h"
#include "registry/mapping.h"

namespace pt2onnx {
namespace {

using Kind = OpAttribute::Kind;
using program::Schema;
using program::SchemaArgument;
using program::TypeKind;

/// The type without Optional[...] around it.
const program::Type& inner(const program::TypeRef& type) {
  return type->kind == TypeKind::Optional && !type->elements.empty() ? *type->elements.front() : *type;
}

bool is_number(TypeKind kind) {
  return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool ||
         kind == TypeKind::Number;
}

bool is_list_of(const program::Type& type, std::initializer_list<TypeKind> kinds) {
  return type.kind == TypeKind::List && !type.elements.empty() &&
         std::find(kinds.begin(), kinds.end(), type.elements.front()->kind) != kinds.end();
}

/// Whether a value of the graph can stand for the argument: tensors, lists of them, numbers, lists of ints.
bool can_be_input(const SchemaArgument& argument) {
  if (!argument.type || argument.is_out || is_dtype_argument(argument.name)) return false;
  const program::Type& type = inner(argument.type);
  return holds_tensors(argument.type) || is_number(type.kind) || is_list_of(type, {TypeKind::Int});
}

bool can_be_attribute(const SchemaArgument& argument, Kind kind) {
  if (!argument.type || argument.is_out) return false;
  const program::Type& type = inner(argument.type);
  switch (kind) {
    case Kind::Int:
      return type.kind == TypeKind::Int || type.kind == TypeKind::Bool || type.kind == TypeKind::Number;
    case Kind::Float:
      return type.kind == TypeKind::Float || type.kind == TypeKind::Number || type.kind == TypeKind::Int;
    case Kind::String: return type.kind == TypeKind::String;
    case Kind::Ints: return is_list_of(type, {TypeKind::Int, TypeKind::Bool});
    case Kind::Floats: return is_list_of(type, {TypeKind::Float, TypeKind::Number});
    case Kind::Strings: return is_list_of(type, {TypeKind::String});
    case Kind::Tensor: return is_tensor(argument.type);
    case Kind::Other: return !is_tensor(argument.type);  // nothing uses it
    case Kind::Graph: return false;
  }
  return false;
}

std::string_view type_words(Kind kind) {
  switch (kind) {
    case Kind::Int: return "int";
    case Kind::Float: return "float";
    case Kind::String: return "string";
    case Kind::Ints: return "ints";
    case Kind::Floats: return "floats";
    case Kind::Strings: return "strings";
    case Kind::Tensor: return "tensor";
    default: return "graph";
  }
}

/// Where and how a tensor lies in memory, and random numbers' state: no business of a graph.
bool is_immaterial(const SchemaArgument& argument) {
  static constexpr std::string_view kNames[] = {"device",        "layout",       "pin_memory",   "generator",
                                                "memory_format", "non_blocking", "requires_grad"};
  return argument.is_out ||
         std::find(std::begin(kNames), std::end(kNames), argument.name) != std::end(kNames);
}

std::vector<std::string> argument_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& argument : schema.arguments) names.push_back(argument.name);
  return names;
}

std::optional<std::size_t> find_argument(const Schema& schema, std::string_view name) {
  for (std::size_t i = 0; i < schema.arguments.size(); ++i)
    if (schema.arguments[i].name == name) return i;
  return std::nullopt;
}

/// By name when every input has the name of an argument, in order of the tensors when none has.
std::optional<std::vector<std::size_t>> bind_inputs(const Mapping& mapping, const Schema& schema,
                                                    std::string& why) {
  std::vector<std::size_t> by_name, by_order;
  const auto& inputs = mapping.body.inputs;
  std::string stranger;
  for (const std::string& input : inputs) {
    if (const auto at = find_argument(schema, input))
      by_name.push_back(*at);
    else
      stranger = input;
  }
  if (by_name.size() == inputs.size()) {
    for (const std::size_t at : by_name) {
      if (can_be_input(schema.arguments[at])) continue;
      why = fmt::format("its argument `{}` ({}) cannot be an input; declare it as an attribute",
                        schema.arguments[at].name,
                        schema.arguments[at].type ? schema.arguments[at].type->text : "");
      return std::nullopt;
    }
    return by_name;
  }
  if (!by_name.empty()) {
    why = fmt::format(
        "some inputs have the names of arguments and `{}` has not: name all of them so (they bind by name), "
        "or none (they bind in order)",
        stranger);
    return std::nullopt;
  }
  std::size_t needed = 0;
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    if (!holds_tensors(schema.arguments[i].type) || schema.arguments[i].is_out) continue;
    by_order.push_back(i);
    if (schema.arguments[i].type->kind != TypeKind::Optional && !schema.arguments[i].default_value)
      needed = by_order.size();
  }
  if (inputs.size() > by_order.size() || inputs.size() < needed) {
    why = fmt::format("it has {} tensor arguments, the function {} inputs", by_order.size(), inputs.size());
    return std::nullopt;
  }
  by_order.resize(inputs.size());
  return by_order;
}

/// An operator of which nothing is known but its name: what it is called with are the inputs, in order.
std::optional<MappingBinding> bind_variadic(const Mapping& mapping, std::string& why) {
  MappingBinding binding;
  for (std::size_t i = 0; i < mapping.body.inputs.size(); ++i) binding.inputs.push_back(i);
  for (const auto& attribute : mapping.attributes) {
    if (!attribute.value) {
      why = fmt::format(
          "nothing tells its signature, so the attribute `{}` cannot be had from it; pass --op-schema "
          "'{}(Tensor x, float {}) -> Tensor', as it really is, or --load-library",
          attribute.name, mapping.op, attribute.name);
      return std::nullopt;
    }
    binding.attributes.emplace_back();
  }
  return binding;
}

}  // namespace

std::optional<MappingBinding> bind_mapping(const Mapping& mapping, const Schema& schema, std::string& why) {
  if (schema.is_variadic) return bind_variadic(mapping, why);
  const auto fail = [&why](std::string words) {
    why = std::move(words);
    return std::nullopt;
  };
  MappingBinding binding;
  auto inputs = bind_inputs(mapping, schema, why);
  if (!inputs) return std::nullopt;
  binding.inputs = std::move(*inputs);
  std::vector<bool> bound(schema.arguments.size());
  for (const std::size_t at : binding.inputs) bound[at] = true;

  for (const MappingAttribute& attribute : mapping.attributes) {
    const auto at = find_argument(schema, attribute.name);
    if (!at) {
      const auto near = near_names(attribute.name, argument_names(schema));
      return fail(fmt::format("it has no argument `{}`{}", attribute.name,
                              near.empty() ? "" : fmt::format(" (near: {})", fmt::join(near, ", "))));
    }
    const SchemaArgument& argument = schema.arguments[*at];
    if (bound[*at]) return fail(fmt::format("its argument `{}` is bound twice", attribute.name));
    if (!can_be_attribute(argument, attribute.kind))
      return fail(fmt::format("its argument `{}` is {}, which cannot be an attribute of type {}",
                              attribute.name, argument.type ? argument.type->text : "of an unknown type",
                              type_words(attribute.kind)));
    bound[*at] = true;
    binding.attributes.push_back(at);
  }

  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const SchemaArgument& argument = schema.arguments[i];
    if (bound[i] || is_immaterial(argument)) continue;
    const bool optional = argument.type && argument.type->kind == TypeKind::Optional;
    if (!argument.default_value && !optional)
      return fail(
          fmt::format("the function leaves out its argument `{}`; take it as an {}", argument.name,
                      holds_tensors(argument.type) ? "input" : "attribute (or an input of that name)"));
    binding.unbound.push_back(i);
  }

  const bool list = schema.returns.size() == 1 && schema.returns[0].type->kind == TypeKind::List;
  if (!list && mapping.body.outputs.size() != schema.returns.size())
    return fail(fmt::format("it gives {} results, the function has {} outputs", schema.returns.size(),
                            mapping.body.outputs.size()));
  return binding;
}

}  // namespace pt2onnx
