#include "driver/module_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/literal.h"
#include "driver/example_inputs.h"
#include "driver/reference.h"

namespace pt2onnx {
namespace {

using program::Literal;
using program::ObjectRef;

constexpr std::size_t kSettled = 2;   // calls after which whatever is set up once is set up
constexpr std::size_t kCompared = 5;  // calls in a row that verification compares

/// Inputs of calls in a row, each with values of its own.
struct Calls {
  std::vector<std::map<std::string, Tensor>> tensors;
  std::vector<std::vector<Literal>> arguments;
};

Calls example_calls(const BoundInputs& bound, const SymbolSizes& sizes, std::size_t count,
                    IntegerRange range) {
  Calls calls;
  for (std::size_t i = 0; i < count; ++i) {
    calls.tensors.push_back(example_tensors(bound, sizes, range, i));
    calls.arguments.push_back(argument_values(bound, calls.tensors.back()));
  }
  return calls;
}

const Literal* attribute_of(const ObjectRef& object, std::string_view name) {
  if (!object) return nullptr;
  for (const auto& [key, value] : object->attributes)
    if (key == name) return &value;
  return nullptr;
}

ObjectRef child_of(const ObjectRef& object, std::string_view name) {
  const Literal* value = attribute_of(object, name);
  const auto* child = value ? std::get_if<ObjectRef>(&value->data) : nullptr;
  return child ? *child : nullptr;
}

/// An attribute as the file has it, after some calls, one call later, and after calls with other sizes.
struct Versions {
  const Literal *fresh, *before, *after, *resized;  // before and after are never null
};

class StateBuilder {
 public:
  StateBuilder(std::set<std::string> taken, const SymbolSizes& sizes, const SymbolSizes& other_sizes)
      : taken_(std::move(taken)), sizes_(sizes), other_sizes_(other_sizes) {}

  void add(const std::string& object, const std::string& attribute, const Versions& versions) {
    where_ = object.empty() ? attribute : object + "." + attribute;
    std::string name = attribute;
    if (taken_.contains(name) || taken_.contains(name + "_out")) name = where_;
    std::replace(name.begin(), name.end(), '.', '_');
    taken_.insert(name);
    taken_.insert(name + "_out");
    state_.bindings.push_back({object, attribute, bind(name, versions), name + "_out"});
  }

  /// An int that stays while the sizes stay: known, or the size itself.
  void add_if_size(const std::string& object, const std::string& attribute, const Versions& versions) {
    if (!versions.resized || same_value(*versions.before, *versions.resized)) return;
    const auto* here = std::get_if<std::int64_t>(&versions.before->data);
    const auto* there = std::get_if<std::int64_t>(&versions.resized->data);
    if (!here || !there) return;
    const auto size = size_that_is(*here, *there);
    const std::string path = object.empty() ? attribute : object + "." + attribute;
    if (size)
      state_.bindings.push_back({object, attribute, *size, {}});
    else
      state_.notes.push_back(fmt::format(
          "the attribute `{}` depends on the sizes of the inputs and is kept at {}", path, *here));
  }

  ModuleState take() { return std::move(state_); }

 private:
  InputBinding bind(const std::string& name, const Versions& v) {
    if (const auto* tensor = std::get_if<Tensor>(&v.before->data)) return bind_tensor(name, *tensor, v);
    if (const auto number = number_tensor(*v.before)) return bind_number(name, *number, v);
    if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&v.before->data)) {
      auto type = std::make_shared<program::Type>();
      type->kind = program::TypeKind::List;
      type->elements = {(*list)->element};
      return bind_items(name, true, std::move(type), (*list)->items, v);
    }
    if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&v.before->data))
      return bind_items(name, false, (*tuple)->type, (*tuple)->items, v);
    if (const auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&v.before->data))
      return bind_dict(name, **dict, v);
    if (same_value(*v.before, *v.after)) return {*v.before};
    throw StateError(fmt::format(
        "--state: the attribute `{}` changes from call to call and is neither a tensor nor a number",
        where_));
  }

  InputBinding bind_items(const std::string& name, bool is_list, program::TypeRef type,
                          const std::vector<Literal>& items, const Versions& v) {
    const auto *fresh = items_of(v.fresh), *after = items_of(v.after), *resized = items_of(v.resized);
    if (!after || after->size() != items.size())
      throw StateError(
          fmt::format("--state: the list `{}` changes its length from call to call ({}, then {} items)",
                      where_, items.size(), after ? after->size() : 0));
    InputBinding::Sequence sequence{is_list, std::move(type), {}};
    for (std::size_t i = 0; i < items.size(); ++i)
      sequence.items.push_back(bind(fmt::format("{}_{}", name, i),
                                    {item_of(fresh, i), &items[i], &(*after)[i], item_of(resized, i)}));
    return {std::move(sequence)};
  }

  InputBinding bind_dict(const std::string& name, const program::DictLiteral& dict, const Versions& v) {
    const auto value_in = [](const Literal* literal, const Literal& key) -> const Literal* {
      const auto* other =
          literal ? std::get_if<std::shared_ptr<program::DictLiteral>>(&literal->data) : nullptr;
      if (!other) return nullptr;
      for (const auto& [other_key, value] : (*other)->items)
        if (same_value(key, other_key)) return &value;
      return nullptr;
    };
    const auto* later = std::get_if<std::shared_ptr<program::DictLiteral>>(&v.after->data);
    if (!later || (*later)->items.size() != dict.items.size())
      throw StateError(fmt::format("--state: the dict `{}` gets other keys from call to call", where_));
    auto type = std::make_shared<program::Type>();
    type->kind = program::TypeKind::Dict;
    type->elements = {dict.key, dict.value};
    InputBinding::Dict result{std::move(type), {}};
    for (const auto& [key, value] : dict.items) {
      const auto* text = std::get_if<std::string>(&key.data);
      const auto* whole = std::get_if<std::int64_t>(&key.data);
      const Literal* after = value_in(v.after, key);
      if (!after)
        throw StateError(fmt::format("--state: the dict `{}` gets other keys from call to call", where_));
      const std::string key_name = text ? *text : whole ? fmt::format("{}", *whole) : "key";
      result.items.emplace_back(key, bind(fmt::format("{}_{}", name, key_name),
                                          {value_in(v.fresh, key), &value, after, value_in(v.resized, key)}));
    }
    return {std::move(result)};
  }

  InputBinding bind_number(const std::string& name, const Tensor& value, const Versions& v) {
    if (v.before->data.index() != v.after->data.index())
      throw StateError(fmt::format("--state: the attribute `{}` changes its type from call to call", where_));
    StateTensor tensor{{name, value.dtype, {}, true}, std::nullopt};
    if (v.fresh) tensor.initial = number_tensor(*v.fresh);
    if (tensor.initial && tensor.initial->dtype != value.dtype)
      tensor.initial = Tensor::of_doubles(tensor.initial->to_doubles(), {}, value.dtype);
    state_.tensors.push_back(tensor);
    return {state_.tensors.back().input};
  }

  InputBinding bind_tensor(const std::string& name, const Tensor& before, const Versions& v) {
    const auto* after = std::get_if<Tensor>(&v.after->data);
    if (!after || after->dtype != before.dtype || after->dims.size() != before.dims.size())
      throw StateError(
          fmt::format("--state: the attribute `{}` changes its dtype or rank from call to call", where_));
    const auto* resized = v.resized ? std::get_if<Tensor>(&v.resized->data) : nullptr;
    if (resized && resized->dims.size() != before.dims.size())
      throw StateError(
          fmt::format("--state: the rank of the attribute `{}` depends on the sizes of the inputs", where_));
    StateTensor tensor{{name, before.dtype, {}, false}, std::nullopt};
    for (std::size_t axis = 0; axis < before.dims.size(); ++axis) {
      const std::int64_t size = before.dims[axis];
      if (after->dims[axis] != size)  // a cache that grows
        tensor.input.shape.push_back(Dim::symbol(fmt::format("{}_{}", name, axis), 0));
      else if (!resized || resized->dims[axis] == size)
        tensor.input.shape.emplace_back(size);
      else
        tensor.input.shape.push_back(size_that_is(size, resized->dims[axis])
                                         .value_or(Dim::symbol(fmt::format("{}_{}", name, axis), 0)));
    }
    const auto* fresh = v.fresh ? std::get_if<Tensor>(&v.fresh->data) : nullptr;
    if (fresh && fresh->dtype == before.dtype && fits(fresh->dims, tensor.input.shape))
      tensor.initial = *fresh;
    state_.tensors.push_back(tensor);
    return {state_.tensors.back().input};
  }

  /// Same rank, and the same sizes where they are fixed.
  static bool fits(const Sizes& dims, const Shape& shape) {
    return std::equal(dims.begin(), dims.end(), shape.begin(), shape.end(),
                      [](std::int64_t size, const Dim& dim) { return !dim.known() || *dim.known() == size; });
  }

  /// The dynamic dim that had both these sizes.
  std::optional<Dim> size_that_is(std::int64_t here, std::int64_t there) const {
    for (const auto& [symbol, size] : sizes_) {
      const auto other = other_sizes_.find(symbol);
      if (size == here && other != other_sizes_.end() && other->second == there)
        return Dim::symbol(symbol, std::min<std::int64_t>(size, 1));
    }
    return std::nullopt;
  }

  std::set<std::string> taken_;
  const SymbolSizes &sizes_, &other_sizes_;
  std::string where_;
  ModuleState state_;
};

/// Calls `visit(path, attribute, versions)` for the attributes of a tree of objects.
template <typename Visit>
void walk(const std::string& path, const ObjectRef& fresh, const ObjectRef& before, const ObjectRef& after,
          const ObjectRef& resized, std::set<const void*>& seen, const Visit& visit) {
  if (!before || !after || !seen.insert(before.get()).second) return;
  for (const auto& [name, value] : before->attributes) {
    const Literal* later = attribute_of(after, name);
    if (!later) continue;
    if (std::holds_alternative<ObjectRef>(value.data) && std::holds_alternative<ObjectRef>(later->data))
      walk(path.empty() ? name : path + "." + name, child_of(fresh, name), child_of(before, name),
           child_of(after, name), child_of(resized, name), seen, visit);
    else
      visit(path, name, Versions{attribute_of(fresh, name), &value, later, attribute_of(resized, name)});
  }
}

}  // namespace

StateFinder::StateFinder(TorchModule& module, const BoundInputs& bound)
    : fresh_(module.program().root), sizes_(bound.example_sizes) {
  for (const InputTensor& tensor : bound.tensors) taken_names_.insert(tensor.input.name);
  std::string refusal;
  for (const IntegerRange range : kIntegerRanges) {
    const auto calls = example_calls(bound, sizes_, kSettled + 1, range).arguments;
    const TorchModule::Calls settled(calls.data(), kSettled);
    try {
      after_ = module.state_after(calls);
      for (const SymbolSizes& sizes : other_sizes(bound, sizes_)) {
        try {
          resized_ = module.state_after(example_calls(bound, sizes, kSettled, range).arguments);
          other_sizes_ = sizes;
          break;
        } catch (const std::runtime_error&) {
          continue;  // the module refuses these sizes
        }
      }
      module.advance(settled);
      before_ = module.program().root;
      return;
    } catch (const std::runtime_error& e) {
      if (refusal.empty()) refusal = e.what();
    }
  }
  throw StateError(fmt::format(
      "--state: calling the module {} times in a row on {} fails: {}; give values with --input-data",
      kSettled + 1, describe(bound, sizes_), refusal));
}

ModuleState StateFinder::find(const std::set<std::pair<std::string, std::string>>& assigned) const {
  StateBuilder builder(taken_names_, sizes_, other_sizes_);
  std::set<const void*> seen;
  walk("", fresh_, before_, after_, resized_, seen,
       [&](const std::string& path, const std::string& name, const Versions& versions) {
         if (!same_value(*versions.before, *versions.after) || assigned.contains({path, name}))
           builder.add(path, name, versions);
         else
           builder.add_if_size(path, name, versions);
       });
  return builder.take();
}

std::map<std::string, Tensor> initial_state(const ModuleState& state, const SymbolSizes& sizes) {
  std::map<std::string, Tensor> values;
  for (const StateTensor& tensor : state.tensors) {
    Sizes dims;
    for (const Dim& dim : tensor.input.shape)
      dims.push_back(dim.evaluate([&](const std::string& symbol) -> std::optional<std::int64_t> {
                          const auto it = sizes.find(symbol);
                          return it == sizes.end() ? 0
                                                   : it->second;  // a size of its own: nothing is in it yet
                        })
                         .value_or(0));
    if (tensor.initial && tensor.initial->dims == dims) {
      values[tensor.input.name] = *tensor.initial;
      continue;
    }
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    const std::vector<double> zeros(static_cast<std::size_t>(count), 0.0);
    values[tensor.input.name] = Tensor::of_doubles(zeros, dims, tensor.input.dtype);
  }
  return values;
}

std::vector<StateSummary> describe_state(const ModuleState& state, const Model& model) {
  const auto initial = initial_state(state, {});
  const auto begins_with = [&](const StateTensor& tensor) -> std::string {
    const Tensor& value = initial.at(tensor.input.name);
    if (tensor.initial && std::any_of(tensor.initial->bytes.begin(), tensor.initial->bytes.end(),
                                      [](std::byte b) { return b != std::byte{}; }))
      return "the value in the file";
    const bool grows = std::any_of(tensor.input.shape.begin(), tensor.input.shape.end(), [&](const Dim& dim) {
      return dim.symbol_name() && dim.symbol_name()->starts_with(tensor.input.name + "_");
    });
    return grows && value.numel() == 0 ? "empty" : "zeros";
  };
  std::vector<StateSummary> result;
  const auto& outputs = model.graph.outputs;
  const std::size_t first = outputs.size() - std::min(outputs.size(), state.tensors.size());
  for (std::size_t i = 0; i < state.tensors.size() && first + i < outputs.size(); ++i)
    result.push_back({state.tensors[i].input.name, outputs[first + i].name(), begins_with(state.tensors[i])});
  return result;
}

std::optional<CallSequence> run_call_sequence(TorchModule& module, const BoundInputs& bound,
                                              const SymbolSizes& sizes, std::string& refusal) {
  refusal.clear();
  for (const IntegerRange range : kIntegerRanges) {
    Calls calls = example_calls(bound, sizes, kCompared, range);
    try {
      CallSequence sequence{sizes, std::move(calls.tensors), {}};
      for (const Literal& result : module.run_calls(calls.arguments))
        sequence.outputs.push_back(flatten_outputs(result));
      return sequence;
    } catch (const std::runtime_error& e) {
      if (refusal.empty()) refusal = e.what();
    }
  }
  return std::nullopt;
}

}  // namespace pt2onnx
