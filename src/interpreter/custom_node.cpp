// --unsupported custom and aten: an operator without a translation as one node of a custom domain, or as PyTorch's
// fallback node.
#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "interpreter/kernel_results.h"
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

/// PyTorch's ATen node takes every argument as an input: numbers and lists as constants.
void carry_as_input(Machine& m, const std::string& name, const Argument& argument, Carried& to) {
  if (const auto* tensor = std::get_if<Value>(&argument.data)) {
    to.inputs.push_back(*tensor);
  } else if (const auto* scalar = std::get_if<Scalar>(&argument.data)) {
    to.inputs.push_back(m.number_value(*scalar));
  } else if (argument.is_none()) {
    to.inputs.emplace_back();
  } else if (const auto* list = std::get_if<Argument::List>(&argument.data)) {
    Carried items;
    carry(name, *list, items);
    if (!items.inputs.empty())
      throw Rejection(fmt::format("`{}` is a list of tensors, which no ATen node can hold", name));
    const Attribute* numbers = items.attributes.find(name);
    const auto size = static_cast<std::int64_t>(list->size());
    if (const auto* floats = numbers ? std::get_if<std::vector<double>>(numbers) : nullptr)
      to.inputs.push_back(m.builder().constant(Tensor::of_doubles(*floats, {size}, DType::Float64)));
    else if (const auto* ints = numbers ? std::get_if<std::vector<std::int64_t>>(numbers) : nullptr)
      to.inputs.push_back(m.builder().constant(Tensor::of_ints(*ints, {size})));
    else if (list->empty())
      to.inputs.push_back(m.builder().constant(Tensor::of_ints({}, {0})));
    else
      throw Rejection(fmt::format("`{}` is a list of texts, which no ATen node can hold", name));
  } else {
    throw Rejection(fmt::format("`{}` is neither tensor nor number, and no ATen node can hold it", name));
  }
}

[[noreturn]] void reject(const char* why, const char* advice) {
  Rejection rejection(why);
  rejection.advice = advice;
  throw rejection;
}

bool is_tensor_list(const program::TypeRef& type) {
  return type && type->kind == program::TypeKind::List && !type->elements.empty() &&
         type->elements[0]->kind == program::TypeKind::Tensor;
}

}  // namespace

std::optional<std::vector<Argument>> Machine::custom_node(const program::Schema& schema,
                                                          const std::vector<Argument>& arguments) {
  const bool aten = options_.unsupported == Unsupported::Aten;
  const std::string base = schema.name.substr(schema.name.rfind(':') + 1);
  const std::string domain = aten ? "org.pytorch.aten" : options_.custom_domain;
  const std::string op = aten ? "ATen" : base;
  try {
    if (aten && !schema.name.starts_with("aten::"))
      reject("is no operator of aten, and only those can be ATen nodes",
             "pass `--unsupported custom` for a node in a domain of your own");
    Carried carried;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool named = i < schema.arguments.size();
      const std::string name = named ? schema.arguments[i].name : fmt::format("arg_{}", i);
      const Argument& argument = arguments[i];
      if (aten)
        carry_as_input(*this, name, argument, carried);
      else if (const auto* tensor = std::get_if<Value>(&argument.data))
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
    if (aten) {
      carried.attributes.set({"operator", base});
      carried.attributes.set({"overload_name", schema.overload});
    }

    auto results = kernel_results(folder_, schema, arguments, options_.example_sizes);
    if (!results) {
      // ONNX wants an element type for every output; without a kernel to ask, the first tensor's is the likeliest.
      const auto typed =
          std::find_if(carried.inputs.begin(), carried.inputs.end(), [](Value v) { return v && v.dtype(); });
      ValueType type;
      type.dtype = typed == carried.inputs.end() ? DType::Float32 : typed->dtype();
      if (std::any_of(schema.returns.begin(), schema.returns.end(),
                      [](const auto& r) { return is_tensor_list(r.type); }))
        reject("gives a list of tensors, and without a kernel to run nothing tells how many",
               "load the library that has the operator: `--load-library LIB.so`");
      results.emplace(std::max<std::size_t>(schema.returns.size(), 1), KernelResult{false, {type}});
    }
    std::vector<ValueType> types;
    for (const KernelResult& result : *results)
      for (const ValueType& type : result.tensors) types.push_back({type.kind, type.dtype, std::nullopt});

    warn(aten ? fmt::format(
                    "{} is exported as an ATen node: only runtimes with libtorch inside have a kernel for it",
                    schema.name)
              : fmt::format(
                    "{} is exported as the custom node {}::{}: this is the first half only, the runtime "
                    "still needs a kernel for it (ONNX Runtime custom operator, TensorRT plugin)",
                    schema.name, domain, op));
    const std::size_t outputs = types.size();
    // A plugin that declared the operator knows its types better than an example.
    std::optional<std::vector<ValueType>> known;
    if (!builder_.catalog().is_declared(domain, op)) known = std::move(types);
    const auto values = builder_.emit(domain, op, outputs, std::move(carried.inputs),
                                      std::move(carried.attributes), std::move(known));
    std::vector<Argument> given;
    std::size_t at = 0;
    for (const KernelResult& result : *results) {
      Argument::List items;
      for (const ValueType& type : result.tensors) {
        builder_.assume_type(values[at], type);
        items.emplace_back(values[at++]);
      }
      given.push_back(result.is_list ? Argument(std::move(items)) : items.front());
    }
    return given;
  } catch (const Rejection& rejection) {
    report_rejection(qualified_name(schema), rejection, schema.text);
    return std::nullopt;
  }
}

}  // namespace pt2onnx
