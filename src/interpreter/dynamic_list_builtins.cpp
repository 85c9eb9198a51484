// What a program does with a list whose length the graph decides, and with an index that it decides.
#include <fmt/format.h>

#include "interpreter/dynamic_list.h"

namespace pt2onnx {
namespace {

using program::Node;
using Data = std::vector<Datum>;

const ListState* dynamic_in(const Data& inputs, std::size_t i) {
  const auto* list = i < inputs.size() ? inputs[i].get_if<ListRef>() : nullptr;
  return list && (*list)->dynamic ? list->get() : nullptr;
}

void set_sequence(Machine& m, const Datum& target, Value sequence) {
  const ListRef& list = *target.get_if<ListRef>();
  m.journal().touch(list);
  list->items.clear();
  list->dynamic = DynamicItems{DynamicItems::Form::Sequence, sequence};
}

bool append(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  const Value sequence = list->dynamic->value;
  const Value item = m.builder().cast(item_value(m, inputs[1]), sequence.dtype().value_or(DType::Float32));
  set_sequence(m, inputs[0], m.emit("SequenceInsert", {sequence, item}));
  if (!node.outputs.empty()) outputs.push_back(inputs[0]);
  return true;
}

bool length(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  outputs.emplace_back(
      Scalar(m.builder().symbol_of_value(m.emit("SequenceLength", {list->dynamic->value}), "length", 0)));
  return true;
}

bool get_item(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const auto* list = inputs[0].get_if<ListRef>();
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  if (!list || !index || (!(*list)->dynamic && index->is_known())) return false;
  const Value sequence = sequence_value(m, **list, sequence_type(m, **list));
  outputs.push_back(element_datum(m, **list, m.emit("SequenceAt", {sequence, m.number_value(*index)})));
  return true;
}

bool set_item(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto* list = inputs[0].get_if<ListRef>();
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  if (!list || !index || (!(*list)->dynamic && index->is_known())) return false;
  const Value sequence = sequence_value(m, **list, sequence_type(m, **list));
  const Value position = m.number_value(*index);
  const Value item = m.builder().cast(item_value(m, inputs[2]), sequence.dtype().value_or(DType::Float32));
  // Inserted before what it replaces, which then is one behind; a negative index still counts from the old end.
  const Value erased = m.emit("SequenceErase", {sequence, position});
  Value at = position;
  if (index->integer().value_or(-1) < 0) {
    const Value count = m.emit("SequenceLength", {sequence});
    const Value zero = m.builder().constant(Tensor::scalar(std::int64_t{0}, DType::Int64));
    at = m.emit("Where", {m.emit("Less", {position, zero}), m.emit("Add", {position, count}), position});
  }
  set_sequence(m, inputs[0], m.emit("SequenceInsert", {erased, item, at}));
  if (!node.outputs.empty()) outputs.push_back(inputs[0]);
  return true;
}

bool pop(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  const Value at =
      index ? m.number_value(*index) : m.builder().constant(Tensor::scalar(std::int64_t{-1}, DType::Int64));
  const Value sequence = list->dynamic->value;
  outputs.push_back(element_datum(m, *list, m.emit("SequenceAt", {sequence, at})));
  set_sequence(m, inputs[0], m.emit("SequenceErase", {sequence, at}));
  return true;
}

/// torch.stack(list, dim) and torch.cat(list, dim).
bool join(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  const auto axis = int_in(inputs, 1);
  if (!list || !axis) return false;
  const bool stack = node.op->name == "aten::stack";
  const Value joined =
      m.emit("ConcatFromSequence", {list->dynamic->value}, {{"axis", *axis}, {"new_axis", stack ? 1 : 0}});
  outputs.emplace_back(m.tensors().make(joined));
  return true;
}

bool copy(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  outputs.emplace_back(std::make_shared<ListState>(*list));
  return true;
}

/// A list of numbers as a 1-d tensor.
bool to_tensor(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  if (!list || !list->element || list->element->kind == program::TypeKind::Tensor) return false;
  if (inputs.size() > 1 && !inputs[1].is_none()) return false;
  Value joined = m.emit("ConcatFromSequence", {list->dynamic->value}, {{"axis", 0}, {"new_axis", 1}});
  if (list->element->kind == program::TypeKind::Float) joined = m.builder().cast(joined, DType::Float32);
  outputs.emplace_back(m.tensors().make(joined));
  return true;
}

/// Every other operator on such a list.
bool refuse(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  if (!dynamic_in(inputs, 0) && !dynamic_in(inputs, 1)) return false;
  m.report(node.op->name, "is applied to a list whose length depends on the data");
  outputs.assign(node.outputs.size(), Datum(Tainted{}));
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::__contains__", refuse},
    {"aten::__getitem__", get_item},
    {"aten::_set_item", set_item},
    {"aten::add", refuse},
    {"aten::add_", refuse},
    {"aten::append", append},
    {"aten::cat", join},
    {"aten::copy", copy},
    {"aten::extend", refuse},
    {"aten::index", refuse},
    {"aten::insert", refuse},
    {"aten::len", length},
    {"aten::list", copy},
    {"aten::pop", pop},
    {"aten::remove", refuse},
    {"aten::reverse", refuse},
    {"aten::slice", refuse},
    {"aten::sort", refuse},
    {"aten::stack", join},
    {"aten::tensor", to_tensor},
    {"prim::ListUnpack", refuse},
};

}  // namespace

std::span<const BuiltinEntry> dynamic_list_builtins() { return kTable; }

}  // namespace pt2onnx
