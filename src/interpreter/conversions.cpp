// Between literals of the program, data of the interpreter and arguments of a symbolic function.
#include <fmt/format.h>

#include <type_traits>

#include "interpreter/machine.h"
#include "registry/literal.h"

namespace pt2onnx {
namespace {

using program::Literal;

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace

Datum Machine::from_literal(const Literal& literal) {
  /// A container or object that was seen before is the same one again. It is known before it is filled: it may hold itself.
  const auto remembered = [&]<typename State>(const void* identity, std::type_identity<State>,
                                              const auto& fill) -> Datum {
    if (const auto it = identities_.find(identity); it != identities_.end()) return it->second.datum;
    auto state = std::make_shared<State>();
    state->birth.backdate();
    identities_.emplace(identity, Seen{state, literal});
    fill(*state);
    return state;
  };
  const auto weight = [this](const Tensor& tensor) {
    TensorRef made = tensors_.make(builder_.constant(tensor));
    made->row_major = true;
    made->birth.backdate();
    made->storage->birth.backdate();
    return made;
  };
  return std::visit(Overloaded{
                        [](std::monostate) { return Datum(); },
                        [](bool v) { return Datum(Scalar(v)); },
                        [](std::int64_t v) { return Datum(Scalar(v)); },
                        [](double v) { return Datum(Scalar(v)); },
                        [](std::complex<double> v) { return Datum(Scalar(v)); },
                        [](const std::string& v) { return Datum(v); },
                        [&](const Tensor& v) {
                          // Two attributes that hold the same tensor share its memory, so that a write to one is seen by the other.
                          if (v.bytes.empty()) return Datum(weight(v));
                          const auto it = identities_.find(v.bytes.data());
                          if (it != identities_.end()) {
                            const TensorRef known = *it->second.datum.get_if<TensorRef>();
                            const Tensor* first = known->storage->value.constant();
                            if (first && first->dims == v.dims && first->dtype == v.dtype)
                              return Datum(known);
                            return Datum(weight(v));
                          }
                          const TensorRef made = weight(v);
                          identities_.emplace(v.bytes.data(), Seen{made, literal});
                          return Datum(made);
                        },
                        [&](const std::shared_ptr<program::ListLiteral>& v) {
                          return remembered(v.get(), std::type_identity<ListState>(), [&](ListState& list) {
                            list.element = v->element;
                            for (const Literal& item : v->items) list.items.push_back(from_literal(item));
                          });
                        },
                        [&](const std::shared_ptr<program::TupleLiteral>& v) {
                          auto tuple = std::make_shared<TupleState>();
                          tuple->type = v->type;
                          for (const Literal& item : v->items) tuple->items.push_back(from_literal(item));
                          return Datum(tuple);
                        },
                        [&](const std::shared_ptr<program::DictLiteral>& v) {
                          return remembered(v.get(), std::type_identity<DictState>(), [&](DictState& dict) {
                            dict.key = v->key;
                            dict.value = v->value;
                            for (const auto& [key, value] : v->items)
                              dict.items.emplace_back(from_literal(key), from_literal(value));
                          });
                        },
                        [&](const program::ObjectRef& v) {
                          return remembered(v.get(), std::type_identity<ObjectState>(),
                                            [&](ObjectState& object) {
                                              object.type = v->type;
                                              object.path = v->path;
                                              object.is_module = v->is_module;
                                              object.source = v;
                                            });
                        },
                        [](const auto& v) { return Datum(v); },  // enum, device, function, opaque
                    },
                    literal.data);
}

std::optional<Literal> Machine::to_literal(const Datum& datum) {
  if (const auto* list = datum.get_if<ListRef>()) {
    if ((*list)->dynamic) return std::nullopt;
    auto literal = std::make_shared<program::ListLiteral>();
    literal->element = (*list)->element;
    for (const Datum& item : (*list)->items) {
      auto value = to_literal(item);
      if (!value) return std::nullopt;
      literal->items.push_back(std::move(*value));
    }
    return Literal{literal};
  }
  if (const auto* tuple = datum.get_if<TupleRef>()) {
    auto literal = std::make_shared<program::TupleLiteral>();
    literal->type = (*tuple)->type;
    for (const Datum& item : (*tuple)->items) {
      auto value = to_literal(item);
      if (!value) return std::nullopt;
      literal->items.push_back(std::move(*value));
    }
    return Literal{literal};
  }
  if (const auto* tensor = datum.get_if<TensorRef>()) {
    const Storage& storage = *(*tensor)->storage;
    if (!storage.value && !storage.number->is_known()) return std::nullopt;
    const Tensor* constant = tensors_.read(*tensor).constant();
    return constant ? std::optional(Literal{*constant}) : std::nullopt;
  }
  if (const auto* device = datum.get_if<program::DeviceLiteral>()) return Literal{*device};
  if (const auto* value = datum.get_if<program::EnumLiteral>()) return Literal{*value};
  if (datum.get_if<DictRef>() || datum.get_if<InstanceRef>() || datum.is_tainted()) return std::nullopt;
  const auto argument = to_argument(datum);
  return argument ? literal_from(*argument) : std::nullopt;
}

std::optional<Argument> Machine::to_argument(const Datum& datum) {
  using R = std::optional<Argument>;
  const auto items = [this](const std::vector<Datum>& data) -> R {
    Argument::List list;
    for (const Datum& item : data) {
      auto argument = to_argument(item);
      if (!argument) return std::nullopt;
      list.push_back(std::move(*argument));
    }
    return Argument(std::move(list));
  };
  return std::visit(Overloaded{
                        [](std::monostate) -> R { return Argument(); },
                        [](const Scalar& v) -> R { return Argument(v); },
                        [](const std::string& v) -> R { return Argument(v); },
                        [&](const TensorRef& v) -> R { return Argument(tensors_.read(v)); },
                        [&](const ListRef& v) { return v->dynamic ? std::nullopt : items(v->items); },
                        [&](const TupleRef& v) { return items(v->items); },
                        [](const program::DeviceLiteral& v) -> R { return Argument(v.name); },
                        [](const program::EnumLiteral&) -> R { return std::nullopt; },
                        [](const program::OpaqueLiteral& v) -> R {
                          Argument a;
                          a.data = v;
                          return a;
                        },
                        [](const auto&) -> R { return std::nullopt; },
                    },
                    datum.data);
}

Datum Machine::from_argument(const Argument& argument) {
  return std::visit(Overloaded{
                        [](std::monostate) { return Datum(); },
                        [&](const Value& v) { return v ? Datum(tensors_.make(v)) : Datum(); },
                        [](const Scalar& v) { return Datum(v); },
                        [](const std::string& v) { return Datum(v); },
                        [&](const Argument::List& v) {
                          auto list = std::make_shared<ListState>();
                          for (const Argument& item : v) list->items.push_back(from_argument(item));
                          return Datum(list);
                        },
                        [](const program::OpaqueLiteral& v) { return Datum(v); },
                    },
                    argument.data);
}

Datum& Machine::attribute(const InstanceRef& object, const std::string& name) {
  for (auto& [key, value] : object->attributes)
    if (key == name) return value;
  if (object->source) {
    for (const auto& [key, literal] : object->source->attributes) {
      if (key != name) continue;
      object->attributes.emplace_back(name, from_literal(literal));
      return object->attributes.back().second;
    }
  }
  raise(fmt::format("`{}` has no attribute `{}`", object->type, name));
}

}  // namespace pt2onnx
