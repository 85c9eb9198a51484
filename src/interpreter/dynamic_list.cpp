#include "interpreter/dynamic_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "symbolics/onnx.h"

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

void need_sequences(Machine& m) {
  if (m.builder().opset() >= 11) return;
  Rejection rejection("a list whose length depends on the data needs ONNX sequences");
  rejection.first_opset = 11;
  throw rejection;
}

/// What an item is as one of many: a 0-d tensor for a number.
Value read_item(Machine& m, const Datum& item) {
  if (const auto* tensor = item.get_if<TensorRef>()) return m.tensors().read(*tensor);
  if (const auto* number = item.get_if<Scalar>()) return m.number_value(*number);
  throw Rejection(fmt::format("a list of {} has a length that depends on the data, which ONNX cannot hold",
                              type_name(item)));
}

}  // namespace

Call shaping(Machine& m) {
  static const program::Schema kNone;
  return Call(m.builder(), kNone, {});
}

Value item_value(Machine& m, const Datum& item) {
  const Value value = read_item(m, item);
  if (const auto* tensor = item.get_if<TensorRef>()) {
    m.journal().touch((*tensor)->storage);
    (*tensor)->storage->listed = true;
  }
  return value;
}

bool holds_numbers(const ListState& list) { return number_type(list.element).has_value(); }

Value number_vector(Machine& m, const ListState& list) {
  if (list.dynamic && list.dynamic->growth) throw NeedsWholeList{list.dynamic->growth};
  if (list.dynamic && list.dynamic->form == DynamicItems::Form::Stacked) return list.dynamic->value;
  const DType dtype = number_type(list.element).value();
  Call c = shaping(m);
  if (list.dynamic)  // ConcatFromSequence wants an item: one more goes in front and out again
    return onnx::slice(c,
                       m.emit("ConcatFromSequence",
                              {m.emit("SequenceInsert", {list.dynamic->value, c.constant(0, dtype),
                                                         c.constant(0, DType::Int64)})},
                              {{"axis", 0}, {"new_axis", 1}}),
                       0, 1, std::numeric_limits<std::int64_t>::max());
  if (list.items.empty()) return m.builder().constant(Tensor::of_bytes({}, {0}, dtype));
  std::vector<Value> items;
  for (const Datum& item : list.items)
    items.push_back(onnx::unsqueeze(c, m.builder().cast(item_value(m, item), dtype), {0}));
  return items.size() == 1 ? items[0] : onnx::concat(c, items, 0);
}

ValueType list_type(Machine& m, const ListState& list) {
  if (!holds_numbers(list)) return sequence_type(m, list);
  if (list.dynamic && list.dynamic->growth) throw NeedsWholeList{list.dynamic->growth};
  return {ValueType::Kind::Tensor, number_type(list.element), Shape{m.builder().fresh_dim("length")}};
}

Value list_value(Machine& m, const ListState& list, const ValueType& type) {
  return type.kind == ValueType::Kind::Tensor ? number_vector(m, list) : sequence_value(m, list, type);
}

DynamicItems stacked(Value value) { return {DynamicItems::Form::Stacked, value}; }

bool can_stack(Machine& m, const std::vector<Datum>& items, const ListState& with) {
  if (with.dynamic && with.dynamic->form != DynamicItems::Form::Stacked) return false;
  std::optional<ValueType> type;
  const auto fits = [&](const ValueType& other) {
    if (!other.dtype || !other.shape || is_complex(other)) return false;
    for (const Dim& dim : *other.shape)
      if (!m.builder().visible(dim)) return false;
    if (!type) type = other;
    return type->dtype == other.dtype && type->shape == other.shape;
  };
  if (with.dynamic) {
    ValueType item = with.dynamic->value.type();
    if (!item.shape) return false;
    item.shape->erase(item.shape->begin());
    if (!fits(item)) return false;
  }
  const auto one = [&](const Datum& item) {
    return (item.get_if<TensorRef>() || item.get_if<Scalar>()) && fits(read_item(m, item).type());
  };
  return std::all_of(with.items.begin(), with.items.end(), one) &&
         std::all_of(items.begin(), items.end(), one);
}

ListRef grown_list(Machine& m, const ListState& before, const std::vector<Value>& appended) {
  Call c = shaping(m);
  Value grown = appended.front();
  if (appended.size() > 1) {  // one after the other: iterations first, then what each appended
    std::vector<Value> columns;
    for (const Value column : appended) columns.push_back(onnx::unsqueeze(c, column, {1}));
    Shape shape = *columns.front().shape();
    shape[0] = shape[0] * static_cast<std::int64_t>(appended.size());
    shape.erase(shape.begin() + 1);
    grown = onnx::reshape(c, onnx::concat(c, columns, 1), shape);
  }
  std::vector<Value> parts;
  if (before.dynamic) parts.push_back(before.dynamic->value);
  for (const Datum& item : before.items) parts.push_back(onnx::unsqueeze(c, item_value(m, item), {0}));
  parts.push_back(grown);
  auto list = make_list({}, before.element);
  list->dynamic = stacked(parts.size() == 1 ? grown : onnx::concat(c, parts, 0));
  return list;
}

ValueType sequence_type(Machine& m, const ListState& list) {
  if (list.dynamic && list.dynamic->growth) throw NeedsWholeList{list.dynamic->growth};
  ValueType type;
  if (list.dynamic) {
    type = list.dynamic->value.type();
    if (list.dynamic->form == DynamicItems::Form::Stacked && type.shape)
      type.shape->erase(type.shape->begin());
    type.kind = ValueType::Kind::Sequence;
    return type;
  }
  type.kind = ValueType::Kind::Sequence;
  if (const auto number = number_type(list.element)) {
    type.dtype = number;
    type.shape = Shape{};
    return type;
  }
  bool first = true;
  for (const Datum& item : list.items) {
    const ValueType other = read_item(m, item).type();
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
  need_sequences(m);
  if (list.dynamic && list.dynamic->growth) throw NeedsWholeList{list.dynamic->growth};
  if (list.dynamic && list.dynamic->form == DynamicItems::Form::Stacked)
    return m.emit("SplitToSequence", {list.dynamic->value}, {{"axis", 0}, {"keepdims", 0}});
  if (list.dynamic) return list.dynamic->value;
  if (list.items.empty())
    return m.emit("SequenceEmpty", {}, {{"dtype", type.dtype.value_or(DType::Float32)}});
  std::vector<Value> values;
  for (const Datum& item : list.items)
    values.push_back(m.builder().cast(item_value(m, item), type.dtype.value_or(DType::Float32)));
  return m.emit("SequenceConstruct", std::move(values));
}

Datum element_datum(Machine& m, const ListState& list, Value value) {
  if (!number_type(list.element)) {
    TensorRef item = m.tensors().make(value);
    item->storage->listed = true;
    return item;
  }
  if (list.element->kind == program::TypeKind::Int) return Scalar(m.builder().symbol_of_value(value, "n"));
  return Scalar(list.element->kind == program::TypeKind::Bool ? Scalar::Kind::Bool : Scalar::Kind::Float,
                value);
}

}  // namespace pt2onnx
