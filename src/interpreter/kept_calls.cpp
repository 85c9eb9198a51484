// --keep-module, --keep-function: calls whose nodes become one node when the graph is complete (core/outline.h).
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/machine.h"

namespace pt2onnx {
namespace {

/// "__torch__.net.___torch_mangle_3.Block" -> "net.Block"
std::string plain_name(std::string_view qualified) {
  std::string plain;
  while (!qualified.empty()) {
    const auto dot = std::min(qualified.find('.'), qualified.size());
    const std::string_view part = qualified.substr(0, dot);
    qualified.remove_prefix(std::min(dot + 1, qualified.size()));
    if (part == "__torch__" || part.starts_with("___torch_mangle_")) continue;
    if (!plain.empty()) plain += '.';
    plain += part;
  }
  return plain;
}

/// Known numbers, strings and lists of them become attributes of a bare node, under the names of the parameters.
std::optional<Attribute> attribute_of(const Datum& datum) {
  if (const auto* text = datum.get_if<std::string>()) return Attribute(*text);
  if (const auto* number = datum.get_if<Scalar>()) {
    if (const auto integer = number->integer()) return Attribute(*integer);
    if (const auto real = number->number()) return Attribute(*real);
  }
  if (const auto* list = datum.get_if<ListRef>(); list && !(*list)->dynamic && !(*list)->items.empty()) {
    std::vector<std::int64_t> ints;
    std::vector<double> floats;
    for (const Datum& item : (*list)->items) {
      const auto* number = item.get_if<Scalar>();
      const auto real = number ? number->number() : std::nullopt;
      if (!real) return std::nullopt;
      floats.push_back(*real);
      if (const auto integer = number->integer()) ints.push_back(*integer);
    }
    if (ints.size() == floats.size()) return Attribute(std::move(ints));
    return Attribute(std::move(floats));
  }
  return std::nullopt;
}

}  // namespace

bool names_qualified(std::string_view name, std::string_view qualified) {
  const std::string plain = plain_name(qualified);
  return name == qualified || name == plain || name == std::string_view(plain).substr(plain.rfind('.') + 1);
}

/// Of calls inside of one that is kept, none is: a function is inlined into it.
const Keep* Machine::find_keep(const program::Function& function, const std::vector<Datum>& arguments) {
  if (options_.keeps.empty() || builder_.keeps() || &function == program_.entry) return nullptr;
  const auto* self = arguments.empty() ? nullptr : arguments[0].get_if<InstanceRef>();
  for (const Keep& keep : options_.keeps) {
    if (keep.is_function) {
      if (!self && names_qualified(keep.name, function.name)) return &keep;
    } else if (self && (*self)->is_module &&
               (keep.name == (*self)->path || names_qualified(keep.name, (*self)->type))) {
      return &keep;
    }
  }
  return nullptr;
}

/// The tensors in a value, in order; complex and quantized ones as what stands for them in the graph.
void Machine::flatten(const Datum& datum, std::vector<Value>& values) {
  if (const auto* tensor = datum.get_if<TensorRef>()) {
    const Value v = tensors_.read(*tensor);
    if (is_complex(v.type())) {
      const auto [real, imaginary] = builder_.parts(v);
      values.insert(values.end(), {real, imaginary});
    } else {
      values.push_back(v.info()->quantization ? Value(v.info()->quantization->codes) : v);
    }
  } else if (const auto* list = datum.get_if<ListRef>()) {
    if ((*list)->dynamic) values.push_back((*list)->dynamic->value);
    for (const Datum& item : (*list)->items) flatten(item, values);
  } else if (const auto* tuple = datum.get_if<TupleRef>()) {
    for (const Datum& item : (*tuple)->items) flatten(item, values);
  } else if (const auto* dict = datum.get_if<DictRef>()) {
    for (const auto& [key, item] : (*dict)->items) flatten(item, values);
  } else if (const auto* number = datum.get_if<Scalar>()) {
    if (const auto* computed = std::get_if<Scalar::Computed>(&number->data()))
      values.push_back(computed->value);
  }
}

std::vector<Datum> Machine::call_kept(const Keep& keep, const program::Function& function,
                                      std::vector<Datum> arguments) {
  kept_.insert(&keep);
  const auto call = std::make_shared<KeptCall>();
  call->domain = keep.domain;
  call->name = keep.op;
  call->bare = keep.bare;
  call->origin = builder_.origin();
  std::string path = keep.op;
  if (!keep.is_function) path = (*arguments[0].get_if<InstanceRef>())->path;
  std::ranges::replace(path, '.', '/');
  call->node = builder_.unique_name("/" + path);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    flatten(arguments[i], call->arguments);
    if (keep.bare && i < function.parameters.size())
      if (auto attribute = attribute_of(arguments[i]))
        call->attributes.set({function.parameters[i].name, std::move(*attribute)});
  }

  struct Guard {
    Builder& builder;
    ~Guard() { builder.end_kept(); }
  };
  const auto run = [&](std::vector<Datum> inputs) {
    builder_.begin_kept(call);
    const Guard guard{builder_};
    auto results = run_function(function, std::move(inputs));
    for (const Datum& result : results) flatten(result, call->results);
    return results;
  };
  if (!keep.bare) return run(std::move(arguments));

  // A bare node needs no translation of what it stands for, only the types that this would give.
  const auto checkpoint = builder_.checkpoint();
  const program::Node* const node = node_;
  const program::Function* const caller = function_;
  const std::string module_path = module_path_;
  const int depth = depth_;
  const Findings before = findings();
  journal_.open();
  auto results = run(arguments);
  if (result_.findings.size() == before.all.size()) {
    // Nothing failed: what the call did to states stays.
    for (const Snapshot& change : journal_.close()) {
      journal_.touch(change.state);
      assign(change.state, change);
    }
    return results;
  }
  journal_.close();
  builder_.rollback(checkpoint);
  forget_findings_since(before);
  node_ = node;
  function_ = caller;
  module_path_ = module_path;
  depth_ = depth;
  if (auto made = bare_node(keep, *call, function)) return std::move(*made);
  throw Rejection(fmt::format(
      "`{}` returns something else than tensors, and its body cannot be translated to see more", keep.name));
}

/// A node for a call of which nothing is known but the types of its results.
std::optional<std::vector<Datum>> Machine::bare_node(const Keep& keep, const KeptCall& call,
                                                     const program::Function& function) {
  std::size_t count = 0;
  for (const auto& type : function.returns) {
    const bool tuple = type->kind == program::TypeKind::Tuple;
    const auto is_tensor = [](const program::TypeRef& t) { return t->kind == program::TypeKind::Tensor; };
    if (tuple ? !std::ranges::all_of(type->elements, is_tensor) : !is_tensor(type)) return std::nullopt;
    count += tuple ? type->elements.size() : 1;
  }
  std::vector<ValueType> types(count);
  const auto typed = std::ranges::find_if(call.arguments, [](Value v) { return v && v.dtype(); });
  for (ValueType& type : types) type.dtype = typed == call.arguments.end() ? DType::Float32 : typed->dtype();
  warn(fmt::format(
      "`{}` is kept as {}::{} although its body cannot be translated: its results are taken to have the "
      "element type of its first tensor",
      keep.name, keep.domain, keep.op));
  const auto values =
      builder_.emit(keep.domain, keep.op, count, call.arguments, call.attributes, std::move(types));
  std::vector<Datum> results;
  std::size_t next = 0;
  for (const auto& type : function.returns) {
    if (type->kind != program::TypeKind::Tuple) {
      results.emplace_back(tensors_.make(values[next++]));
      continue;
    }
    std::vector<Datum> items;
    for (std::size_t i = 0; i < type->elements.size(); ++i) items.emplace_back(tensors_.make(values[next++]));
    results.emplace_back(std::make_shared<TupleState>(TupleState{type, std::move(items)}));
  }
  return results;
}

void Machine::warn_of_unused_keeps() {
  for (const Keep& keep : options_.keeps)
    if (!kept_.contains(&keep))
      warn(fmt::format("--keep-{} {}: nothing calls it{}", keep.is_function ? "function" : "module",
                       keep.name,
                       options_.keeps.size() > 1 ? ", or only what is kept whole itself does" : ""));
}

}  // namespace pt2onnx
