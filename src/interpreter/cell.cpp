#include "interpreter/cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "interpreter/dynamic_list.h"

namespace pt2onnx {
namespace {

using Kind = Cell::Kind;

/// A 0-d tensor that is known as a number and has not been emitted yet.
const Scalar* unemitted(const TensorState& tensor) {
  return tensor.views.empty() && !tensor.storage->value ? &*tensor.storage->number : nullptr;
}

/// A size that is different on different ways; `widen` does not open it again.
Dim open_dim(Machine& m) {
  Dim dim = m.builder().fresh_dim("joined");
  m.joined_dims().insert(dim.str());
  return dim;
}

DType number_dtype(Scalar::Kind kind) {
  return kind == Scalar::Kind::Bool ? DType::Bool : kind == Scalar::Kind::Int ? DType::Int64 : DType::Float64;
}

ValueType type_of(Machine& m, const Datum& datum) {
  const TensorRef& tensor = *datum.get_if<TensorRef>();
  if (const Scalar* number = unemitted(*tensor)) {
    const bool real = number->kind() == Scalar::Kind::Float;
    return {ValueType::Kind::Tensor, real ? DType::Float32 : number_dtype(number->kind()), Shape{}};
  }
  ValueType type = m.tensors().read(tensor).type();
  if (type.shape)
    for (Dim& dim : *type.shape)
      if (!m.builder().visible(dim)) dim = open_dim(m);
  return type;
}

/// Sizes that differ become unknown, ranks that differ an unknown rank; element types must agree.
bool widen_type(Machine& m, ValueType& type, const ValueType& other) {
  bool changed = false;
  if (type.dtype != other.dtype) {
    if (type.dtype && other.dtype)
      throw Rejection(fmt::format("a tensor is {} on one way through the program and {} on another",
                                  to_string(*type.dtype), to_string(*other.dtype)));
    changed = type.dtype.has_value();
    type.dtype.reset();
  }
  if (!type.shape) return changed;
  if (!other.shape || other.shape->size() != type.shape->size()) {
    type.shape.reset();
    return true;
  }
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    Dim& dim = (*type.shape)[i];
    if (dim == (*other.shape)[i]) continue;
    if (m.joined_dims().contains(dim.str())) continue;
    dim = open_dim(m);
    changed = true;
  }
  return changed;
}

/// A complex tensor passes the border of a block as a real one with a last axis of 2.
ValueType in_graph(ValueType type) {
  if (!is_complex(type)) return type;
  type.dtype = real_of(*type.dtype);
  if (type.shape) type.shape->push_back(2);
  return type;
}

bool is_unset(const Datum& datum) { return datum.get_if<Uninitialized>() != nullptr; }

/// The same on both ways, and usable outside of both.
bool same_datum(Machine& m, const Datum& a, const Datum& b) {
  if (const auto *x = a.get_if<TensorRef>(), *y = b.get_if<TensorRef>(); x && y) {
    const Scalar *p = unemitted(**x), *q = unemitted(**y);
    if (p || q) return p && q && same_datum(m, *p, *q);
    const Value v = m.tensors().read(*x);
    return (*x == *y || v == m.tensors().read(*y)) && m.builder().visible(v);
  }
  if (const auto *x = a.get_if<Scalar>(), *y = b.get_if<Scalar>(); x && y) {
    const auto* dim = std::get_if<Dim>(&x->data());
    if (dim && !m.builder().visible(*dim)) return false;
    const auto *p = std::get_if<Scalar::Computed>(&x->data()), *q = std::get_if<Scalar::Computed>(&y->data());
    if (p && q) return p->value == q->value && m.builder().visible(p->value);
    return x->kind() == y->kind() && known_equal(a, b) == true;
  }
  if (const auto *x = a.get_if<ListRef>(), *y = b.get_if<ListRef>(); x && y && *x == *y) return true;
  if (const auto *x = a.get_if<DictRef>(), *y = b.get_if<DictRef>(); x && y && *x == *y) return true;
  const bool plain = a.get_if<std::string>() || a.get_if<OpenText>() || a.is_none() ||
                     a.get_if<program::EnumLiteral>() || a.get_if<program::DeviceLiteral>() ||
                     a.get_if<InstanceRef>();
  if (a.get_if<program::FunctionLiteral>() && b.get_if<program::FunctionLiteral>())
    return a.get_if<program::FunctionLiteral>()->name == b.get_if<program::FunctionLiteral>()->name;
  return plain && known_equal(a, b) == true;
}

[[noreturn]] void cannot_join(const Datum& a, const Datum& b) {
  throw Rejection(
      fmt::format("a variable is {} on one way through the program and {} on another, which no ONNX value "
                  "can be",
                  type_name(a), type_name(b)));
}

/// Opens up a fixed cell one level, so that its parts can vary one by one.
void unfold(Machine& m, Cell& cell) {
  const Datum datum = cell.fixed;
  if (datum.get_if<TensorRef>()) {
    cell.kind = Kind::Tensor;
    cell.type = type_of(m, datum);
  } else if (const auto* number = datum.get_if<Scalar>()) {
    if (number->kind() == Scalar::Kind::Complex) throw Rejection("a complex number depends on the data");
    cell.kind = Kind::Number;
    cell.number = number->kind();
  } else if (const auto* list = datum.get_if<ListRef>()) {
    if ((*list)->dynamic && !(*list)->dynamic->growth) {
      cell.kind = Kind::DynamicList;
      cell.type = list_type(m, **list);
    } else {
      cell.kind = Kind::List;
      for (const Datum& item : (*list)->items) cell.children.push_back(fixed_cell(item));
    }
  } else if (const auto* tuple = datum.get_if<TupleRef>()) {
    cell.kind = Kind::Tuple;
    for (const Datum& item : (*tuple)->items) cell.children.push_back(fixed_cell(item));
  } else if (const auto* dict = datum.get_if<DictRef>()) {
    cell.kind = Kind::Dict;
    for (const auto& [key, item] : (*dict)->items) cell.children.push_back(fixed_cell(item));
  } else if (const auto* maybe = datum.get_if<MaybeNone>()) {
    cell.kind = Kind::Maybe;
    cell.children.push_back(fixed_cell(*maybe->value));
  }
}

/// Both static, or both what the same list got in this iteration.
bool same_front(const ListState& a, const ListState& b) {
  if (!a.dynamic || !b.dynamic) return !a.dynamic && !b.dynamic;
  return a.dynamic->growth && a.dynamic->growth == b.dynamic->growth;
}

/// The type of a dynamic list covers that of another.
bool widen_list(Machine& m, ValueType& type, const ListState& other) {
  if (type.kind == ValueType::Kind::Tensor) return false;  // numbers: any length will do
  if (other.items.empty() && !other.dynamic) return false;
  return widen_type(m, type, list_type(m, other));
}

/// A list whose length differs.
void to_dynamic(Machine& m, Cell& cell, const ListState& other) {
  const ListState& mine = **cell.fixed.get_if<ListRef>();
  ValueType type = mine.items.empty() && !mine.dynamic ? list_type(m, other) : list_type(m, mine);
  if (other.dynamic && other.dynamic->growth) throw NeedsWholeList{other.dynamic->growth};
  widen_list(m, type, other);
  cell.kind = Kind::DynamicList;
  cell.type = std::move(type);
  cell.children.clear();
}

bool widen_children(Machine& m, Cell& cell, const std::vector<Datum>& items) {
  bool changed = false;
  for (std::size_t i = 0; i < items.size(); ++i) changed |= widen(m, cell.children[i], items[i]);
  return changed;
}

}  // namespace

Cell fixed_cell(Datum datum) {
  Cell cell;
  if (is_unset(datum)) cell.kind = Kind::Unset;
  cell.fixed = std::move(datum);
  return cell;
}

bool widen(Machine& m, Cell& cell, const Datum& datum) {
  if (is_unset(datum)) {
    // Whatever stands in for it is never read; a fixed value will do.
    return false;
  }
  if (cell.kind == Kind::Unset) {
    cell = fixed_cell(datum);
    const bool visible = same_datum(m, datum, datum);
    if (!visible) {
      unfold(m, cell);
      if (cell.kind != Kind::Fixed) widen(m, cell, datum);
    }
    return true;
  }
  if (cell.kind == Kind::Fixed) {
    if (same_datum(m, cell.fixed, datum)) return false;
    const bool none = cell.fixed.is_none(), other_none = datum.is_none();
    if (none != other_none && !cell.fixed.get_if<MaybeNone>() && !datum.get_if<MaybeNone>()) {
      Cell value = fixed_cell(none ? datum : cell.fixed);
      if (value.kind == Kind::Fixed && !same_datum(m, value.fixed, value.fixed)) unfold(m, value);
      cell.kind = Kind::Maybe;
      cell.children.assign(1, std::move(value));
      return true;
    }
    if (datum.get_if<MaybeNone>() && !cell.fixed.get_if<MaybeNone>()) {
      Cell value = none ? fixed_cell(*datum.get_if<MaybeNone>()->value) : fixed_cell(cell.fixed);
      cell.kind = Kind::Maybe;
      cell.children.assign(1, std::move(value));
      if (!none) widen(m, cell, datum);
      return true;
    }
    unfold(m, cell);
    if (cell.kind == Kind::Fixed) cannot_join(cell.fixed, datum);
    widen(m, cell, datum);
    return true;
  }
  switch (cell.kind) {
    case Kind::Tensor:
      if (!datum.get_if<TensorRef>()) break;
      return widen_type(m, cell.type, type_of(m, datum));
    case Kind::Number: {
      const auto* number = datum.get_if<Scalar>();
      if (!number || number->kind() == Scalar::Kind::Complex) break;
      if (number->kind() <= cell.number) return false;
      cell.number = number->kind();
      return true;
    }
    case Kind::DynamicList: {
      const auto* list = datum.get_if<ListRef>();
      if (!list) break;
      return widen_list(m, cell.type, **list);
    }
    case Kind::Maybe:
      if (datum.is_none()) return false;
      if (const auto* maybe = datum.get_if<MaybeNone>()) return widen(m, cell.children[0], *maybe->value);
      return widen(m, cell.children[0], datum);
    case Kind::List: {
      const auto* list = datum.get_if<ListRef>();
      if (!list) break;
      if (same_front(**list, **cell.fixed.get_if<ListRef>()) && (*list)->items.size() == cell.children.size())
        return widen_children(m, cell, (*list)->items);
      to_dynamic(m, cell, **list);
      return true;
    }
    case Kind::Tuple: {
      const auto* tuple = datum.get_if<TupleRef>();
      if (!tuple || (*tuple)->items.size() != cell.children.size()) break;
      return widen_children(m, cell, (*tuple)->items);
    }
    case Kind::Dict: {
      const auto* dict = datum.get_if<DictRef>();
      const auto& pattern = (*cell.fixed.get_if<DictRef>())->items;
      if (!dict || (*dict)->items.size() != pattern.size()) break;
      std::vector<Datum> items;
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (known_equal(pattern[i].first, (*dict)->items[i].first) != true) cannot_join(cell.fixed, datum);
        items.push_back((*dict)->items[i].second);
      }
      return widen_children(m, cell, items);
    }
    default: break;
  }
  cannot_join(cell.fixed, datum);
}

bool has_open_rank(const Cell& cell) {
  if (cell.kind == Kind::Tensor || cell.kind == Kind::DynamicList) return !cell.type.shape;
  return std::any_of(cell.children.begin(), cell.children.end(), has_open_rank);
}

bool same_tensor(const Datum& a, const Datum& b) {
  const auto *x = a.get_if<TensorRef>(), *y = b.get_if<TensorRef>();
  return x && y && *x == *y;
}

Datum settle(Machine& m, const Datum& datum) {
  if (const auto* tensor = datum.get_if<TensorRef>()) {
    const auto& state = **tensor;
    if (unemitted(state)) return datum;
    const Value value = m.tensors().read(*tensor);
    const bool differs = m.builder().made_here(value) || m.journal().rewritten(*state.storage);
    return differs ? Datum(m.tensors().make(value)) : datum;
  }
  if (const auto* list = datum.get_if<ListRef>()) {
    for (Datum& item : (*list)->items) item = settle(m, item);
  } else if (const auto* tuple = datum.get_if<TupleRef>()) {
    auto copy = std::make_shared<TupleState>(**tuple);
    for (Datum& item : copy->items) item = settle(m, item);
    return copy;
  } else if (const auto* dict = datum.get_if<DictRef>()) {
    for (auto& [key, item] : (*dict)->items) item = settle(m, item);
  }
  return datum;
}

void leaf_types(const Cell& cell, const std::string& name, Builder::NamedTypes& types) {
  switch (cell.kind) {
    case Kind::Fixed:
    case Kind::Unset: return;
    case Kind::Tensor: types.emplace_back(name, in_graph(cell.type)); return;
    case Kind::DynamicList: types.emplace_back(name, cell.type); return;
    case Kind::Number:
      types.emplace_back(name, ValueType{ValueType::Kind::Tensor, number_dtype(cell.number), Shape{}});
      return;
    case Kind::Maybe:
      types.emplace_back(name + "_present", ValueType{ValueType::Kind::Tensor, DType::Bool, Shape{}});
      leaf_types(cell.children[0], name, types);
      return;
    default:
      for (std::size_t i = 0; i < cell.children.size(); ++i)
        leaf_types(cell.children[i], fmt::format("{}_{}", name, i), types);
  }
}

namespace {

/// Something of the right type for a value that is never looked at.
Value stand_in(Machine& m, const ValueType& type) {
  if (type.kind == ValueType::Kind::Sequence)
    return m.emit("SequenceEmpty", {}, {{"dtype", type.dtype.value_or(DType::Float32)}});
  std::vector<std::int64_t> dims;
  if (type.shape)
    for (const Dim& dim : *type.shape) dims.push_back(dim.known().value_or(0));
  Tensor tensor;
  tensor.dtype = type.dtype.value_or(DType::Float32);
  tensor.dims = dims;
  std::vector<std::byte> zeros(static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype));
  return m.builder().constant(Tensor::of_bytes(std::move(zeros), std::move(dims), tensor.dtype));
}

void stand_ins(Machine& m, const Cell& cell, std::vector<Value>& values) {
  Builder::NamedTypes types;
  leaf_types(cell, {}, types);
  for (const auto& [name, type] : types) values.push_back(stand_in(m, type));
}

Value bool_value(Machine& m, bool v) {
  return m.builder().constant(Tensor::scalar(std::int64_t{v}, DType::Bool));
}

}  // namespace

void leaf_values(Machine& m, const Cell& cell, const Datum& datum, std::vector<Value>& values) {
  if (is_unset(datum)) return stand_ins(m, cell, values);
  switch (cell.kind) {
    case Kind::Fixed:
    case Kind::Unset: return;
    case Kind::Tensor: {
      const Value v = m.tensors().read(*datum.get_if<TensorRef>());
      values.push_back(is_complex(cell.type) ? m.builder().pairs_of(v) : v);
      return;
    }
    case Kind::Number:
      values.push_back(m.builder().cast(m.number_value(*datum.get_if<Scalar>()), number_dtype(cell.number)));
      return;
    case Kind::DynamicList:
      if (cell.type.kind == ValueType::Kind::Sequence && m.builder().opset() < 13) {
        Rejection rejection("a list whose length depends on the data goes through a branch or a loop");
        rejection.first_opset = 13;
        throw rejection;
      }
      values.push_back(list_value(m, **datum.get_if<ListRef>(), cell.type));
      return;
    case Kind::Maybe:
      if (datum.is_none()) {
        values.push_back(bool_value(m, false));
        stand_ins(m, cell.children[0], values);
      } else if (const auto* maybe = datum.get_if<MaybeNone>()) {
        values.push_back(maybe->present);
        leaf_values(m, cell.children[0], *maybe->value, values);
      } else {
        values.push_back(bool_value(m, true));
        leaf_values(m, cell.children[0], datum, values);
      }
      return;
    case Kind::List:
      for (std::size_t i = 0; i < cell.children.size(); ++i)
        leaf_values(m, cell.children[i], (*datum.get_if<ListRef>())->items[i], values);
      return;
    case Kind::Tuple:
      for (std::size_t i = 0; i < cell.children.size(); ++i)
        leaf_values(m, cell.children[i], (*datum.get_if<TupleRef>())->items[i], values);
      return;
    case Kind::Dict:
      for (std::size_t i = 0; i < cell.children.size(); ++i)
        leaf_values(m, cell.children[i], (*datum.get_if<DictRef>())->items[i].second, values);
      return;
  }
}

Datum instantiate(Machine& m, const Cell& cell, const std::vector<Value>& values, std::size_t& next) {
  switch (cell.kind) {
    case Kind::Fixed:
    case Kind::Unset: return cell.fixed;
    case Kind::Tensor: {
      const Value v = values.at(next++);
      m.builder().assume_type(v, in_graph(cell.type));
      return m.tensors().make(is_complex(cell.type) ? m.builder().from_pairs(v) : v);
    }
    case Kind::Number: {
      const Value v = values.at(next++);
      m.builder().assume_type(v, {ValueType::Kind::Tensor, number_dtype(cell.number), Shape{}});
      if (cell.number == Scalar::Kind::Int) return Scalar(m.builder().symbol_of_value(v, "n"));
      return Scalar(cell.number, v);
    }
    case Kind::DynamicList: {
      auto list = make_list({});
      if (const auto* pattern = cell.fixed.get_if<ListRef>()) list->element = (*pattern)->element;
      m.builder().assume_type(values.at(next), cell.type);
      const bool numbers = cell.type.kind == ValueType::Kind::Tensor;
      list->dynamic = {numbers ? DynamicItems::Form::Stacked : DynamicItems::Form::Sequence,
                       values.at(next++)};
      return list;
    }
    case Kind::Maybe: {
      MaybeNone maybe;
      maybe.present = values.at(next++);
      maybe.value = std::make_shared<Datum>(instantiate(m, cell.children[0], values, next));
      return maybe;
    }
    case Kind::List: {
      auto list = make_list({}, (*cell.fixed.get_if<ListRef>())->element);
      for (const Cell& child : cell.children) list->items.push_back(instantiate(m, child, values, next));
      list->dynamic = (*cell.fixed.get_if<ListRef>())->dynamic;
      return list;
    }
    case Kind::Tuple: {
      auto tuple = std::make_shared<TupleState>(TupleState{(*cell.fixed.get_if<TupleRef>())->type, {}});
      for (const Cell& child : cell.children) tuple->items.push_back(instantiate(m, child, values, next));
      return tuple;
    }
    case Kind::Dict: {
      auto dict = std::make_shared<DictState>(**cell.fixed.get_if<DictRef>());
      for (std::size_t i = 0; i < cell.children.size(); ++i)
        dict->items[i].second = instantiate(m, cell.children[i], values, next);
      return dict;
    }
  }
  return {};
}

Datum state_content(const Snapshot& snapshot) {
  if (const auto* storage = std::get_if<Storage>(&snapshot.content)) {
    auto tensor = std::make_shared<TensorState>();
    tensor->storage = std::make_shared<Storage>(*storage);
    return tensor;
  }
  if (const auto* list = std::get_if<ListState>(&snapshot.content)) return std::make_shared<ListState>(*list);
  if (const auto* dict = std::get_if<DictState>(&snapshot.content)) return std::make_shared<DictState>(*dict);
  if (std::get_if<TensorState>(&snapshot.content))
    throw Rejection(
        "changes the shape of a tensor in place (unsqueeze_, transpose_ ...) on one way through the program");
  // An object's attributes, as a dict by name: all that either side knows.
  const auto& object = std::get<ObjectState>(snapshot.content);
  auto dict = std::make_shared<DictState>();
  for (const auto& [name, value] : object.attributes) dict->items.emplace_back(name, value);
  return dict;
}

void set_state(Machine& m, const StateRef& state, const Datum& content) {
  m.journal().touch(state);
  if (const auto* storage = std::get_if<std::shared_ptr<Storage>>(&state)) {
    const auto& from = *(*content.get_if<TensorRef>())->storage;
    (*storage)->value = from.value;
    (*storage)->number = from.number;
    (*storage)->version = Tensors::next_version();
    (*storage)->listed |= from.listed;
  } else if (const auto* list = std::get_if<ListRef>(&state)) {
    **list = **content.get_if<ListRef>();
  } else if (const auto* dict = std::get_if<DictRef>(&state)) {
    **dict = **content.get_if<DictRef>();
  } else if (const auto* object = std::get_if<InstanceRef>(&state)) {
    for (const auto& [name, value] : (*content.get_if<DictRef>())->items)
      m.attribute(*object, *name.get_if<std::string>()) = value;
  }
}

}  // namespace pt2onnx
