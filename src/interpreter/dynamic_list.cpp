#include "interpreter/dynamic_list.h"

#include <fmt/format.h>

namespace pt2onnx {
namespace {

std::optional<DType> number_type(const program::TypeRef& element) {
  if (!element) return std::nullopt;
  switch (element->kind) {
    case program::TypeKind::Int: return DType::Int64;
    case program::TypeKind::Float: return DType::Float64;
    case program::TypeKind::Bool: return DType::Bool;
    default: return std::nullopt;
  }
}

}  // namespace

Value item_value(Machine& m, const Datum& item) {
  if (const auto* tensor = item.get_if<TensorRef>()) return m.tensors().read(*tensor);
  if (const auto* number = item.get_if<Scalar>()) return m.number_value(*number);
  throw Rejection(fmt::format("a list of {} has a length that depends on the data, which ONNX cannot hold",
                              type_name(item)));
}

ValueType sequence_type(Machine& m, const ListState& list) {
  if (list.dynamic && list.dynamic->form == DynamicItems::Form::Sequence) return list.dynamic->value.type();
  ValueType type;
  type.kind = ValueType::Kind::Sequence;
  if (const auto number = number_type(list.element)) {
    type.dtype = number;
    type.shape = Shape{};
    return type;
  }
  bool first = true;
  for (const Datum& item : list.items) {
    const ValueType other = item_value(m, item).type();
    if (first) {
      type.dtype = other.dtype;
      type.shape = other.shape;
      first = false;
      continue;
    }
    if (!type.shape || !other.shape || type.shape->size() != other.shape->size()) {
      type.shape.reset();
      continue;
    }
    for (std::size_t i = 0; i < type.shape->size(); ++i)
      if (!((*type.shape)[i] == (*other.shape)[i])) (*type.shape)[i] = m.builder().fresh_dim("item");
  }
  // Sizes that only the inside of a branch or a loop knows say nothing outside.
  if (type.shape)
    for (Dim& dim : *type.shape)
      if (!m.builder().visible(dim)) dim = m.builder().fresh_dim("item");
  return type;
}

Value sequence_value(Machine& m, const ListState& list, const ValueType& type) {
  if (m.builder().opset() < 11) {
    Rejection rejection("a list whose length depends on the data needs ONNX sequences");
    rejection.first_opset = 11;
    throw rejection;
  }
  if (list.dynamic) return list.dynamic->value;
  if (list.items.empty())
    return m.emit("SequenceEmpty", {}, {{"dtype", type.dtype.value_or(DType::Float32)}});
  std::vector<Value> values;
  for (const Datum& item : list.items)
    values.push_back(m.builder().cast(item_value(m, item), type.dtype.value_or(DType::Float32)));
  return m.emit("SequenceConstruct", std::move(values));
}

Datum element_datum(Machine& m, const ListState& list, Value value) {
  if (!number_type(list.element)) return m.tensors().make(value);
  if (list.element->kind == program::TypeKind::Int) return Scalar(m.builder().symbol_of_value(value, "n"));
  return Scalar(list.element->kind == program::TypeKind::Bool ? Scalar::Kind::Bool : Scalar::Kind::Float,
                value);
}

}  // namespace pt2onnx
