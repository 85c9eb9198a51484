#include "emitter/inference.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <unordered_set>

#include "emitter/proto.h"
#include "onnx/shape_inference/implementation.h"

namespace pt2onnx {
namespace {

using onnx::AttributeProto;
using onnx::GraphInferencer;
using onnx::InferenceContext;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::TypeProto;

// Inference reads shapes, axes, pads and the like. A weight is never asked for by an operator's own function, but the
// function-body path hands on every constant, so it gets the small ones only.
constexpr std::size_t kReadableBytes = std::size_t{1} << 20;
constexpr std::size_t kReadableBytesInFunction = std::size_t{1} << 10;

/// Calls `visit` with each value that the graph takes from the graphs around it (perhaps several times).
template <typename Visit>
void for_each_capture(const Graph& graph, std::unordered_set<const ValueInfo*>& local, const Visit& visit) {
  const auto use = [&](Value v) {
    if (v && !local.contains(v.info())) visit(v);
  };
  for (const Value input : graph.inputs) local.insert(input.info());
  for (const auto& node : graph.nodes) {
    for (const Value input : node->inputs) use(input);
    for (const auto& [name, attribute] : node->attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for_each_capture(**body, local, visit);
    }
    for (const Value output : node->outputs) local.insert(output.info());
  }
  for (const Value output : graph.outputs) use(output);
}

/// Answers with the types that the values of a subgraph got when its own nodes were emitted.
class BodyTypes final : public GraphInferencer {
 public:
  explicit BodyTypes(const Graph& body) : inputs_(body.inputs.size()), outputs_(body.outputs.size()) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) set_type(outputs_[i], body.outputs[i].type());
  }

  std::vector<const TypeProto*> doInferencing(const std::vector<const TypeProto*>& types,
                                              const std::vector<const TensorProto*>& /*constants*/) override {
    if (types.size() != inputs_) {
      throw onnx::InferenceError("the body takes " + std::to_string(inputs_) + " inputs but gets " +
                                 std::to_string(types.size()));
    }
    std::vector<const TypeProto*> result;
    result.reserve(outputs_.size());
    for (const TypeProto& type : outputs_) result.push_back(&type);
    return result;
  }

 private:
  std::size_t inputs_;
  std::vector<TypeProto> outputs_;
};

/// A node as onnx's inference functions see it. Messages are made only for what they look at.
class NodeContext final : public InferenceContext {
 public:
  explicit NodeContext(const Node& node)
      : node_(node), types_(node.inputs.size()), outputs_(node.outputs.size()) {
    proto_.set_name(node.name);
    proto_.set_op_type(node.op);
    proto_.set_domain(node.domain);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      // Nobody reads these names; what counts is whether they are empty. A fixed one spares allocations.
      proto_.add_input(input ? "x" : "");
      if (input && !set_type(types_[i], input.type(), &dims_)) all_typed_ = false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) proto_.add_output("y");
    for (const auto& [name, value] : node.attributes) add_attribute(name, value);
  }

  const NodeProto& proto() const { return proto_; }
  const DimNames& dims() const { return dims_; }
  std::vector<TypeProto>& outputs() { return outputs_; }
  const std::vector<TypeProto>& input_types() const { return types_; }
  /// Whether every input that is there has a known dtype. One without stems from a custom operator.
  bool all_inputs_typed() const { return all_typed_; }
  bool has_body() const {
    return std::any_of(proto_.attribute().begin(), proto_.attribute().end(),
                       [](const AttributeProto& a) { return a.type() == AttributeProto::GRAPH; });
  }

  /// A function body takes all that there is: the defaults of attributes, and every constant.
  void prepare_for_function(const onnx::OpSchema& schema) {
    defaults_ = &schema;
    readable_bytes_ = kReadableBytesInFunction;
  }

  const AttributeProto* getAttribute(const std::string& name) const override {
    for (const AttributeProto& attribute : proto_.attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    if (defaults_ == nullptr) return nullptr;
    const auto found = defaults_->attributes().find(name);
    const bool has_default = found != defaults_->attributes().end() && found->second.default_value.has_name();
    return has_default ? &found->second.default_value : nullptr;
  }

  size_t getNumInputs() const override { return types_.size(); }
  bool hasInput(size_t index) const override { return index < node_.inputs.size() && node_.inputs[index]; }

  const TypeProto* getInputType(size_t index) const override {
    const TypeProto& type = types_.at(index);
    return type.value_case() == TypeProto::VALUE_NOT_SET ? nullptr : &type;
  }

  const TensorProto* getInputData(size_t index) const override {
    const Value input = node_.inputs.at(index);
    const Tensor* tensor = input ? input.constant() : nullptr;
    if (tensor == nullptr || tensor->bytes.size() > readable_bytes_) return nullptr;
    constants_.resize(node_.inputs.size());
    auto& proto = constants_[index];
    if (proto == nullptr) {
      proto = std::make_unique<TensorProto>();
      set_header(*proto, *tensor, {});
      set_elements(*proto, *tensor);
    }
    return proto.get();
  }

  const onnx::SparseTensorProto* getInputSparseData(size_t /*index*/) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(size_t /*index*/) const override { return nullptr; }

  size_t getNumOutputs() const override { return outputs_.size(); }
  TypeProto* getOutputType(size_t index) override { return &outputs_.at(index); }
  bool hasOutput(size_t index) override { return index < outputs_.size(); }

  GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const Attribute* attribute = node_.attributes.find(name);
    const auto* body = attribute != nullptr ? std::get_if<std::shared_ptr<Graph>>(attribute) : nullptr;
    if (body == nullptr) throw onnx::InferenceError("the attribute `" + name + "` holds no graph");
    // Dims of captured values, like those of inputs, mean the same inside and outside; a symbol that arose inside a
    // body is another one in each run of it, so it must not be known to dims_.
    std::unordered_set<const ValueInfo*> local;
    for_each_capture(**body, local, [this](Value captured) {
      TypeProto ignored;
      set_type(ignored, captured.type(), &dims_);
    });
    return &bodies_.emplace_back(**body);
  }

  std::string getDisplayName() const override { return "`" + node_.op + "`"; }

 private:
  void add_attribute(const std::string& name, const Attribute& value) {
    AttributeProto& to = *proto_.add_attribute();
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor != nullptr && tensor->bytes.size() > kReadableBytes) {
      to.set_name(name);  // inference needs the type of a large constant, not its elements
      to.set_type(AttributeProto::TENSOR);
      set_header(*to.mutable_t(), *tensor, {});
    } else {
      set_attribute(to, name, value);
    }
  }

  const Node& node_;
  NodeProto proto_;
  std::vector<TypeProto> types_;
  std::vector<TypeProto> outputs_;
  DimNames dims_;
  bool all_typed_ = true;
  std::size_t readable_bytes_ = kReadableBytes;
  const onnx::OpSchema* defaults_ = nullptr;                     // whose attribute defaults are visible
  mutable std::vector<std::unique_ptr<TensorProto>> constants_;  // by input, made when asked for
  std::deque<BodyTypes> bodies_;
};

/// For operators that onnx defines by other operators and gives no inference function of their own.
void infer_by_function_body(const onnx::OpSchema& schema, NodeContext& context, int opset) {
  const onnx::FunctionProto* function = schema.GetFunction(opset, false);
  onnx::FunctionProto built;
  if (function == nullptr && schema.HasContextDependentFunction()) {
    const onnx::FunctionBodyBuildContextImpl build(context.proto(), context.input_types());
    if (schema.BuildContextDependentFunction(build, built, opset)) function = &built;
  }
  if (function == nullptr) return;
  context.prepare_for_function(schema);
  onnx::shape_inference::InferShapeForFunctionNode(*function, onnx::OpSchemaRegistry::Instance(), context);
}

void infer(const CatalogEntry& entry, NodeContext& context, int opset) {
  const auto run = [&] {
    if (entry.infer)
      entry.infer(context);
    else
      infer_by_function_body(*entry.schema, context, opset);
  };
  if (context.all_inputs_typed()) {
    run();
    entry.schema->CheckInputOutputType(context);
    return;
  }
  // Below a custom operator of unknown type, inference may fail without the node being wrong.
  if (context.has_body()) return;  // onnx's function for Loop reads the type of each input unseen
  try {
    run();
  } catch (const std::runtime_error&) {
    for (TypeProto& type : context.outputs()) type.Clear();
  }
}

OpCatalog::Inferred read_type(const TypeProto& type, const DimNames& names) {
  OpCatalog::Inferred result;
  const TypeProto* element = &type;
  if (type.has_sequence_type()) {
    result.kind = ValueType::Kind::Sequence;
    element = &type.sequence_type().elem_type();
  } else if (type.has_optional_type()) {
    result.kind = ValueType::Kind::Optional;
    element = &type.optional_type().elem_type();
  }
  if (!element->has_tensor_type()) return result;

  const auto& tensor = element->tensor_type();
  result.dtype = dtype_from_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return result;
  auto& dims = result.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) {
    std::optional<Dim>& to = dims.emplace_back();
    if (dim.has_dim_value()) {
      to = Dim(dim.dim_value());
    } else if (const Dim* known = names.find(dim.dim_param())) {
      to = *known;
    }
  }
  return result;
}

/// onnx's words in one line, without the marks that are for its own developers.
std::string plain_message(std::string_view words) {
  std::string text;
  for (const std::string_view mark : {"[ShapeInferenceError] ", "[TypeInferenceError] "}) {
    for (auto at = words.find(mark); at == 0; at = words.find(mark)) words.remove_prefix(mark.size());
  }
  for (const char c : words) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

}  // namespace

std::vector<OpCatalog::Inferred> infer_node(const CatalogEntry& entry, const Node& node, int opset) {
  NodeContext context(node);
  try {
    entry.schema->Verify(context.proto());
    infer(entry, context, opset);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw std::invalid_argument(plain_message(error.what()));
  }

  std::vector<OpCatalog::Inferred> result;
  for (const TypeProto& type : context.outputs()) result.push_back(read_type(type, context.dims()));
  return result;
}

}  // namespace pt2onnx
