#include "frontend/traced_inputs.h"

#include <ATen/core/Dict.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include <optional>
#include <span>

namespace pt2onnx::frontend {

using program::Literal;
using program::Type;
using program::TypeKind;
using program::TypeRef;

namespace {

/// The tracer stores a list per method. Tensors in it have sizes and no elements, and tuples are flattened.
std::vector<at::IValue> read_stored(const std::string& path, const std::string& method) {
  caffe2::serialize::PyTorchStreamReader reader(path);
  if (!reader.hasRecord("traced_inputs.pkl")) return {};
  const at::IValue all = torch::jit::readArchiveAndTensors("traced_inputs", "", "traced_inputs/",
                                                           std::nullopt, std::nullopt, std::nullopt, reader);
  for (const auto& entry : all.toGenericDict())
    if (entry.key().toStringRef() == method) return entry.value().toList().vec();
  return {};
}

/// Takes values off the front of the stored list, as the type of a parameter wants them.
class Rebuilder {
 public:
  Rebuilder(std::span<const at::IValue> stored, TypeTable& types) : stored_(stored), types_(types) {}

  /// False when the stored values do not fit.
  bool take(const TypeRef& type, Literal& out) {
    if (type && type->kind == TypeKind::Tuple && !(next() && next()->isTuple())) {
      auto tuple = std::make_shared<program::TupleLiteral>();
      tuple->type = type;
      for (const TypeRef& element : type->elements)
        if (!take(element, tuple->items.emplace_back())) return false;
      out = {std::move(tuple)};
      return true;
    }
    if (!next()) return false;
    out = without_elements(LiteralReader(types_).read(*next()));
    stored_ = stored_.subspan(1);
    return fits(type, out);
  }

  bool is_empty() const { return stored_.empty(); }

 private:
  const at::IValue* next() const { return stored_.empty() ? nullptr : stored_.data(); }

  static bool fits(const TypeRef& type, const Literal& value) {
    if (!type) return true;
    switch (type->kind) {
      case TypeKind::Tensor: return std::holds_alternative<Tensor>(value.data);
      case TypeKind::List: return std::holds_alternative<std::shared_ptr<program::ListLiteral>>(value.data);
      case TypeKind::Dict: return std::holds_alternative<std::shared_ptr<program::DictLiteral>>(value.data);
      default: return true;
    }
  }

  static Literal without_elements(Literal value) {
    if (auto* tensor = std::get_if<Tensor>(&value.data)) {
      tensor->bytes = {};
      tensor->owner.reset();
    } else if (auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&value.data)) {
      for (Literal& item : (*list)->items) item = without_elements(std::move(item));
    } else if (auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&value.data)) {
      for (Literal& item : (*tuple)->items) item = without_elements(std::move(item));
    } else if (auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&value.data)) {
      for (auto& [key, item] : (*dict)->items) item = without_elements(std::move(item));
    }
    return value;
  }

  std::span<const at::IValue> stored_;
  TypeTable& types_;
};

/// The type with the example's dtype and dims, where it has a tensor at a fixed place.
TypeRef refine(const TypeRef& type, const Literal& example) {
  const auto* tensor = std::get_if<Tensor>(&example.data);
  const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&example.data);
  if (!type || (!tensor && !tuple)) return type;
  auto out = std::make_shared<Type>(*type);
  if (tensor) {
    out->dtype = tensor->dtype;
    out->dims.emplace(tensor->dims.begin(), tensor->dims.end());
  } else {
    for (std::size_t i = 0; i < out->elements.size() && i < (*tuple)->items.size(); ++i)
      out->elements[i] = refine(out->elements[i], (*tuple)->items[i]);
  }
  return out;
}

}  // namespace

void apply_traced_inputs(const std::string& path, const std::string& method, program::Function& entry,
                         TypeTable& types) {
  std::vector<Literal> examples;
  try {
    const std::vector<at::IValue> stored = read_stored(path, method);
    Rebuilder rebuilder(stored, types);
    for (std::size_t i = 1; i < entry.parameters.size(); ++i)  // the first is self
      if (!rebuilder.take(entry.parameters[i].type, examples.emplace_back())) return;
    if (!rebuilder.is_empty()) return;
  } catch (const std::exception&) {
    return;  // they are a convenience: what cannot be read is asked for with --input
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    program::Parameter& parameter = entry.parameters[i + 1];
    parameter.type = refine(parameter.type, examples[i]);
    entry.body.parameter_types[i + 1] = parameter.type;
    parameter.example = std::move(examples[i]);
  }
}

}  // namespace pt2onnx::frontend
