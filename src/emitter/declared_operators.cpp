#include "emitter/declared_operators.h"

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "emitter/emitter.h"
#include "emitter/proto.h"
#include "onnx/defs/schema.h"

namespace pt2onnx {
namespace {

using onnx::AttributeProto;
using onnx::OpSchema;
using onnx::TypeProto;

using Key = std::pair<std::string, std::string>;

struct Declared {
  std::mutex mutex;
  std::map<Key, InferTypes> operators;
};

/// Process-wide, as onnx's own registry is.
Declared& declared() {
  static Declared all;
  return all;
}

/// A size without a name, as it is shown to a plugin: no Dim that a model has begins so.
constexpr std::string_view kUnnamed = "?";

ValueType read_type(const TypeProto& from) {
  ValueType type;
  const TypeProto* element = &from;
  if (from.has_sequence_type()) {
    type.kind = ValueType::Kind::Sequence;
    element = &from.sequence_type().elem_type();
  } else if (from.has_optional_type()) {
    type.kind = ValueType::Kind::Optional;
    element = &from.optional_type().elem_type();
  }
  if (!element->has_tensor_type()) return type;
  const auto& tensor = element->tensor_type();
  type.dtype = dtype_from_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return type;
  type.shape.emplace();
  int unnamed = 0;
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value())
      type.shape->push_back(Dim(dim.dim_value()));
    else
      type.shape->push_back(Dim::symbol(dim.has_dim_param() && !dim.dim_param().empty()
                                            ? dim.dim_param()
                                            : std::string(kUnnamed) + std::to_string(unnamed++)));
  }
  return type;
}

std::optional<Attribute> read_attribute(const AttributeProto* from) {
  if (from == nullptr) return std::nullopt;
  switch (from->type()) {
    case AttributeProto::INT: return from->i();
    case AttributeProto::FLOAT: return static_cast<double>(from->f());
    case AttributeProto::STRING: return from->s();
    case AttributeProto::INTS: return std::vector<std::int64_t>(from->ints().begin(), from->ints().end());
    case AttributeProto::FLOATS: return std::vector<double>(from->floats().begin(), from->floats().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(from->strings().begin(), from->strings().end());
    default: return std::nullopt;
  }
}

/// The same for onnx's checker, which sees the finished model.
void infer_for_onnx(const Key& key, onnx::InferenceContext& context) {
  std::vector<std::optional<ValueType>> inputs(context.getNumInputs());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const TypeProto* type = context.getInputType(i)) inputs[i] = read_type(*type);
  const auto attribute = [&](std::string_view name) {
    return read_attribute(context.getAttribute(std::string(name)));
  };
  try {
    const auto types = declared_types(key.first, key.second, context.getNumOutputs(), inputs, attribute);
    for (std::size_t i = 0; i < types.size(); ++i) {
      TypeProto& to = *context.getOutputType(i);
      set_type(to, types[i]);
      if (!to.has_tensor_type() || !to.tensor_type().has_shape()) continue;
      for (auto& dim : *to.mutable_tensor_type()->mutable_shape()->mutable_dim())
        if (dim.dim_param().find(kUnnamed) != std::string::npos) dim.clear_dim_param();
    }
  } catch (const std::invalid_argument& e) {
    fail_shape_inference(e.what());
  }
}

/// Any number of inputs, outputs and attributes: what fits is for the plugin's own inference to say.
void register_with_onnx(const Key& key) {
  auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance();
  if (!versions.Map().contains(key.first)) versions.AddDomainToVersion(key.first, 1, 1);
  std::vector<std::string> types = OpSchema::all_tensor_types_ir13();
  for (const auto& more : {OpSchema::all_tensor_sequence_types_ir13(), OpSchema::all_optional_types_ir13()})
    types.insert(types.end(), more.begin(), more.end());
  OpSchema schema(key.second, __FILE__, __LINE__);
  schema.SetDomain(key.first)
      .SinceVersion(1)
      .AllowUncheckedAttributes()
      .Input(0, "inputs", "", "T", OpSchema::Variadic, false, 0)
      .Output(0, "outputs", "", "T", OpSchema::Variadic, false, 0)
      .TypeConstraint("T", types, "")
      .TypeAndShapeInferenceFunction([key](onnx::InferenceContext& c) { infer_for_onnx(key, c); });
  onnx::RegisterSchema(std::move(schema), 0, /*fail_duplicate_schema=*/false, /*fail_with_exception=*/true);
}

}  // namespace

void declare_operator(OperatorDeclaration declaration) {
  const std::lock_guard lock(declared().mutex);
  const Key key{declaration.domain, declaration.name};
  const bool is_new = declared().operators.insert_or_assign(key, std::move(declaration.infer)).second;
  if (is_new) register_with_onnx(key);
}

bool is_declared_operator(std::string_view domain, std::string_view name) {
  if (domain.empty()) return false;
  const std::lock_guard lock(declared().mutex);
  return declared().operators.contains(Key(domain, name));
}

std::vector<ValueType> declared_types(const std::string& domain, const std::string& name, std::size_t outputs,
                                      const std::vector<std::optional<ValueType>>& inputs,
                                      const AttributeLookup& attribute) {
  InferTypes infer;
  {
    const std::lock_guard lock(declared().mutex);
    infer = declared().operators.at(Key(domain, name));
  }
  std::vector<ValueType> types;
  try {
    types = infer(inputs, attribute);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw std::invalid_argument(e.what());
  } catch (...) {
    throw std::invalid_argument("the plugin's inference threw something that is no std::exception");
  }
  if (types.size() != outputs)
    throw std::invalid_argument("the plugin's inference tells the types of " + std::to_string(types.size()) +
                                " outputs, the node has " + std::to_string(outputs));
  return types;
}

}  // namespace pt2onnx
