// Constants, attributes, objects, types and identity.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/machine.h"

namespace pt2onnx {
namespace {

using program::Node;
using program::Type;
using program::TypeKind;

bool constant(Machine& m, const Node& node, Frame&, std::vector<Datum>&, std::vector<Datum>& outputs) {
  outputs.push_back(m.from_literal(node.constant));
  return true;
}

bool get_attribute(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs,
                   std::vector<Datum>& outputs) {
  const auto* object = inputs[0].get_if<InstanceRef>();
  outputs.push_back(object ? m.attribute(*object, node.name) : Datum(Tainted{}));
  return true;
}

bool set_attribute(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>&) {
  const auto* object = inputs[0].get_if<InstanceRef>();
  if (!object) return true;
  // All attributes are looked up first, so that what they were is known where a branch starts from it again.
  if ((*object)->source) m.attribute(*object, node.name);
  m.journal().touch(*object);
  auto& attributes = (*object)->attributes;
  const auto it =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == node.name; });
  if (it != attributes.end())
    it->second = inputs[1];
  else
    attributes.emplace_back(node.name, inputs[1]);
  if ((*object)->is_module && inputs[1].get_if<TensorRef>()) m.note_assignment((*object)->path, node.name);
  return true;
}

bool create_object(Machine&, const Node& node, Frame&, std::vector<Datum>&, std::vector<Datum>& outputs) {
  auto object = std::make_shared<ObjectState>();
  object->type = node.output_types[0]->name;
  outputs.emplace_back(std::move(object));
  return true;
}

bool has_attribute(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs,
                   std::vector<Datum>& outputs) {
  const auto* object = inputs[0].get_if<InstanceRef>();
  if (!object) return false;
  const auto cls = m.program().classes.find((*object)->type);
  const bool found = cls != m.program().classes.end() &&
                     std::any_of(cls->second.attributes.begin(), cls->second.attributes.end(),
                                 [&](const auto& a) { return a.first == node.name; });
  outputs.emplace_back(Scalar(found));
  return true;
}

bool is_instance(const Datum& datum, const Type& type) {
  switch (type.kind) {
    case TypeKind::Any: return true;
    case TypeKind::None: return datum.is_none();
    case TypeKind::Tensor: return datum.get_if<TensorRef>() != nullptr;
    case TypeKind::Bool:
      return datum.get_if<Scalar>() && datum.get_if<Scalar>()->kind() == Scalar::Kind::Bool;
    case TypeKind::Int: return datum.get_if<Scalar>() && datum.get_if<Scalar>()->kind() == Scalar::Kind::Int;
    case TypeKind::Float:
      return datum.get_if<Scalar>() && datum.get_if<Scalar>()->kind() == Scalar::Kind::Float;
    case TypeKind::Complex:
      return datum.get_if<Scalar>() && datum.get_if<Scalar>()->kind() == Scalar::Kind::Complex;
    case TypeKind::Number: return datum.get_if<Scalar>() != nullptr;
    case TypeKind::String: return datum.get_if<std::string>() || datum.get_if<OpenText>();
    case TypeKind::Device: return datum.get_if<program::DeviceLiteral>() != nullptr;
    case TypeKind::Optional: return datum.is_none() || is_instance(datum, *type.elements[0]);
    case TypeKind::Union:
      return std::any_of(type.elements.begin(), type.elements.end(),
                         [&](const auto& member) { return is_instance(datum, *member); });
    case TypeKind::List: {
      const auto* list = datum.get_if<ListRef>();
      if (!list || type.elements.empty()) return list != nullptr;
      // An empty list has the type that it was declared with.
      if ((*list)->items.empty())
        return !(*list)->element || (*list)->element->text == type.elements[0]->text;
      return is_instance((*list)->items[0], *type.elements[0]);
    }
    case TypeKind::Dict: {
      const auto* dict = datum.get_if<DictRef>();
      if (!dict || type.elements.size() < 2 || (*dict)->items.empty()) return dict != nullptr;
      return is_instance((*dict)->items[0].first, *type.elements[0]) &&
             is_instance((*dict)->items[0].second, *type.elements[1]);
    }
    case TypeKind::Tuple: {
      const auto* tuple = datum.get_if<TupleRef>();
      if (!tuple) return false;
      if (!type.name.empty()) return (*tuple)->type && (*tuple)->type->name == type.name;
      if (type.elements.size() != (*tuple)->items.size()) return type.elements.empty();
      for (std::size_t i = 0; i < type.elements.size(); ++i)
        if (!is_instance((*tuple)->items[i], *type.elements[i])) return false;
      return true;
    }
    case TypeKind::Object:
      return datum.get_if<InstanceRef>() && (*datum.get_if<InstanceRef>())->type == type.name;
    case TypeKind::Enum:
      return datum.get_if<program::EnumLiteral>() && datum.get_if<program::EnumLiteral>()->type == type.name;
    default: return false;
  }
}

bool isinstance(Machine&, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  if (inputs[0].is_tainted()) {
    outputs.emplace_back(Tainted{});
    return true;
  }
  outputs.emplace_back(Scalar(std::any_of(node.types.begin(), node.types.end(),
                                          [&](const auto& type) { return is_instance(inputs[0], *type); })));
  return true;
}

/// x is None of something of which the graph decides.
bool same_as_none(Machine& m, const Node& node, const MaybeNone& maybe, std::vector<Datum>& outputs) {
  const bool negated = node.op->name == "aten::__isnot__";
  outputs.emplace_back(Scalar(Scalar::Kind::Bool, negated ? maybe.present : m.emit("Not", {maybe.present})));
  return true;
}

bool same(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const Datum &a = inputs[0], &b = inputs[1];
  if (a.is_tainted() || b.is_tainted()) {
    outputs.emplace_back(Tainted{});
    return true;
  }
  if (const auto* maybe = a.get_if<MaybeNone>(); maybe && b.is_none())
    return same_as_none(m, node, *maybe, outputs);
  if (const auto* maybe = b.get_if<MaybeNone>(); maybe && a.is_none())
    return same_as_none(m, node, *maybe, outputs);
  bool identical = false;
  if (a.is_none() || b.is_none()) {
    identical = a.is_none() && b.is_none();
  } else if (const auto* x = a.get_if<TensorRef>(), *y = b.get_if<TensorRef>(); x && y) {
    identical = *x == *y;
  } else if (const auto* l = a.get_if<ListRef>(), *r = b.get_if<ListRef>(); l && r) {
    identical = *l == *r;
  } else {
    const auto equal = known_equal(a, b);
    if (!equal) return false;
    identical = *equal;
  }
  outputs.emplace_back(Scalar(identical == (node.op->name == "aten::__is__")));
  return true;
}

bool pass_through(Machine&, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  outputs.push_back(inputs[0]);
  return true;
}

bool unwrap(Machine& m, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  if (inputs[0].is_none()) m.raise("unwrapping an optional that is None");
  const auto* maybe = inputs[0].get_if<MaybeNone>();
  outputs.push_back(maybe ? *maybe->value : inputs[0]);
  return true;
}

/// A cast to what the value is known to be here; a None that stands for the other branch is none of its business.
bool unchecked_cast(Machine&, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const auto* maybe = inputs[0].get_if<MaybeNone>();
  outputs.push_back(maybe ? *maybe->value : inputs[0]);
  return true;
}

bool enum_part(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs,
               std::vector<Datum>& outputs) {
  const auto* value = inputs[0].get_if<program::EnumLiteral>();
  if (!value) return false;
  outputs.push_back(node.op->name == "prim::EnumName" ? Datum(value->name) : m.from_literal(*value->value));
  return true;
}

/// == and != where numbers are not concerned: strings, None, enums, devices, lists and tuples of known values.
bool equality(Machine&, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  if (inputs.size() != 2 || inputs[0].get_if<TensorRef>() || inputs[1].get_if<TensorRef>()) return false;
  const auto equal = known_equal(inputs[0], inputs[1]);
  if (!equal && (inputs[0].get_if<OpenText>() || inputs[1].get_if<OpenText>()))
    throw Rejection("compares text of which the graph decides a part");
  if (!equal) return false;
  outputs.emplace_back(Scalar(*equal == (node.op->name == "aten::eq")));
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::__is__", same},
    {"aten::__isnot__", same},
    {"aten::_unwrap_optional", unwrap},
    {"aten::eq", equality},
    {"aten::ne", equality},
    {"prim::Constant", constant},
    {"prim::CreateObject", create_object},
    {"prim::EnumName", enum_part},
    {"prim::EnumValue", enum_part},
    {"prim::GetAttr", get_attribute},
    {"prim::SetAttr", set_attribute},
    {"prim::data", pass_through},
    {"prim::hasattr", has_attribute},
    {"prim::isinstance", isinstance},
    {"prim::unchecked_cast", unchecked_cast},
    {"prim::unchecked_unwrap_optional", unwrap},
};

}  // namespace

std::span<const BuiltinEntry> object_builtins() { return kTable; }

}  // namespace pt2onnx
