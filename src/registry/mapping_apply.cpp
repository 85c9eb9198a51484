// A mapping at a call: its nodes inlined, or one node that calls it as a local function of the model.
#include <fmt/format.h>

#include <algorithm>

#include "pt2onnx/call.h"
#include "registry/builder.h"
#include "registry/literal.h"
#include "registry/mapping.h"

namespace pt2onnx {
namespace {

using Kind = OpAttribute::Kind;
using Values = std::vector<Value>;

bool same(const Argument& a, const Argument& b) {
  if (a.data.index() != b.data.index()) return false;
  if (a.is_none()) return true;
  if (const auto* x = std::get_if<Scalar>(&a.data)) {
    const auto number = x->number();
    return number && number == std::get<Scalar>(b.data).number();
  }
  if (const auto* x = std::get_if<std::string>(&a.data)) return *x == std::get<std::string>(b.data);
  if (const auto* x = std::get_if<Argument::List>(&a.data)) {
    const auto& y = std::get<Argument::List>(b.data);
    return std::equal(x->begin(), x->end(), y.begin(), y.end(), same);
  }
  return false;
}

/// Arguments that the function does not look at must be as they are when left out.
void check_unbound(const MappingBinding& binding, Call& c) {
  for (const std::size_t at : binding.unbound) {
    const auto& parameter = c.schema().arguments[at];
    if (c.is_none(parameter.name)) continue;
    const auto expected =
        parameter.default_value ? argument_from(c.builder(), *parameter.default_value) : std::nullopt;
    if (expected && same(c.argument(parameter.name), *expected)) continue;
    c.reject(
        fmt::format("the mapping leaves out `{}`, which has another value than its default here",
                    parameter.name),
        fmt::format("take `{}` in the mapping file, as an input or attribute of that name", parameter.name));
  }
}

/// The dtype in which a number is given to the nodes: that of the first tensor, where torch would compute in it. An
/// argument that is an int or a bool by its schema is a size or a switch, no operand.
DType dtype_of_number(const Scalar& number, const std::string& name, const Call& c) {
  const auto& parameters = c.schema().arguments;
  const auto own = std::ranges::find(parameters, name, &program::SchemaArgument::name);
  if (own != parameters.end() && own->type) {
    const auto& type =
        own->type->kind == program::TypeKind::Optional ? own->type->elements.front() : own->type;
    if (type->kind == program::TypeKind::Int || type->kind == program::TypeKind::Bool)
      return default_dtype(number.kind());
  }
  for (const auto& parameter : c.schema().arguments) {
    if (!c.has(parameter.name)) continue;
    const auto* v = std::get_if<Value>(&c.argument(parameter.name).data);
    if (!v || !*v || !v->dtype()) continue;
    const DType dtype = *v->dtype();
    if (is_floating(dtype) || (number.kind() <= Scalar::Kind::Int && dtype != DType::Bool)) return dtype;
    break;
  }
  return default_dtype(number.kind());
}

/// The values that stand for an argument; `name` is that of the schema, where it has one.
Values input_values(const Argument& argument, const std::string& name, Call& c) {
  if (argument.is_none()) return {Value()};
  if (const auto* v = std::get_if<Value>(&argument.data)) return {*v};
  if (const auto* number = std::get_if<Scalar>(&argument.data))
    return {c.scalar_value(*number, dtype_of_number(*number, name, c))};
  if (const auto* list = std::get_if<Argument::List>(&argument.data)) {
    const bool tensors = std::ranges::any_of(
        *list, [](const Argument& item) { return std::holds_alternative<Value>(item.data); });
    if (c.has(name)) return tensors ? c.optional_tensors(name) : Values{c.shape_value(c.sizes(name))};
  }
  c.reject(fmt::format("`{}` cannot be an input of the mapping", name));
}

std::optional<Attribute> attribute_value(const std::string& name, Kind kind, Call& c) {
  if (c.is_none(name)) return std::nullopt;
  switch (kind) {
    case Kind::Int:
      // torch and ONNX number element types differently.
      if (is_dtype_argument(name)) return Attribute(onnx_type_of(*c.dtype(name)));
      return Attribute(c.integer(name));
    case Kind::Float: return Attribute(c.number(name));
    case Kind::String: return Attribute(c.text(name));
    case Kind::Ints: return Attribute(c.ints(name));
    case Kind::Floats: return Attribute(c.numbers(name));
    case Kind::Strings: {
      std::vector<std::string> strings;
      for (const Argument& item : std::get<Argument::List>(c.argument(name).data))
        strings.push_back(std::get<std::string>(item.data));
      return Attribute(std::move(strings));
    }
    case Kind::Tensor:
      if (const Tensor* tensor = c.tensor(name).constant()) return Attribute(*tensor);
      c.reject(fmt::format("`{}` is an attribute of the mapping, but the graph computes it", name));
    default: return std::nullopt;
  }
}

/// The tensor of a Constant node.
std::optional<Tensor> constant_of(const Attributes& attributes) {
  if (const auto* v = attributes.find("value"); v && std::holds_alternative<Tensor>(*v))
    return std::get<Tensor>(*v);
  if (const auto* v = attributes.find("value_float"))
    return Tensor::scalar(std::get<double>(*v), DType::Float32);
  if (const auto* v = attributes.find("value_int"))
    return Tensor::scalar(std::get<std::int64_t>(*v), DType::Int64);
  if (const auto* v = attributes.find("value_floats")) {
    const auto& numbers = std::get<std::vector<double>>(*v);
    return Tensor::of_doubles(numbers, {static_cast<std::int64_t>(numbers.size())}, DType::Float32);
  }
  if (const auto* v = attributes.find("value_ints")) {
    const auto& numbers = std::get<std::vector<std::int64_t>>(*v);
    return Tensor::of_ints(numbers, {static_cast<std::int64_t>(numbers.size())});
  }
  return std::nullopt;
}

class Inliner {
 public:
  Inliner(const Mapping& mapping, Call& call) : mapping_(mapping), call_(call) {}

  void bind_attributes(const MappingBinding& binding) {
    for (std::size_t i = 0; i < mapping_.attributes.size(); ++i) {
      const MappingAttribute& attribute = mapping_.attributes[i];
      auto value =
          binding.attributes[i] ? attribute_value(attribute.name, attribute.kind, call_) : std::nullopt;
      attributes_.set({attribute.name, value ? std::move(value) : attribute.value});
    }
  }

  void bind_inputs(const MappingBinding& binding) {
    const auto& schema = call_.schema();
    const Call::Arguments& arguments = call_.arguments();
    if (schema.is_variadic && arguments.size() != binding.inputs.size())
      call_.reject(fmt::format("is called with {} arguments, the mapping has {} inputs", arguments.size(),
                               binding.inputs.size()),
                   fmt::format("tell the signature (--op-schema) to bind other arguments than tensors to "
                               "attributes of the mapping"));
    for (std::size_t i = 0; i < binding.inputs.size(); ++i) {
      const std::string& name = mapping_.body.inputs[i];
      const std::size_t at = binding.inputs[i];
      const std::string argument = at < schema.arguments.size() ? schema.arguments[at].name : name;
      const Values& values = inputs_.emplace_back(input_values(arguments.at(at), argument, call_));
      if (values.size() == 1 && values[0]) bind_type(name, values[0]);
      values_[name] = values;
    }
  }

  std::vector<Value> run() {
    run(mapping_.body, values_);
    std::vector<Value> results;
    for (const std::string& output : mapping_.body.outputs) {
      const Values& values = values_.at(output);
      if (values.size() != 1 || !values[0])
        call_.reject(fmt::format("the mapping's output `{}` is no single tensor at this call", output));
      results.push_back(values[0]);
      complete_dtype(results.back(), output);
    }
    return results;
  }

  const std::vector<Values>& inputs() const { return inputs_; }
  const Attributes& attributes() const { return attributes_; }

 private:
  using Names = std::map<std::string, Values>;

  /// What the text declares of an input holds for the call, and tells what its dims are.
  void bind_type(const std::string& name, Value value) {
    const auto declared = mapping_.body.types.find(name);
    if (declared == mapping_.body.types.end()) return;
    const ValueType& type = declared->second;
    if (type.dtype && value.dtype() && type.dtype != value.dtype())
      call_.reject(fmt::format("the mapping declares `{}` as {}, and it is {} here", name,
                               to_string(*type.dtype), to_string(*value.dtype())),
                   "leave the type out in the mapping file, or add a function for this one");
    if (!type.shape || !value.shape()) return;
    const auto differs = [&] {
      call_.reject(fmt::format("the mapping declares `{}` as {}, and it is {} here", name,
                               to_string(*type.shape), to_string(*value.shape())));
    };
    if (type.shape->size() != value.shape()->size()) differs();
    for (std::size_t i = 0; i < type.shape->size(); ++i) {
      const Dim& wanted = (*type.shape)[i];
      const Dim& actual = (*value.shape())[i];
      if (const auto symbol = wanted.symbol_name())
        dims_.try_emplace(*symbol, actual);
      else if (provably_equal(wanted, actual) == false)
        differs();
    }
  }

  /// A declared type in terms of the call; dims that no input tells stay open.
  ValueType actual_type(const ValueType& declared) const {
    ValueType type = declared;
    if (type.shape)
      for (Dim& dim : *type.shape)
        if (const auto symbol = dim.symbol_name())
          if (const auto known = dims_.find(*symbol); known != dims_.end() && *symbol != "?")
            dim = known->second;
    return type;
  }

  void assume(const MappingBody& body, const std::string& name, Value value) {
    const auto declared = body.types.find(name);
    if (declared == body.types.end()) return;
    if (value.dtype() && declared->second.dtype && value.dtype() != declared->second.dtype)
      call_.reject(fmt::format("the mapping declares `{}` as {}, and its nodes give {}", name,
                               to_string(*declared->second.dtype), to_string(*value.dtype())));
    value.info()->type.kind = value.dtype() ? value.type().kind : declared->second.kind;
    call_.builder().assume_type(value, actual_type(declared->second));
  }

  /// Inference knows nothing of another library's operators: without a declaration, the first input's type is likeliest.
  void complete_dtype(Value output, const std::string& name) {
    if (output.dtype()) return;
    for (const Values& input : inputs_)
      if (!input.empty() && input[0] && input[0].dtype()) {
        call_.set_dtype(output, *input[0].dtype());
        call_.assume(
            fmt::format("nothing tells the type of `{}` in the mapping; {} is assumed, as of the first input "
                        "(declare it: `(float[N] {})`)",
                        name, to_string(*output.dtype()), name));
        return;
      }
  }

  Attributes resolve(const MappingNode& node, const Names& names) {
    Attributes attributes;
    for (const MappingAttribute& attribute : node.attributes) {
      if (attribute.body) {
        attributes.set({attribute.name, std::optional<Attribute>(subgraph(attribute, names))});
      } else if (!attribute.reference.empty()) {
        // An attribute that the call does not have is left out of the node as well.
        if (const Attribute* value = attributes_.find(attribute.reference))
          attributes.set({attribute.name, *value});
      } else {
        attributes.set({attribute.name, attribute.value});
      }
    }
    return attributes;
  }

  std::shared_ptr<Graph> subgraph(const MappingAttribute& attribute, const Names& names) {
    const MappingBody& body = *attribute.body;
    Builder::NamedTypes inputs;
    for (const std::string& input : body.inputs) {
      const auto declared = body.types.find(input);
      inputs.emplace_back(input, declared == body.types.end() ? ValueType{} : actual_type(declared->second));
    }
    return call_.builder().subgraph(attribute.name, inputs, [&](const Values& parameters) {
      Names inner = names;
      for (std::size_t i = 0; i < parameters.size(); ++i) inner[body.inputs[i]] = {parameters[i]};
      run(body, inner);
      Values outputs;
      for (const std::string& output : body.outputs) outputs.push_back(inner.at(output).at(0));
      return outputs;
    });
  }

  void run(const MappingBody& body, Names& names) {
    for (const auto& [name, tensor] : body.constants) names[name] = {call_.constant(tensor)};
    for (const MappingNode& node : body.nodes) run(body, node, names);
  }

  void run(const MappingBody& body, const MappingNode& node, Names& names) {
    Builder& builder = call_.builder();
    std::optional<int> first;
    if (std::string why = misfit_of_node(node, builder.catalog(), builder.opset(), &first); !why.empty()) {
      Rejection rejection(fmt::format("the mapping at {}: {}", node.place.str(), why));
      rejection.first_opset = first;
      rejection.advice =
          fmt::format("add a function for opset {} to the mapping file (docs/mappings.md)", builder.opset());
      throw rejection;
    }
    Attributes attributes = resolve(node, names);
    Values results;
    if (auto constant =
            node.domain.empty() && node.op == "Constant" ? constant_of(attributes) : std::nullopt) {
      results = {call_.constant(std::move(*constant))};
    } else {
      Values inputs;
      for (const std::string& input : node.inputs) {
        const Values& values = input.empty() ? kAbsent : names.at(input);
        inputs.insert(inputs.end(), values.begin(), values.end());
      }
      if (!node.domain.empty()) {
        int& version = builder.model().domains[node.domain];
        version = std::max(version, mapping_.domains.at(node.domain));
      }
      results =
          builder.emit(node.domain, node.op, node.outputs.size(), std::move(inputs), std::move(attributes));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      names[node.outputs[i]] = {results[i]};
      assume(body, node.outputs[i], results[i]);
    }
  }

  inline static const Values kAbsent{Value()};
  const Mapping& mapping_;
  Call& call_;
  Attributes attributes_;
  std::vector<Values> inputs_;
  Names values_;
  std::map<std::string, Dim> dims_;
};

/// One node that calls the mapping as a local function; its types are those that the nodes would have.
std::vector<Value> call_function(const Mapping& mapping, Call& c, const Inliner& inliner,
                                 const std::vector<Value>& inlined, const Builder::Checkpoint& checkpoint) {
  std::vector<ValueType> types, known;
  for (const Value& v : inlined) {
    types.push_back(v.type());
    known.push_back({v.type().kind, v.type().dtype, std::nullopt});
  }
  Builder& builder = c.builder();
  builder.rollback(checkpoint);
  for (const std::string& output : mapping.body.outputs)
    if (std::ranges::find(mapping.body.inputs, output) != mapping.body.inputs.end())
      c.reject(fmt::format("the mapping at {} gives its input `{}` as an output, which no ONNX function can",
                           mapping.place.str(), output),
               "put an Identity between them or leave out --keep-functions");
  if (builder.opset() < kValueAttributes)
    for (const MappingNode& node : mapping.body.nodes)
      if (node.op == "Constant" && node.attributes.front().name != "value")
        c.reject(fmt::format("the mapping at {} has a `{}`, which no function of opset {} can",
                             node.place.str(), node.attributes.front().name, builder.opset()),
                 fmt::format("pass --opset {} or leave out --keep-functions", kValueAttributes));
  Values inputs;
  for (const Values& input : inliner.inputs()) {
    if (input.size() != 1)
      c.reject("is called with a list of tensors, which an ONNX function cannot take",
               "leave out --keep-functions");
    inputs.push_back(input[0]);
  }
  LocalFunction function;
  function.domain = mapping.op.substr(0, mapping.op.find("::"));
  function.name = mapping.op.substr(mapping.op.find("::") + 2);
  if (!mapping.overload.empty()) function.name += "_" + mapping.overload;
  function.text = mapping.function;
  const std::string domain = function.domain, name = function.name;
  auto& functions = builder.model().functions;
  const auto same_function = [&](const LocalFunction& f) { return f.domain == domain && f.name == name; };
  if (std::ranges::none_of(functions, same_function)) functions.push_back(std::move(function));

  Attributes attributes = inliner.attributes();
  auto outputs =
      builder.emit(domain, name, inlined.size(), std::move(inputs), std::move(attributes), std::move(known));
  for (std::size_t i = 0; i < outputs.size(); ++i) builder.assume_type(outputs[i], types[i]);
  return outputs;
}

}  // namespace

Results apply_mapping(const Mapping& mapping, Call& c, bool keep) {
  std::string why;
  const auto binding = bind_mapping(mapping, c.schema(), why);
  if (!binding)
    c.reject(
        fmt::format("the mapping at {} does not fit `{}`: {}", mapping.place.str(), c.schema().text, why));
  check_unbound(*binding, c);

  const auto checkpoint = c.builder().checkpoint();
  Inliner inliner(mapping, c);
  inliner.bind_attributes(*binding);
  inliner.bind_inputs(*binding);
  auto results = inliner.run();
  if (keep) results = call_function(mapping, c, inliner, results, checkpoint);

  const auto& returns = c.schema().returns;
  if (returns.size() == 1 && returns[0].type->kind == program::TypeKind::List) return Results::list(results);
  return Results(std::vector<Argument>(results.begin(), results.end()));
}

}  // namespace pt2onnx
