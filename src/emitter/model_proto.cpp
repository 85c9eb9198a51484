#include "emitter/model_proto.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "emitter/proto.h"
#include "onnx/defs/schema.h"
#include "registry/mapping.h"

namespace pt2onnx {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

constexpr int kNodeMetadataVersion = 10;     // the IR version that gave nodes metadata_props
constexpr int kFunctionVersion = 8;          // ... models functions
constexpr int kFunctionDefaultsVersion = 9;  // ... the attributes of functions default values
constexpr int kFunctionTypesVersion = 10;    // ... functions value_info

// Which IR version came with which opset, from the table in onnx's docs/Versioning.md (its Python helper has the same;
// its C++ library has none): {first opset, IR version}.
constexpr std::pair<int, int> kFirstOpsets[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9},
                                                {15, 8},  {12, 7},  {11, 6},  {10, 5},  {9, 4}};

using Values = std::unordered_set<const ValueInfo*>;

Values infos(const std::vector<Value>& values) {
  Values result;
  for (const Value v : values) result.insert(v.info());
  return result;
}

/// The names of the emitted values: those that they have, but constants are called after the parameter they hold.
class Names {
 public:
  explicit Names(const Graph& main) {
    collect(main);
    // A constant that the model returns keeps its own name; it comes first, so that others can share it.
    const Values outputs = infos(main.outputs);
    for (const Constant& constant : constants_) {
      if (outputs.contains(constant.info)) store(constant, constant.info->name);
    }
    for (const Constant& constant : constants_) {
      if (!outputs.contains(constant.info)) share_or_store(constant);
    }
  }

  const std::string& operator()(Value v) const {
    const auto found = names_.find(v.info());
    return found == names_.end() ? v.name() : found->second;
  }

  std::string fresh(const std::string& base) {
    std::string name = base;
    for (int i = 1; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
    return name;
  }

  /// The constants to store, with their names; what shares its elements with another is not repeated.
  const std::vector<std::pair<std::string, const Tensor*>>& stored() const { return stored_; }

 private:
  struct Constant {
    const ValueInfo* info;
    const Tensor* tensor;
  };

  void collect(const Graph& graph) {
    for (const Value input : graph.inputs) define(input);
    for (const auto& node : graph.nodes) {
      for (const Value input : node->inputs) use(input);
      for (const auto& [name, attribute] : node->attributes) {
        if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) collect(**body);
      }
      for (const Value output : node->outputs) {
        if (output) define(output);
      }
    }
    for (const Value output : graph.outputs) use(output);
  }

  void define(Value v) {
    defined_.insert(v.info());
    taken_.insert(v.name());
  }

  void use(Value v) {
    const Tensor* tensor = v ? v.constant() : nullptr;
    if (tensor == nullptr || defined_.contains(v.info())) return;
    if (constants_seen_.insert(v.info()).second) constants_.push_back({v.info(), tensor});
  }

  void share_or_store(const Constant& constant) {
    const auto shared = by_elements_.find(elements(*constant.tensor));
    if (shared != by_elements_.end()) {
      names_[constant.info] = shared->second;
      return;
    }
    const std::string& parameter = constant.tensor->name;
    store(constant, !parameter.empty() && !taken_.contains(parameter) ? parameter : constant.info->name);
  }

  void store(const Constant& constant, const std::string& wanted) {
    const std::string& name = names_[constant.info] = fresh(wanted);
    by_elements_.emplace(elements(*constant.tensor), name);
    stored_.emplace_back(name, constant.tensor);
  }

  using Elements = std::tuple<const std::byte*, DType, std::vector<std::int64_t>>;
  static Elements elements(const Tensor& t) { return {t.bytes.data(), t.dtype, t.dims}; }

  Values defined_, constants_seen_;
  std::vector<Constant> constants_;  // in the order of their first use
  std::unordered_set<std::string> taken_;
  std::unordered_map<const ValueInfo*, std::string> names_;  // of constants
  std::map<Elements, std::string> by_elements_;
  std::vector<std::pair<std::string, const Tensor*>> stored_;
};

void add_metadata(onnx::StringStringEntryProto& entry, const std::string& key, const std::string& value) {
  entry.set_key(key);
  entry.set_value(value);
}

class Emission {
 public:
  Emission(Names& names, int ir_version) : names_(names), ir_version_(ir_version) {}

  void emit(const Graph& graph, GraphProto& to, bool is_main) {
    to.set_name(graph.name);
    const Values outputs = infos(graph.outputs);
    Values local = infos(graph.inputs);
    for (const Value input : graph.inputs) add_value(*to.add_input(), input, input.name());
    for (const auto& node : graph.nodes) {
      emit(*node, *to.add_node());
      for (const Value output : node->outputs) {
        if (!output) continue;
        local.insert(output.info());
        if (output.dtype() && !outputs.contains(output.info()))
          add_value(*to.add_value_info(), output, output.name());
      }
    }
    for (const Value output : graph.outputs) {
      // A subgraph can only give what is its own.
      const bool foreign = !is_main && !local.contains(output.info());
      add_value(*to.add_output(), output, foreign ? pass_through(output, to) : names_(output));
    }
  }

  void emit(const Graph& graph, onnx::FunctionProto& to) {
    for (const Value input : graph.inputs) to.add_input(input.name());
    for (const auto& [name, tensor] : names_.stored()) {
      NodeProto& constant = *to.add_node();
      constant.set_op_type("Constant");
      constant.add_output(name);
      set_attribute(*constant.add_attribute(), "value", *tensor);
    }
    for (const auto& node : graph.nodes) emit(*node, *to.add_node());
    for (const Value output : graph.outputs) to.add_output(names_(output));
  }

 private:
  static void add_value(onnx::ValueInfoProto& to, Value v, const std::string& name) {
    to.set_name(name);
    onnx::TypeProto type;
    if (set_type(type, v.type())) *to.mutable_type() = std::move(type);
  }

  std::string pass_through(Value v, GraphProto& to) {
    const std::string name = names_.fresh(names_(v) + "_out");
    NodeProto& identity = *to.add_node();
    identity.add_input(names_(v));
    identity.add_output(name);
    identity.set_name(name);
    identity.set_op_type("Identity");
    return name;
  }

  void emit(const Node& node, NodeProto& to) {
    for (const Value input : node.inputs) to.add_input(input ? names_(input) : "");
    for (const Value output : node.outputs) to.add_output(output ? output.name() : "");
    if (!node.name.empty()) to.set_name(node.name);
    to.set_op_type(node.op);
    if (!node.domain.empty()) to.set_domain(node.domain);
    for (const auto& [name, value] : node.attributes) {
      auto& attribute = *to.add_attribute();
      set_attribute(attribute, name, value);
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&value))
        emit(**body, *attribute.mutable_g(), false);
    }
    if (node.origin != nullptr) describe(*node.origin, to);
  }

  /// Where a node comes from, for Netron and whoever looks for the line that a node stems from.
  void describe(const Origin& origin, NodeProto& to) const {
    std::string place;
    if (!origin.file.empty())
      place = origin.line > 0 ? origin.file + ":" + std::to_string(origin.line) : origin.file;
    std::string text = place;
    const auto append = [&text](const std::string& part) {
      if (part.empty()) return;
      if (!text.empty()) text += '\n';
      text += part;
    };
    if (ir_version_ >= kNodeMetadataVersion) {
      if (!origin.module_path.empty())
        add_metadata(*to.add_metadata_props(), "pt2onnx.module", origin.module_path);
      if (!origin.op.empty()) add_metadata(*to.add_metadata_props(), "pt2onnx.op", origin.op);
      if (!place.empty()) add_metadata(*to.add_metadata_props(), "pt2onnx.source", place);
    } else {
      append(origin.module_path);
      append(origin.op);
    }
    if (!text.empty()) to.set_doc_string(text);
  }

  Names& names_;
  int ir_version_;
};

using OpName = std::pair<std::string, std::string>;  // domain, operator

/// The operators of other domains that nodes of a graph use, those in its subgraphs included.
void collect_custom(const Graph& graph, std::set<OpName>& used) {
  for (const auto& node : graph.nodes) {
    if (!node->domain.empty()) used.emplace(node->domain, node->op);
    for (const auto& [name, attribute] : node->attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) collect_custom(**body, used);
  }
}

/// The functions that the model calls.
std::vector<const LocalFunction*> called_functions(const Model& model) {
  std::set<OpName> used;
  collect_custom(model.graph, used);
  for (const LocalFunction& function : model.functions)
    if (function.body && used.contains({function.domain, function.name}))
      collect_custom(*function.body, used);
  std::vector<const LocalFunction*> called;
  for (const LocalFunction& function : model.functions)
    if (used.contains({function.domain, function.name})) called.push_back(&function);
  return called;
}

/// Gives attributes that take a function's attribute their types, which the text may leave out.
void complete_references(google::protobuf::RepeatedPtrField<NodeProto>& nodes, int opset) {
  for (NodeProto& node : nodes) {
    const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) complete_references(*attribute.mutable_g()->mutable_node(), opset);
      if (attribute.ref_attr_name().empty() || attribute.type() != onnx::AttributeProto::UNDEFINED || !schema)
        continue;
      const auto found = schema->attributes().find(attribute.name());
      if (found != schema->attributes().end()) attribute.set_type(found->second.type);
    }
  }
}

/// The user's function under the name by which nodes call it, for the opset of the model.
void emit_text(const LocalFunction& function, const Model& model, onnx::FunctionProto& to) {
  if (!to.ParseFromString(function.text)) throw std::logic_error("a function that does not parse");
  to.set_domain(function.domain);
  to.set_name(function.name);
  to.clear_overload();
  bool standard = false;
  auto& imports = *to.mutable_opset_import();
  imports.erase(std::remove_if(imports.begin(), imports.end(),
                               [](const auto& import) { return import.domain() == kUntilDomain; }),
                imports.end());
  for (auto& import : imports) {
    if (import.domain() == "ai.onnx") import.clear_domain();
    if (!import.domain().empty()) continue;
    import.set_version(model.opset);
    standard = true;
  }
  if (!standard) to.add_opset_import()->set_version(model.opset);
  complete_references(*to.mutable_node(), model.opset);
}

/// A function that was translated.
void emit_body(const LocalFunction& function, const Model& model, onnx::FunctionProto& to, int ir_version) {
  to.set_domain(function.domain);
  to.set_name(function.name);
  to.add_opset_import()->set_version(model.opset);
  for (const auto& [domain, version] : model.domains) {
    auto& import = *to.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  Names names(*function.body);
  Emission(names, ir_version).emit(*function.body, to);
}

int lowest_ir_version(const onnx::FunctionProto& function) {
  if (function.value_info_size() > 0) return kFunctionTypesVersion;
  return function.attribute_proto_size() > 0 ? kFunctionDefaultsVersion : kFunctionVersion;
}

}  // namespace

int ir_version_for(int opset) {
  for (const auto& [first, ir] : kFirstOpsets) {
    if (opset >= first) return ir;
  }
  return 3;
}

ModelFrame make_frame(const Model& model, const std::string& producer_version) {
  ModelFrame frame;
  onnx::ModelProto& proto = frame.proto;
  proto.set_ir_version(ir_version_for(model.opset));
  proto.set_producer_name("pt2onnx");
  if (!producer_version.empty()) proto.set_producer_version(producer_version);
  auto& standard = *proto.add_opset_import();
  standard.set_domain("");
  standard.set_version(model.opset);
  for (const auto& [domain, version] : model.domains) {
    if (domain.empty()) continue;
    auto& custom = *proto.add_opset_import();
    custom.set_domain(domain);
    custom.set_version(version);
  }
  for (const auto& [key, value] : model.metadata) add_metadata(*proto.add_metadata_props(), key, value);
  for (const LocalFunction* function : called_functions(model)) {
    onnx::FunctionProto& to = *proto.add_functions();
    if (function->body)
      emit_body(*function, model, to, static_cast<int>(proto.ir_version()));
    else
      emit_text(*function, model, to);
    proto.set_ir_version(std::max<std::int64_t>(proto.ir_version(), lowest_ir_version(to)));
  }

  Names names(model.graph);
  Emission(names, static_cast<int>(proto.ir_version())).emit(model.graph, *proto.mutable_graph(), true);
  for (const auto& [name, tensor] : names.stored()) {
    auto& initializer = *proto.mutable_graph()->add_initializer();
    set_header(initializer, *tensor, name);
    const bool inside = tensor->dtype == DType::String;
    if (inside) set_elements(initializer, *tensor);
    frame.weights.push_back(inside ? nullptr : tensor);
  }
  return frame;
}

void fill_small_weights(ModelFrame& frame, std::size_t limit) {
  for (std::size_t i = 0; i < frame.weights.size(); ++i) {
    const Tensor*& tensor = frame.weights[i];
    if (tensor == nullptr || tensor->bytes.size() > limit) continue;
    set_elements(*frame.proto.mutable_graph()->mutable_initializer(static_cast<int>(i)), *tensor);
    tensor = nullptr;
  }
}

}  // namespace pt2onnx
