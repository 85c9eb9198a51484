// What a program does with a list whose length the graph decides, and with an index that it decides.
#include <fmt/format.h>

#include "interpreter/dynamic_list.h"
#include "symbolics/onnx.h"

namespace pt2onnx {
namespace {

using program::Node;
using Data = std::vector<Datum>;

/// Of a growing list not even the length is in sight; who can do without asks growing_in before.
const ListState* dynamic_in(const Data& inputs, std::size_t i) {
  const auto* list = i < inputs.size() ? inputs[i].get_if<ListRef>() : nullptr;
  if (!list || !(*list)->dynamic) return nullptr;
  if ((*list)->dynamic->growth) throw NeedsWholeList{(*list)->dynamic->growth};
  return list->get();
}

ListState* growing_in(const Data& inputs, std::size_t i) {
  const auto* list = i < inputs.size() ? inputs[i].get_if<ListRef>() : nullptr;
  return list && (*list)->dynamic && (*list)->dynamic->growth ? list->get() : nullptr;
}

/// The tensor of a list that is one.
std::optional<Value> stack_in(const ListState& list) {
  if (list.dynamic->form != DynamicItems::Form::Stacked) return std::nullopt;
  return list.dynamic->value;
}

std::int64_t positive_axis(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

void set_items(Machine& m, const Datum& target, DynamicItems items) {
  const ListRef& list = *target.get_if<ListRef>();
  m.journal().touch(list);
  list->items.clear();
  list->dynamic = std::move(items);
}

void set_sequence(Machine& m, const Datum& target, Value sequence) {
  set_items(m, target, {DynamicItems::Form::Sequence, sequence});
}

/// The list with these items behind it.
DynamicItems extended(Machine& m, const ListState& list, const Data& items) {
  const bool numbers = holds_numbers(list);
  if (numbers || (stack_in(list) && can_stack(m, items, list))) {
    Call c = shaping(m);
    std::vector<Value> parts{numbers ? number_vector(m, list) : list.dynamic->value};
    for (const Datum& item : items)
      parts.push_back(
          onnx::unsqueeze(c, m.builder().cast(item_value(m, item), parts[0].dtype().value()), {0}));
    return stacked(onnx::concat(c, std::move(parts), 0));
  }
  Value sequence = sequence_value(m, list, sequence_type(m, list));
  for (const Datum& item : items)
    sequence =
        m.emit("SequenceInsert",
               {sequence, m.builder().cast(item_value(m, item), sequence.dtype().value_or(DType::Float32))});
  return {DynamicItems::Form::Sequence, sequence};
}

bool append(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  if (ListState* list = growing_in(inputs, 0)) {
    m.journal().touch(*inputs[0].get_if<ListRef>());
    list->items.push_back(inputs[1]);
  } else if (const ListState* whole = dynamic_in(inputs, 0)) {
    set_items(m, inputs[0], extended(m, *whole, {inputs[1]}));
  } else {
    return false;
  }
  if (!node.outputs.empty()) outputs.push_back(inputs[0]);
  return true;
}

/// list.extend(other), list += other and list + other, where the other list is known.
bool concatenate(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto* other = inputs.size() > 1 ? inputs[1].get_if<ListRef>() : nullptr;
  const auto* mine = inputs[0].get_if<ListRef>();
  if (!mine || !other || !(*mine)->dynamic || (*other)->dynamic) return false;
  const Data added = (*other)->items;
  ListRef target = *mine;
  if (node.op->name == "aten::add") target = std::make_shared<ListState>(**mine);
  const Datum result(target);
  if (target->dynamic->growth) {
    m.journal().touch(target);
    target->items.insert(target->items.end(), added.begin(), added.end());
  } else {
    set_items(m, result, extended(m, *target, added));
  }
  if (!node.outputs.empty()) outputs.push_back(result);
  return true;
}

bool length(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const ListState* list = growing_in(inputs, 0)) {
    outputs.emplace_back(
        Scalar(list->dynamic->growth->length + static_cast<std::int64_t>(list->items.size())));
    return true;
  }
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  if (const auto stack = stack_in(*list))
    outputs.emplace_back(Scalar(m.builder().size_of(*stack, 0)));
  else
    outputs.emplace_back(
        Scalar(m.builder().symbol_of_value(m.emit("SequenceLength", {list->dynamic->value}), "length", 0)));
  return true;
}

bool get_item(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const auto* list = inputs[0].get_if<ListRef>();
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  if (!list || !index || (!(*list)->dynamic && index->is_known())) return false;
  if (const ListState* growing =
          growing_in(inputs, 0)) {  // what this iteration appended, counted from the end
    const auto back = index->integer().value_or(0);
    if (back < 0 && -back <= static_cast<std::int64_t>(growing->items.size())) {
      outputs.push_back(growing->items[growing->items.size() - static_cast<std::size_t>(-back)]);
      return true;
    }
  }
  const ListState* whole = dynamic_in(inputs, 0);
  if (holds_numbers(**list) || (whole && stack_in(*whole))) {
    const Value items = holds_numbers(**list) ? number_vector(m, **list) : whole->dynamic->value;
    outputs.push_back(
        element_datum(m, **list, m.emit("Gather", {items, m.number_value(*index)}, {{"axis", 0}})));
    return true;
  }
  const Value sequence = sequence_value(m, **list, sequence_type(m, **list));
  outputs.push_back(element_datum(m, **list, m.emit("SequenceAt", {sequence, m.number_value(*index)})));
  return true;
}

bool set_item(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto* list = inputs[0].get_if<ListRef>();
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  if (!list || !index || (!(*list)->dynamic && index->is_known())) return false;
  if (holds_numbers(**list)) {
    Call c = shaping(m);
    const Value numbers = number_vector(m, **list);
    const Value item = m.builder().cast(item_value(m, inputs[2]), numbers.dtype().value());
    set_items(m, inputs[0],
              stacked(m.emit(
                  m.builder().opset() >= 11 ? "ScatterElements" : "Scatter",
                  {numbers, onnx::unsqueeze(c, m.number_value(*index), {0}), onnx::unsqueeze(c, item, {0})},
                  {{"axis", 0}})));
    if (!node.outputs.empty()) outputs.push_back(inputs[0]);
    return true;
  }
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
  if (ListState* list = growing_in(inputs, 0); list && inputs.size() == 1 && !list->items.empty()) {
    m.journal().touch(*inputs[0].get_if<ListRef>());
    outputs.push_back(list->items.back());
    list->items.pop_back();
    return true;
  }
  const ListState* list = dynamic_in(inputs, 0);
  if (!list) return false;
  const auto* index = inputs.size() > 1 ? inputs[1].get_if<Scalar>() : nullptr;
  const auto own = [&](Value item) {
    Datum datum = element_datum(m, *list, item);
    if (const auto* tensor = datum.get_if<TensorRef>())
      (*tensor)->storage->listed = false;  // no longer in the list
    return datum;
  };
  const Dim* place = index ? std::get_if<Dim>(&index->data()) : nullptr;
  if (const auto stack = stack_in(*list); stack && (!index || place)) {
    Call c = shaping(m);
    const Dim size = m.builder().size_of(*stack, 0);
    const Dim wanted = place ? *place : Dim(-1);
    if (wanted.lower_bound().value_or(-1) >= 0 || wanted.upper_bound().value_or(0) < 0) {
      const Dim at = wanted.lower_bound().value_or(-1) >= 0 ? wanted : size + wanted;
      outputs.push_back(own(onnx::select(c, *stack, 0, at)));
      const Value before = onnx::slice(c, *stack, 0, 0, at);
      const bool last = at == size - 1;
      set_items(
          m, inputs[0],
          stacked(last ? before : onnx::concat(c, {before, onnx::slice(c, *stack, 0, at + 1, size)}, 0)));
      return true;
    }
  }
  const Value at =
      index ? m.number_value(*index) : m.builder().constant(Tensor::scalar(std::int64_t{-1}, DType::Int64));
  const Value sequence = sequence_value(m, *list, sequence_type(m, *list));
  outputs.push_back(own(m.emit("SequenceAt", {sequence, at})));
  set_sequence(m, inputs[0], m.emit("SequenceErase", {sequence, at}));
  return true;
}

/// torch.stack(list, dim) and torch.cat(list, dim).
bool join(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  const auto axis = int_in(inputs, 1);
  if (!list || !axis) return false;
  const bool stack = node.op->name == "aten::stack";
  const auto whole = stack_in(*list);
  if (whole && whole->shape() && whole->shape()->size() > (stack ? 0U : 1U)) {
    Call c = shaping(m);
    const std::size_t rank = whole->shape()->size();
    const std::int64_t to = positive_axis(*axis, stack ? rank : rank - 1);
    std::vector<std::int64_t> order;  // the axis of the items goes where they are joined
    for (std::size_t i = 1; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
    order.insert(order.begin() + to, 0);
    Value joined = onnx::transpose(c, *whole, order);
    if (!stack) {
      Shape shape = c.sizes_of(joined);
      const auto at = static_cast<std::size_t>(to);
      shape[at] = shape[at] * shape[at + 1];
      shape.erase(shape.begin() + to + 1);
      joined = onnx::reshape(c, joined, shape);
    }
    outputs.emplace_back(m.tensors().make(joined));
    return true;
  }
  const Value joined = m.emit("ConcatFromSequence", {sequence_value(m, *list, sequence_type(m, *list))},
                              {{"axis", *axis}, {"new_axis", stack ? 1 : 0}});
  outputs.emplace_back(m.tensors().make(joined));
  return true;
}

/// The items of a dynamic dim, one by one.
bool unbind(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const auto* tensor = inputs[0].get_if<TensorRef>();
  auto axis = inputs.size() > 1 ? int_in(inputs, 1) : 0;
  if (!tensor || !axis) return false;
  const Value x = m.tensors().read(*tensor);
  if (!x.rank() || *x.rank() == 0 || is_complex(x.type())) return false;
  axis = positive_axis(*axis, *x.rank());
  if (*axis < 0 || *axis >= static_cast<std::int64_t>(*x.rank())) return false;
  Call c = shaping(m);
  if (c.size_of(x, *axis).known()) return false;
  std::vector<std::int64_t> order{*axis};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(*x.rank()); ++i)
    if (i != *axis) order.push_back(i);
  auto list = make_list({});
  list->dynamic = stacked(onnx::transpose(c, x, order));
  outputs.emplace_back(list);
  return true;
}

/// list[start:end:step], and the list the other way round.
bool slice(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListState* list = dynamic_in(inputs, 0);
  const auto stack = list ? stack_in(*list) : std::nullopt;
  if (!stack) return false;
  const auto bound = [&](std::size_t i, Dim otherwise) -> std::optional<Dim> {
    if (i >= inputs.size() || inputs[i].is_none()) return otherwise;
    const auto* number = inputs[i].get_if<Scalar>();
    const auto* dim = number ? std::get_if<Dim>(&number->data()) : nullptr;
    return dim ? std::optional(*dim) : std::nullopt;
  };
  const Dim size = m.builder().size_of(*stack, 0);
  const auto start = bound(1, 0), end = bound(2, size);
  const auto step = int_in(inputs, 3).value_or(1);
  if (!start || !end || step < 1) return false;
  Call c = shaping(m);
  auto part = make_list({}, list->element);
  part->dynamic = stacked(onnx::slice(c, *stack, 0, *start, *end, step));
  outputs.emplace_back(part);
  return true;
}

bool reverse(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  const ListState* list = dynamic_in(inputs, 0);
  const auto stack = list ? stack_in(*list) : std::nullopt;
  if (!stack) return false;
  Call c = shaping(m);
  set_items(m, inputs[0], stacked(onnx::reverse(c, *stack, {0})));
  return true;
}

bool clear(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  const auto* list = inputs[0].get_if<ListRef>();
  if (!list || !(*list)->dynamic) return false;
  m.journal().touch(*list);
  (*list)->items.clear();
  (*list)->dynamic.reset();
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
  if (!list || !holds_numbers(*list)) return false;
  if (inputs.size() > 1 && !inputs[1].is_none()) return false;
  Value joined = number_vector(m, *list);
  if (list->element->kind == program::TypeKind::Float) joined = m.builder().cast(joined, DType::Float32);
  outputs.emplace_back(m.tensors().make(joined));
  return true;
}

/// tensor.tolist(): numbers, in lists in lists; of a dynamic dim a list whose length the graph decides.
Datum numbers_of(Machine& m, Value x, const program::TypeRef& type) {
  if (type->kind != program::TypeKind::List) {
    ListState single;
    single.element = type;
    return element_datum(m, single,
                         m.builder().cast(x, x.dtype() == DType::Bool         ? DType::Bool
                                             : is_floating(x.dtype().value()) ? DType::Float64
                                                                              : DType::Int64));
  }
  Call c = shaping(m);
  if (c.rank(x) == 0) throw Rejection("tolist() of a tensor with fewer dims than the list has");
  const program::TypeRef element = type->elements.at(0);
  const Dim count = c.size_of(x, 0);
  auto list = make_list({}, element);
  if (const auto known = count.known()) {
    for (std::int64_t i = 0; i < *known; ++i)
      list->items.push_back(numbers_of(m, onnx::select(c, x, 0, i), element));
  } else {
    if (c.rank(x) != 1) throw Rejection("tolist() of a tensor with two dims, the first of them dynamic");
    list->dynamic = stacked(x);
  }
  return list;
}

bool to_list(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto* tensor = inputs[0].get_if<TensorRef>();
  const auto& type = node.output_types.empty() ? nullptr : node.output_types[0];
  if (!tensor || !type) return false;
  outputs.push_back(numbers_of(m, m.tensors().read(*tensor), type));
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
    {"aten::add", concatenate},
    {"aten::add", refuse},
    {"aten::add_", concatenate},
    {"aten::add_", refuse},
    {"aten::append", append},
    {"aten::cat", join},
    {"aten::clear", clear},
    {"aten::copy", copy},
    {"aten::count", refuse},
    {"aten::eq", refuse},
    {"aten::extend", concatenate},
    {"aten::extend", refuse},
    {"aten::index", refuse},
    {"aten::insert", refuse},
    {"aten::len", length},
    {"aten::list", copy},
    {"aten::mul", refuse},
    {"aten::ne", refuse},
    {"aten::pop", pop},
    {"aten::remove", refuse},
    {"aten::reverse", reverse},
    {"aten::reverse", refuse},
    {"aten::slice", slice},
    {"aten::slice", refuse},
    {"aten::sort", refuse},
    {"aten::sorted", refuse},
    {"aten::stack", join},
    {"aten::sum", refuse},
    {"aten::tensor", to_tensor},
    {"aten::unbind", unbind},
    {"prim::ListUnpack", refuse},
    {"prim::max", refuse},
    {"prim::min", refuse},
    {"prim::tolist", to_list},
};

}  // namespace

std::span<const BuiltinEntry> dynamic_list_builtins() { return kTable; }

}  // namespace pt2onnx
