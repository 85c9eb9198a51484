#include "diagnosis/mapping_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "diagnosis/signature.h"
#include "pt2onnx/convert.h"

namespace pt2onnx {
namespace {

using Kind = OpAttribute::Kind;
using program::SchemaArgument;
using program::TypeKind;

bool holds(const SchemaArgument& argument, Kind kind) {
  if (!argument.type) return false;
  const program::Type& type = argument.type->kind == TypeKind::Optional && !argument.type->elements.empty()
                                  ? *argument.type->elements.front()
                                  : *argument.type;
  const auto list_of = [&](TypeKind element) {
    return type.kind == TypeKind::List && !type.elements.empty() && type.elements.front()->kind == element;
  };
  switch (kind) {
    case Kind::Int: return type.kind == TypeKind::Int || type.kind == TypeKind::Bool;
    case Kind::Float: return type.kind == TypeKind::Float || type.kind == TypeKind::Number;
    case Kind::String: return type.kind == TypeKind::String;
    case Kind::Ints: return list_of(TypeKind::Int);
    case Kind::Floats: return list_of(TypeKind::Float);
    default: return false;
  }
}

/// The attribute of the ONNX operator that an argument means: of the same name, or what torch calls otherwise.
const OpAttribute* counterpart(const SchemaArgument& argument, const OpSignature& signature) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOtherNames{
      {{"dim", "axis"}, {"dim", "axes"}, {"keepdim", "keepdims"}}};
  const auto means = [&](const OpAttribute& attribute) {
    if (attribute.name == argument.name) return true;
    return std::ranges::find(kOtherNames, std::pair<std::string_view, std::string_view>(
                                              argument.name, attribute.name)) != kOtherNames.end();
  };
  for (const OpAttribute& attribute : signature.attributes)
    if (means(attribute) && holds(argument, attribute.kind)) return &attribute;
  return nullptr;
}

std::string in_brackets(const std::vector<std::string>& items) {
  return items.empty() ? std::string() : fmt::format("<{}> ", fmt::join(items, ", "));
}

std::vector<std::string> result_names(const program::Schema* schema) {
  const std::size_t count = schema && !schema->is_variadic ? schema->returns.size() : 1;
  if (count <= 1) return {"y"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("y{}", i));
  return names;
}

}  // namespace

std::string mapping_text(std::string_view name, const program::Schema* schema, const OnnxWord* word,
                         const AdviceContext& context) {
  const auto colons = name.find("::");
  const int since = word ? std::max(word->since, kMinOpset) : context.opset;
  const OpSignature* signature = word ? context.catalog.find(word->domain, word->name, since) : nullptr;

  std::vector<std::string> inputs, attributes, values;
  if (!schema || schema->is_variadic) {
    inputs.emplace_back("x");
  } else {
    for (const SchemaArgument& argument : schema->arguments) {
      if (argument.is_out) continue;
      if (holds_tensors(argument.type)) {
        inputs.push_back(argument.name);
        continue;
      }
      const OpAttribute* attribute = signature ? counterpart(argument, *signature) : nullptr;
      if (attribute) values.push_back(fmt::format("{} = @{}", attribute->name, argument.name));
      // What has a default may be left out, as long as calls leave it out.
      if (attribute || !argument.default_value) attributes.push_back(argument.name);
    }
  }
  const auto outputs = result_names(schema);
  const std::string body = word ? fmt::format("{} = {} {}({})", fmt::join(outputs, ", "), word->name,
                                              in_brackets(values), fmt::join(inputs, ", "))
                                : "...";
  return fmt::format("<domain: \"{}\", opset_import: [\"\" : {}]> {} {}({}) => ({}) {{ {} }}",
                     name.substr(0, colons), since, name.substr(colons + 2), in_brackets(attributes),
                     fmt::join(inputs, ", "), fmt::join(outputs, ", "), body);
}

}  // namespace pt2onnx
