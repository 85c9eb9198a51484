// Lists, tuples, dicts and strings: kept as Python keeps them, so that nothing of them reaches the graph.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interpreter/machine.h"
#include "interpreter/scalar_math.h"

namespace pt2onnx {
namespace {

using program::Node;
using Data = std::vector<Datum>;

const ListRef* list_in(const Data& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i].get_if<ListRef>() : nullptr;
}
const DictRef* dict_in(const Data& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i].get_if<DictRef>() : nullptr;
}
/// The container that an operator is about to change.
void touch(Machine& m, const Data& inputs) {
  if (const ListRef* list = list_in(inputs, 0)) m.journal().touch(*list);
  if (const DictRef* dict = dict_in(inputs, 0)) m.journal().touch(*dict);
}

program::TypeRef element_type(const Node& node) {
  const auto& type = node.output_types.empty() ? nullptr : node.output_types[0];
  return type && !type->elements.empty() ? type->elements[0] : nullptr;
}

std::size_t position(Machine& m, std::int64_t index, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  if (index < 0) index += n;
  if (index < 0 || index >= n) m.raise("list index out of range");
  return static_cast<std::size_t>(index);
}

/// Python's slice of a sequence.
Data sliced(const Data& items, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
            std::int64_t step) {
  const auto n = static_cast<std::int64_t>(items.size());
  const auto clamp = [&](std::int64_t i, std::int64_t low, std::int64_t high) {
    return std::clamp(i < 0 ? i + n : i, low, high);
  };
  Data result;
  if (step > 0) {
    const auto from = start ? clamp(*start, 0, n) : 0, to = end ? clamp(*end, 0, n) : n;
    for (auto i = from; i < to; i += step) result.push_back(items[static_cast<std::size_t>(i)]);
  } else {
    const auto from = start ? clamp(*start, -1, n - 1) : n - 1, to = end ? clamp(*end, -1, n - 1) : -1;
    for (auto i = from; i > to; i += step) result.push_back(items[static_cast<std::size_t>(i)]);
  }
  return result;
}

// ---- lists -----------------------------------------------------------------------------------------------------------

bool list_construct(Machine&, const Node& node, Frame&, Data& inputs, Data& outputs) {
  outputs.emplace_back(make_list(std::move(inputs), element_type(node)));
  return true;
}

bool list_unpack(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  if ((*list)->items.size() != node.outputs.size())
    m.raise(fmt::format("unpacking {} values from a list of {}", node.outputs.size(), (*list)->items.size()));
  outputs = (*list)->items;
  return true;
}

bool length(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const ListRef* list = list_in(inputs, 0))
    outputs.emplace_back(Scalar(static_cast<std::int64_t>((*list)->items.size())));
  else if (const DictRef* dict = dict_in(inputs, 0))
    outputs.emplace_back(Scalar(static_cast<std::int64_t>((*dict)->items.size())));
  else if (const auto* tuple = inputs[0].get_if<TupleRef>())
    outputs.emplace_back(Scalar(static_cast<std::int64_t>((*tuple)->items.size())));
  else
    return false;
  return true;
}

/// The entry of a dict under a key. Of numbers and text that the graph decides it may be unknown whether they are equal.
std::optional<std::size_t> entry_of(const DictState& dict, const Datum& key) {
  bool open = false;
  for (std::size_t i = 0; i < dict.items.size(); ++i) {
    const auto equal = known_equal(dict.items[i].first, key);
    if (equal == true) return i;
    open |= !equal;
  }
  if (open) throw Rejection("looks up a dict by a key that the graph decides");
  return std::nullopt;
}

std::string key_text(const Datum& key) {
  if (const auto* text = key.get_if<std::string>()) return *text;
  if (const auto* open = key.get_if<OpenText>()) return open->text;
  const auto* scalar = key.get_if<Scalar>();
  return scalar && scalar->integer() ? std::to_string(*scalar->integer()) : type_name(key);
}

bool get_item(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const ListRef* list = list_in(inputs, 0)) {
    const auto index = int_in(inputs, 1);
    if (!index) return false;
    outputs.push_back((*list)->items[position(m, *index, (*list)->items.size())]);
    return true;
  }
  if (const DictRef* dict = dict_in(inputs, 0)) {
    const auto entry = entry_of(**dict, inputs[1]);
    if (!entry) m.raise(fmt::format("KeyError: {}", key_text(inputs[1])));
    outputs.push_back((*dict)->items[*entry].second);
    return true;
  }
  return false;
}

bool set_item(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  touch(m, inputs);
  if (const ListRef* list = list_in(inputs, 0)) {
    const auto index = int_in(inputs, 1);
    if (!index) return false;
    (*list)->items[position(m, *index, (*list)->items.size())] = inputs[2];
  } else if (const DictRef* dict = dict_in(inputs, 0)) {
    if (const auto entry = entry_of(**dict, inputs[1]))
      (*dict)->items[*entry].second = inputs[2];
    else
      (*dict)->items.emplace_back(inputs[1], inputs[2]);
  } else {
    return false;
  }
  if (!node.outputs.empty()) outputs.push_back(inputs[0]);
  return true;
}

bool delete_item(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  if (const ListRef* list = list_in(inputs, 0)) {
    const auto index = int_in(inputs, 1);
    if (!index) return false;
    auto& items = (*list)->items;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(position(m, *index, items.size())));
    return true;
  }
  const DictRef* dict = dict_in(inputs, 0);
  if (!dict) return false;
  const auto entry = entry_of(**dict, inputs[1]);
  if (!entry) m.raise(fmt::format("KeyError: {}", key_text(inputs[1])));
  (*dict)->items.erase((*dict)->items.begin() + static_cast<std::ptrdiff_t>(*entry));
  return true;
}

bool append(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  touch(m, inputs);
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  (*list)->items.push_back(inputs[1]);
  if (!node.outputs.empty()) outputs.push_back(inputs[0]);
  return true;
}

bool extend(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  const ListRef *list = list_in(inputs, 0), *more = list_in(inputs, 1);
  if (!list || !more) return false;
  const Data added = (*more)->items;  // a copy: a list may be extended by itself
  (*list)->items.insert((*list)->items.end(), added.begin(), added.end());
  return true;
}

bool insert(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  const ListRef* list = list_in(inputs, 0);
  const auto index = int_in(inputs, 1);
  if (!list || !index) return false;
  auto& items = (*list)->items;
  const auto n = static_cast<std::int64_t>(items.size());
  items.insert(items.begin() + std::clamp<std::int64_t>(*index < 0 ? *index + n : *index, 0, n), inputs[2]);
  return true;
}

bool pop(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  touch(m, inputs);
  if (const ListRef* list = list_in(inputs, 0)) {
    const auto index = inputs.size() > 1 ? int_in(inputs, 1) : std::optional<std::int64_t>(-1);
    if (!index) return false;
    auto& items = (*list)->items;
    const std::size_t at = position(m, *index, items.size());
    outputs.push_back(items[at]);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
  }
  const DictRef* dict = dict_in(inputs, 0);
  if (!dict) return false;
  const auto entry = entry_of(**dict, inputs[1]);
  if (!entry) {
    if (inputs.size() < 3) m.raise(fmt::format("KeyError: {}", key_text(inputs[1])));
    outputs.push_back(inputs[2]);
    return true;
  }
  outputs.push_back((*dict)->items[*entry].second);
  (*dict)->items.erase((*dict)->items.begin() + static_cast<std::ptrdiff_t>(*entry));
  return true;
}

bool clear(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  if (const ListRef* list = list_in(inputs, 0))
    (*list)->items.clear();
  else if (const DictRef* dict = dict_in(inputs, 0))
    (*dict)->items.clear();
  else
    return false;
  return true;
}

bool reverse(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  std::reverse((*list)->items.begin(), (*list)->items.end());
  return true;
}

/// Known numbers and strings only: an order that the graph decides cannot be followed.
bool sort(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  touch(m, inputs);
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  Data items = (*list)->items;
  const bool numbers = std::all_of(items.begin(), items.end(), [](const Datum& d) {
    return d.get_if<Scalar>() && d.get_if<Scalar>()->number();
  });
  const bool strings =
      std::all_of(items.begin(), items.end(), [](const Datum& d) { return d.get_if<std::string>(); });
  if (!numbers && !strings) return false;
  const bool descending = int_in(inputs, 1).value_or(0) != 0;
  std::stable_sort(items.begin(), items.end(), [&](const Datum& a, const Datum& b) {
    const Datum &x = descending ? b : a, &y = descending ? a : b;
    return numbers ? *x.get_if<Scalar>()->number() < *y.get_if<Scalar>()->number()
                   : *x.get_if<std::string>() < *y.get_if<std::string>();
  });
  if (node.op->name == "aten::sorted")
    outputs.emplace_back(make_list(std::move(items), (*list)->element));
  else
    (*list)->items = std::move(items);
  return true;
}

bool index_of(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  std::int64_t count = 0;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < (*list)->items.size(); ++i) {
    const auto equal = known_equal((*list)->items[i], inputs[1]);
    if (!equal) return false;
    if (!*equal) continue;
    ++count;
    if (!first) first = i;
  }
  if (node.op->name == "aten::count") {
    outputs.emplace_back(Scalar(count));
    return true;
  }
  if (!first) m.raise("the value is not in the list");
  if (node.op->name == "aten::remove") touch(m, inputs);
  if (node.op->name == "aten::remove")
    (*list)->items.erase((*list)->items.begin() + static_cast<std::ptrdiff_t>(*first));
  else
    outputs.emplace_back(Scalar(static_cast<std::int64_t>(*first)));
  return true;
}

bool copy(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const ListRef* list = list_in(inputs, 0))
    outputs.emplace_back(make_list((*list)->items, (*list)->element));
  else if (const DictRef* dict = dict_in(inputs, 0))
    outputs.emplace_back(std::make_shared<DictState>(**dict));
  else
    return false;
  return true;
}

bool contains(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const DictRef* dict = dict_in(inputs, 0)) {
    outputs.emplace_back(Scalar(entry_of(**dict, inputs[1]).has_value()));
    return true;
  }
  const ListRef* list = list_in(inputs, 0);
  if (!list) return false;
  Scalar any(false);
  for (const Datum& item : (*list)->items) {
    const auto equal = equality(m, item, inputs[1]);
    if (!equal) return false;
    any = symbolic_math(m, "__or__", std::array{any, *equal}).value();
  }
  outputs.emplace_back(any);
  return true;
}

/// == and != of lists and tuples.
bool compare(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  if (inputs.size() != 2 || inputs[0].get_if<Scalar>()) return false;
  if (!list_in(inputs, 0) && !inputs[0].get_if<TupleRef>()) return false;
  const auto equal = equality(m, inputs[0], inputs[1]);
  if (!equal) return false;
  outputs.emplace_back(node.op->name == "aten::eq" ? *equal
                                                   : symbolic_math(m, "__not__", std::array{*equal}).value());
  return true;
}

bool slice(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  const ListRef* list = list_in(inputs, 0);
  if (!list || inputs.size() != 4) return false;
  const auto step = int_in(inputs, 3);
  for (std::size_t i = 1; i <= 2; ++i)
    if (!inputs[i].is_none() && !int_in(inputs, i)) return false;
  if (!step || *step == 0) return false;
  outputs.emplace_back(
      make_list(sliced((*list)->items, int_in(inputs, 1), int_in(inputs, 2), *step), (*list)->element));
  return true;
}

bool concatenate(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const ListRef *a = list_in(inputs, 0), *b = list_in(inputs, 1);
  if (!a || !b) return false;
  if (node.op->name == "aten::add_") {
    touch(m, inputs);
    const Data added = (*b)->items;
    (*a)->items.insert((*a)->items.end(), added.begin(), added.end());
    outputs.push_back(inputs[0]);
    return true;
  }
  Data items = (*a)->items;
  items.insert(items.end(), (*b)->items.begin(), (*b)->items.end());
  outputs.emplace_back(make_list(std::move(items), (*a)->element));
  return true;
}

bool repeat(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  for (std::size_t i = 0; i < 2; ++i) {
    const ListRef* list = list_in(inputs, i);
    const auto times = int_in(inputs, 1 - i);
    if (!list || !times) continue;
    Data items;
    for (std::int64_t k = 0; k < *times; ++k)
      items.insert(items.end(), (*list)->items.begin(), (*list)->items.end());
    outputs.emplace_back(make_list(std::move(items), (*list)->element));
    return true;
  }
  return false;
}

/// list(x) of a list, a dict's keys or a string.
bool to_list(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (const ListRef* list = list_in(inputs, 0)) {
    outputs.emplace_back(make_list((*list)->items, (*list)->element));
    return true;
  }
  const auto* text = inputs[0].get_if<std::string>();
  if (!text) return false;
  Data items;
  for (const char ch : *text) items.emplace_back(std::string(1, ch));
  outputs.emplace_back(make_list(std::move(items)));
  return true;
}

// ---- tuples ----------------------------------------------------------------------------------------------------------

bool tuple_construct(Machine&, const Node& node, Frame&, Data& inputs, Data& outputs) {
  outputs.emplace_back(std::make_shared<TupleState>(TupleState{node.output_types[0], std::move(inputs)}));
  return true;
}

bool tuple_unpack(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto* tuple = inputs[0].get_if<TupleRef>();
  if (!tuple) return false;
  if ((*tuple)->items.size() != node.outputs.size()) m.raise("unpacking a tuple of another length");
  outputs = (*tuple)->items;
  return true;
}

bool tuple_index(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const auto* tuple = inputs[0].get_if<TupleRef>();
  const auto index = int_in(inputs, 1);
  if (!tuple || !index) return false;
  outputs.push_back((*tuple)->items[position(m, *index, (*tuple)->items.size())]);
  return true;
}

// ---- dicts -----------------------------------------------------------------------------------------------------------

bool dict_construct(Machine&, const Node& node, Frame&, Data& inputs, Data& outputs) {
  auto dict = std::make_shared<DictState>();
  if (const auto& type = node.output_types[0]; type && type->elements.size() == 2) {
    dict->key = type->elements[0];
    dict->value = type->elements[1];
  }
  for (std::size_t i = 0; i + 1 < inputs.size(); i += 2) {
    if (const auto entry = entry_of(*dict, inputs[i]))
      dict->items[*entry].second = inputs[i + 1];
    else
      dict->items.emplace_back(inputs[i], inputs[i + 1]);
  }
  outputs.emplace_back(std::move(dict));
  return true;
}

bool dict_parts(Machine&, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const DictRef* dict = dict_in(inputs, 0);
  if (!dict) return false;
  Data parts;
  for (const auto& [key, value] : (*dict)->items) {
    if (node.op->name == "aten::keys")
      parts.push_back(key);
    else if (node.op->name == "aten::values")
      parts.push_back(value);
    else
      parts.emplace_back(std::make_shared<TupleState>(TupleState{nullptr, {key, value}}));
  }
  outputs.emplace_back(make_list(std::move(parts), element_type(node)));
  return true;
}

/// get(key[, default]) and setdefault(key, default).
bool dict_get(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const DictRef* dict = dict_in(inputs, 0);
  if (!dict) return false;
  const auto entry = entry_of(**dict, inputs[1]);
  const Datum fallback = inputs.size() > 2 ? inputs[2] : Datum();
  outputs.push_back(entry ? (*dict)->items[*entry].second : fallback);
  if (entry || node.op->name != "aten::setdefault") return true;
  touch(m, inputs);
  (*dict)->items.emplace_back(inputs[1], fallback);
  return true;
}

bool dict_update(Machine& m, const Node&, Frame&, Data& inputs, Data&) {
  touch(m, inputs);
  const DictRef *dict = dict_in(inputs, 0), *more = dict_in(inputs, 1);
  if (!dict || !more) return false;
  for (const auto& [key, value] : (*more)->items) {
    if (const auto entry = entry_of(**dict, key))
      (*dict)->items[*entry].second = value;
    else
      (*dict)->items.emplace_back(key, value);
  }
  return true;
}

/// dict() and dict of (key, value) pairs.
bool to_dict(Machine&, const Node& node, Frame&, Data& inputs, Data& outputs) {
  auto dict = std::make_shared<DictState>();
  if (const auto& type = node.output_types[0]; type && type->elements.size() == 2) {
    dict->key = type->elements[0];
    dict->value = type->elements[1];
  }
  if (const DictRef* other = dict_in(inputs, 0)) {
    dict->items = (*other)->items;
  } else if (const ListRef* list = list_in(inputs, 0)) {
    for (const Datum& item : (*list)->items) {
      const auto* pair = item.get_if<TupleRef>();
      if (!pair || (*pair)->items.size() != 2) return false;
      dict->items.emplace_back((*pair)->items[0], (*pair)->items[1]);
    }
  } else if (!inputs.empty()) {
    return false;
  }
  outputs.emplace_back(std::move(dict));
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::Delete", delete_item},
    {"aten::__contains__", contains},
    {"aten::__getitem__", get_item},
    {"aten::_set_item", set_item},
    {"aten::add", concatenate},
    {"aten::add_", concatenate},
    {"aten::append", append},
    {"aten::clear", clear},
    {"aten::copy", copy},
    {"aten::count", index_of},
    {"aten::dict", to_dict},
    {"aten::eq", compare},
    {"aten::extend", extend},
    {"aten::get", dict_get},
    {"aten::index", index_of},
    {"aten::insert", insert},
    {"aten::items", dict_parts},
    {"aten::keys", dict_parts},
    {"aten::len", length},
    {"aten::list", to_list},
    {"aten::mul", repeat},
    {"aten::ne", compare},
    {"aten::pop", pop},
    {"aten::remove", index_of},
    {"aten::reverse", reverse},
    {"aten::setdefault", dict_get},
    {"aten::slice", slice},
    {"aten::sort", sort},
    {"aten::sorted", sort},
    {"aten::update", dict_update},
    {"aten::values", dict_parts},
    {"prim::DictConstruct", dict_construct},
    {"prim::ListConstruct", list_construct},
    {"prim::ListUnpack", list_unpack},
    {"prim::TupleConstruct", tuple_construct},
    {"prim::TupleIndex", tuple_index},
    {"prim::TupleUnpack", tuple_unpack},
};

}  // namespace

std::span<const BuiltinEntry> container_builtins() { return kTable; }

}  // namespace pt2onnx
