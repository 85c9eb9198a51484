// --unsupported custom: an operator without a translation as one node of a custom domain.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/machine.h"

namespace pt2onnx {
namespace {

/// Tensors become inputs in the order of the schema; everything else becomes an attribute under its schema name.
struct Carried {
  std::vector<Value> inputs;
  Attributes attributes;
};

bool is_optional_tensor(const program::TypeRef& type) {
  return type && type->kind == program::TypeKind::Optional && !type->elements.empty() &&
         type->elements[0]->kind == program::TypeKind::Tensor;
}

void carry(Machine& m, const std::string& name, const Scalar& scalar, Carried& to) {
  if (const auto integer = scalar.integer())
    to.attributes.set({name, *integer});
  else if (const auto number = scalar.number())
    to.attributes.set({name, *number});
  else
    to.inputs.push_back(m.number_value(scalar));  // the graph computes it: no attribute can hold it
}

void carry(const std::string& name, const Argument::List& list, Carried& to) {
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  bool any_float = false;
  for (const Argument& item : list) {
    if (const auto* tensor = std::get_if<Value>(&item.data)) {
      to.inputs.push_back(*tensor);
    } else if (item.is_none()) {
      to.inputs.emplace_back();
    } else if (const auto* text = std::get_if<std::string>(&item.data)) {
      strings.push_back(*text);
    } else if (const auto* scalar = std::get_if<Scalar>(&item.data)) {
      const auto number = scalar->number();
      if (!number)
        throw Rejection(
            fmt::format("`{}` holds a number that the graph computes, which no attribute can", name));
      any_float |= scalar->kind() == Scalar::Kind::Float;
      floats.push_back(*number);
      ints.push_back(scalar->integer().value_or(0));
    }
  }
  if (!strings.empty())
    to.attributes.set({name, strings});
  else if (any_float)
    to.attributes.set({name, floats});
  else if (!ints.empty())
    to.attributes.set({name, ints});
}

}  // namespace

std::optional<std::vector<Argument>> Machine::custom_node(const program::Schema& schema,
                                                          const std::vector<Argument>& arguments) {
  Carried carried;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool named = i < schema.arguments.size();
    const std::string name = named ? schema.arguments[i].name : fmt::format("arg_{}", i);
    const Argument& argument = arguments[i];
    if (const auto* tensor = std::get_if<Value>(&argument.data))
      carried.inputs.push_back(*tensor);
    else if (const auto* scalar = std::get_if<Scalar>(&argument.data))
      carry(*this, name, *scalar, carried);
    else if (const auto* text = std::get_if<std::string>(&argument.data))
      carried.attributes.set({name, *text});
    else if (const auto* list = std::get_if<Argument::List>(&argument.data))
      carry(name, *list, carried);
    else if (argument.is_none() && named && is_optional_tensor(schema.arguments[i].type))
      carried.inputs.emplace_back();
  }

  // ONNX wants an element type for every output; without a kernel to ask, the first tensor's is the likeliest.
  std::vector<ValueType> types(std::max<std::size_t>(schema.returns.size(), 1));
  const auto typed =
      std::find_if(carried.inputs.begin(), carried.inputs.end(), [](Value v) { return v && v.dtype(); });
  for (ValueType& type : types) type.dtype = typed == carried.inputs.end() ? DType::Float32 : typed->dtype();

  const std::string op = schema.name.substr(schema.name.rfind(':') + 1);
  warn(fmt::format(
      "{} is exported as the custom node {}::{}: this is the first half only, the runtime still needs a "
      "kernel for it (ONNX Runtime custom operator, TensorRT plugin)",
      schema.name, options_.custom_domain, op));
  const std::size_t outputs = types.size();
  const auto values = builder_.emit(options_.custom_domain, op, outputs, std::move(carried.inputs),
                                    std::move(carried.attributes), std::move(types));
  return std::vector<Argument>(values.begin(), values.end());
}

}  // namespace pt2onnx
