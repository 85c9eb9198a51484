#include "emitter/catalog.h"

#include <algorithm>
#include <sstream>

#include "emitter/declared_operators.h"
#include "emitter/emitter.h"
#include "emitter/inference.h"
#include "emitter/proto.h"

namespace pt2onnx {
namespace {

using onnx::AttributeProto;
using onnx::OpSchema;
using onnx::OpSchemaRegistry;

OpParameter parameter(const OpSchema& schema, const OpSchema::FormalParameter& from) {
  OpParameter p;
  p.name = from.GetName();
  p.optional = from.GetOption() == OpSchema::Optional;
  p.variadic = from.GetOption() == OpSchema::Variadic;
  for (const std::string* type : from.GetTypes()) {
    const auto& proto = onnx::Utils::DataTypeUtils::ToTypeProto(type);
    if (!proto.has_tensor_type()) continue;
    if (const auto dtype = dtype_from_onnx(proto.tensor_type().elem_type())) p.dtypes.push_back(*dtype);
  }
  std::ranges::sort(p.dtypes);  // onnx keeps a set ordered by address
  // The values of a heterogeneous variadic parameter (those that a Loop carries) share no type.
  if (from.GetIsHomogeneous() && schema.typeConstraintMap().contains(from.GetTypeStr())) {
    p.type_variable = from.GetTypeStr();
  }
  return p;
}

OpAttribute::Kind attribute_kind(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT: return OpAttribute::Kind::Int;
    case AttributeProto::FLOAT: return OpAttribute::Kind::Float;
    case AttributeProto::STRING: return OpAttribute::Kind::String;
    case AttributeProto::INTS: return OpAttribute::Kind::Ints;
    case AttributeProto::FLOATS: return OpAttribute::Kind::Floats;
    case AttributeProto::STRINGS: return OpAttribute::Kind::Strings;
    case AttributeProto::TENSOR: return OpAttribute::Kind::Tensor;
    case AttributeProto::GRAPH: return OpAttribute::Kind::Graph;
    default: return OpAttribute::Kind::Other;
  }
}

std::string joined(const auto& items, const auto& text) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : ", ") + text(item);
  return "[" + all + "]";
}

std::string number_text(float number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

std::string default_text(const AttributeProto& value) {
  const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
  switch (value.type()) {
    case AttributeProto::INT: return std::to_string(value.i());
    case AttributeProto::FLOAT: return number_text(value.f());
    case AttributeProto::STRING: return quoted(value.s());
    case AttributeProto::INTS: return joined(value.ints(), [](std::int64_t i) { return std::to_string(i); });
    case AttributeProto::FLOATS: return joined(value.floats(), number_text);
    case AttributeProto::STRINGS: return joined(value.strings(), quoted);
    default: return {};
  }
}

std::unique_ptr<CatalogEntry> make_entry(const OpSchema& schema) {
  auto entry = std::make_unique<CatalogEntry>();
  entry->schema = &schema;
  if (schema.has_type_and_shape_inference_function())
    entry->infer = schema.GetTypeAndShapeInferenceFunction();

  OpSignature& s = entry->signature;
  s.domain = schema.domain();
  s.name = schema.Name();
  s.since = schema.since_version();
  s.deprecated = schema.Deprecated();
  for (const auto& input : schema.inputs()) s.inputs.push_back(parameter(schema, input));
  for (const auto& output : schema.outputs()) s.outputs.push_back(parameter(schema, output));
  for (const auto& [name, attribute] : schema.attributes()) {
    s.attributes.push_back(
        {name, attribute_kind(attribute.type), attribute.required, default_text(attribute.default_value)});
  }
  std::ranges::sort(s.attributes, {}, &OpAttribute::name);
  return entry;
}

std::vector<OpCatalog::Inferred> infer_declared(const Node& node) {
  std::vector<std::optional<ValueType>> inputs;
  for (const Value input : node.inputs) inputs.push_back(input ? std::optional(input.type()) : std::nullopt);
  const auto attribute = [&](std::string_view name) -> std::optional<Attribute> {
    const Attribute* found = node.attributes.find(name);
    const bool shown = found && !std::holds_alternative<Tensor>(*found) &&
                       !std::holds_alternative<std::shared_ptr<Graph>>(*found);
    return shown ? std::optional(*found) : std::nullopt;
  };
  std::vector<OpCatalog::Inferred> result;
  for (const ValueType& type : declared_types(node.domain, node.op, node.outputs.size(), inputs, attribute)) {
    auto& inferred = result.emplace_back(OpCatalog::Inferred{type.kind, type.dtype, std::nullopt});
    if (type.shape) inferred.dims.emplace(type.shape->begin(), type.shape->end());
  }
  return result;
}

}  // namespace

const CatalogEntry* OnnxCatalog::entry(const std::string& domain, const std::string& op, int opset) const {
  // A declared operator is for the declaration to type; its onnx schema takes anything and is there for the checker.
  if (is_declared_operator(domain, op)) return nullptr;
  const OpSchema* schema = OpSchemaRegistry::Schema(op, opset, domain);
  if (schema == nullptr || schema->Deprecated()) return nullptr;
  const std::scoped_lock lock(mutex_);
  auto& slot = entries_[schema];
  if (slot == nullptr) slot = make_entry(*schema);
  return slot.get();
}

const OpSignature* OnnxCatalog::find(std::string_view domain, std::string_view op, int opset) const {
  const CatalogEntry* found = entry(std::string(domain), std::string(op), opset);
  return found == nullptr ? nullptr : &found->signature;
}

std::optional<int> OnnxCatalog::since(std::string_view op) const {
  const std::string name(op);
  for (int opset = 1; opset <= newest_opset(); ++opset) {
    const OpSchema* schema = OpSchemaRegistry::Schema(name, opset, onnx::ONNX_DOMAIN);
    if (schema != nullptr) return schema->since_version();
  }
  return std::nullopt;
}

int OnnxCatalog::newest_opset() const {
  return OpSchemaRegistry::DomainToVersionRange::Instance().LastReleaseVersionMap().at(onnx::ONNX_DOMAIN);
}

bool OnnxCatalog::is_declared(std::string_view domain, std::string_view op) const {
  return is_declared_operator(domain, op);
}

std::vector<OpCatalog::Inferred> OnnxCatalog::infer(const Node& node, int opset) const {
  if (is_declared(node.domain, node.op)) return infer_declared(node);
  const CatalogEntry* found = entry(node.domain, node.op, opset);
  if (found != nullptr) return infer_node(*found, node, opset);
  if (!node.domain.empty())
    return std::vector<Inferred>(node.outputs.size());  // a custom operator: anything goes
  throw std::invalid_argument("there is no `" + node.op + "` at opset " + std::to_string(opset));
}

const OpCatalog& onnx_catalog() {
  static const OnnxCatalog catalog;
  return catalog;
}

}  // namespace pt2onnx
