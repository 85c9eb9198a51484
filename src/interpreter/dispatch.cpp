// Operators that go through the dictionary: folding of what is known, the symbolic function, in-place and out= forms,
// aliasing results, and what happens to an operator that has no translation.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/names.h"
#include "interpreter/functional_form.h"
#include "interpreter/machine.h"
#include "interpreter/operator_kind.h"
#include "registry/apply.h"
#include "registry/literal.h"

namespace pt2onnx {
namespace {

using namespace std::string_view_literals;
using program::Schema;
using program::SchemaArgument;

bool writes(const SchemaArgument& argument) { return argument.alias && argument.alias->is_write; }

/// The argument that a result may share memory with; schemas name at most one.
std::optional<std::size_t> aliased_argument(const Schema& schema, std::size_t result) {
  if (result >= schema.returns.size() || !schema.returns[result].alias) return std::nullopt;
  const auto& sets = schema.returns[result].alias->sets;
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const auto& alias = schema.arguments[i].alias;
    if (!alias) continue;
    for (const auto& set : alias->sets)
      if (std::find(sets.begin(), sets.end(), set) != sets.end()) return i;
  }
  return std::nullopt;
}

// These give the input itself where there is nothing to do, without saying so in their schema.
constexpr std::array kMayReturnInput{"aten::dropout"sv, "aten::feature_dropout"sv, "aten::alpha_dropout"sv,
                                     "aten::feature_alpha_dropout"sv};
// These give a view of a contiguous tensor and a copy of any other.
constexpr std::array kCopyUnlessContiguous{"aten::reshape"sv, "aten::reshape_as"sv, "aten::contiguous"sv,
                                           "aten::flatten"sv, "aten::ravel"sv};
// Of the views, these leave a contiguous tensor contiguous.
constexpr std::array kKeepContiguous{
    "aten::view"sv,    "aten::reshape"sv,    "aten::_unsafe_view"sv, "aten::flatten"sv,   "aten::unflatten"sv,
    "aten::view_as"sv, "aten::reshape_as"sv, "aten::squeeze"sv,      "aten::unsqueeze"sv, "aten::detach"sv,
    "aten::alias"sv,   "aten::contiguous"sv, "aten::ravel"sv};

// The results of these lie in memory row by row, whatever the order of their inputs.
constexpr std::array kRowMajor{"aten::contiguous"sv, "aten::arange"sv, "aten::mm"sv, "aten::bmm"sv,
                               "aten::stack"sv};

bool stays_contiguous(const Schema& schema, const std::vector<Argument>& arguments, const TensorState& base) {
  if (!base.contiguous) return false;
  if (contains(kKeepContiguous, schema.name)) return true;
  if (schema.name != "aten::select" && schema.name != "aten::slice" && schema.name != "aten::narrow")
    return false;
  // A piece of the outermost axis is one block of memory.
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const auto* number = i < arguments.size() ? std::get_if<Scalar>(&arguments[i].data) : nullptr;
    if (schema.arguments[i].name == "dim" && (!number || !number->equals(0))) return false;
    if (schema.arguments[i].name == "step" && (!number || !number->equals(1))) return false;
  }
  return true;
}

bool is_scalar_type(const program::TypeRef& type) {
  using enum program::TypeKind;
  return type && (type->kind == Int || type->kind == Float || type->kind == Bool || type->kind == Number);
}

}  // namespace

std::shared_ptr<const Schema> Machine::functional_form(const std::shared_ptr<const Schema>& schema) {
  if (!writes_arguments(*schema)) return schema;
  auto& cached = functional_[qualified_name(*schema)];
  if (!cached) cached = pt2onnx::functional_form(*schema, folder_);
  return cached ? cached : schema;
}

bool Machine::dispatch(const program::Node& node, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const auto& schema = node.op->schema;
  const bool tainted = std::any_of(inputs.begin(), inputs.end(), any_tainted);
  if (!schema) {
    if (!tainted) report(node.op->name, "is a construct of TorchScript that pt2onnx does not translate");
    return false;
  }
  const bool in_place = writes_arguments(*schema);

  const auto functional = functional_form(schema);
  const auto found = registry_.find(functional->name, functional->overload, options_.opset);
  if (tainted) {
    // Its inputs are unknown, but that it has no translation can be said all the same.
    if (options_.unsupported == Unsupported::Error && !found.rule && find_builtins(schema->name).empty() &&
        takes_tensors(*schema) && (found.later || !folder_.is_composite(*schema))) {
      if (found.later)
        report(qualified_name(*schema), {}, {}, Case::OpsetTooLow, found.later, schema->text);
      else
        report(qualified_name(*schema), {}, {}, std::nullopt, std::nullopt, schema->text);
    }
    for (std::size_t i = 0; i < schema->arguments.size() && i < inputs.size(); ++i) {
      if (!writes(schema->arguments[i])) continue;
      if (const auto* list = inputs[i].get_if<ListRef>()) (*list)->items.assign(1, Tainted{});
    }
    return false;
  }

  if (!in_place) {
    if (auto folded = fold(*node.op, inputs)) {
      std::vector<Argument> arguments;
      for (const Datum& input : inputs) arguments.push_back(to_argument(input).value_or(Argument()));
      for (std::size_t i = 0; i < folded->size(); ++i) {
        const auto value = to_argument((*folded)[i]);
        outputs.push_back(value ? wrap(*schema, i, *value, inputs, arguments) : (*folded)[i]);
      }
      return true;
    }
  }

  if (!takes_tensors(*schema)) {
    if (auto number = compute_as_tensors(*schema, inputs)) {
      outputs.emplace_back(std::move(*number));
      return true;
    }
    report(qualified_name(*schema),
           "is applied to values that the graph computes, which pt2onnx cannot follow",
           {"give the sizes that it depends on as static dims"}, std::nullopt, std::nullopt, schema->text);
    return false;
  }

  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto argument = to_argument(inputs[i]);
    if (!argument) {
      report(qualified_name(*schema),
             fmt::format("takes a {} as an argument, which no ONNX operator can", type_name(inputs[i])), {},
             std::nullopt, std::nullopt, schema->text);
      return false;
    }
    arguments.push_back(std::move(*argument));
  }

  std::vector<Argument> read;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (i >= schema->arguments.size() || !schema->arguments[i].is_out) read.push_back(arguments[i]);
  const auto results = convert(*functional, std::move(read), qualified_name(*schema));
  if (!results) return false;
  if (in_place) {
    write_back(*schema, inputs, arguments, *results, outputs);
    return outputs.size() == node.outputs.size();
  }
  for (std::size_t i = 0; i < results->size(); ++i)
    outputs.push_back(wrap(*schema, i, (*results)[i], inputs, arguments));
  return true;
}

std::optional<std::vector<Datum>> Machine::fold(const program::Operator& op,
                                                const std::vector<Datum>& inputs) {
  if (op.schema->is_nondeterministic || leaves_unset(op.name)) return std::nullopt;
  std::vector<program::Literal> literals;
  std::size_t input_bytes = 0;
  bool any_tensor = false;
  for (const Datum& input : inputs) {
    auto literal = to_literal(input);
    if (!literal) return std::nullopt;
    const std::size_t bytes = tensor_bytes(*literal);
    any_tensor |= bytes > 0;
    input_bytes += bytes;
    literals.push_back(std::move(*literal));
  }
  if (!options_.fold && any_tensor) return std::nullopt;
  // A large result (torch.zeros(10**9)) is not even computed, where its size can be known before.
  if (!any_tensor && takes_tensors(*op.schema)) {
    const auto types = folder_.evaluate_types(*op.schema, literals);
    for (const auto& value : types.values)
      if (const auto* tensor = std::get_if<Tensor>(&value.data))
        if (static_cast<std::size_t>(tensor->numel()) * size_of(tensor->dtype) > options_.fold_bytes)
          return std::nullopt;
  }
  auto result = folder_.evaluate(*op.schema, literals);
  if (!result.ok()) {
    // Without a tensor there is no graph to fall back on: what torch says is what the program does.
    if (!any_tensor && !registry_.find(op.schema->name, op.schema->overload, options_.opset).rule)
      raise(fmt::format("{}: {}", op.name, result.error));
    return std::nullopt;
  }
  std::size_t output_bytes = 0;
  for (const auto& value : result.values) output_bytes += tensor_bytes(value);
  if (output_bytes > std::max(options_.fold_bytes, 2 * input_bytes)) return std::nullopt;

  std::string weight;
  for (const auto& literal : literals)
    if (const auto* tensor = std::get_if<Tensor>(&literal.data); tensor && weight.empty())
      weight = tensor->name;
  std::vector<Datum> outputs;
  for (auto& value : result.values) {
    if (auto* tensor = std::get_if<Tensor>(&value.data); tensor && !weight.empty())
      tensor->name = fmt::format("{}.{}", weight, op.name.substr(op.name.rfind(':') + 1));
    outputs.push_back(from_literal(value));
  }
  return outputs;
}

std::optional<std::vector<Argument>> Machine::convert(const Schema& schema, std::vector<Argument> arguments,
                                                      std::string_view name) {
  const auto found = registry_.find(schema.name, schema.overload, options_.opset);
  const auto checkpoint = builder_.checkpoint();
  if (found.rule) {
    try {
      auto values = apply(registry_, *found.rule, builder_, schema, arguments, unused_outputs()).values;
      for (const auto& assumption : builder_.take_assumptions()) assume(std::string(name), assumption);
      return values;
    } catch (const Rejection& rejection) {
      builder_.rollback(checkpoint);
      builder_.take_assumptions();
      if (options_.unsupported != Unsupported::Error) return custom_node(schema, arguments);
      report_rejection(std::string(name), rejection, schema.text);
      return std::nullopt;
    }
  }
  std::string why_not;
  if (const auto steps = take_apart(schema, arguments, why_not)) {
    const Findings before = findings();
    if (auto results = run_steps(schema.name, *steps, arguments)) return results;
    // Where a step has no translation, the operator has none: it is what the user's code calls and what `explain` knows.
    const auto unmapped =
        std::find_if(result_.findings.begin() + static_cast<std::ptrdiff_t>(before.all.size()),
                     result_.findings.end(), [](const Finding& f) { return f.reason.empty(); });
    if (unmapped == result_.findings.end()) return std::nullopt;
    why_not = fmt::format("`{}` is computed by other operators, of which `{}` has no translation either",
                          schema.name, unmapped->op);
    builder_.rollback(checkpoint);
    forget_findings_since(before);
  }
  if (options_.unsupported != Unsupported::Error) return custom_node(schema, arguments);
  report(std::string(name), {}, why_not.empty() ? std::vector<std::string>() : std::vector{why_not},
         found.later ? std::optional(Case::OpsetTooLow) : std::nullopt, found.later, schema.text);
  return std::nullopt;
}

/// Mathematics on Python numbers (`math.sin(v)`) as the operator of the same name on 0-d tensors computes it.
std::optional<Scalar> Machine::compute_as_tensors(const Schema& schema, const std::vector<Datum>& inputs) {
  std::vector<Argument> numbers;
  for (const Datum& input : inputs) {
    const auto* number = input.get_if<Scalar>();
    if (!number || number->kind() == Scalar::Kind::Complex) return std::nullopt;
    numbers.emplace_back(builder_.cast(number_value(*number), DType::Float64));
  }
  const auto on_tensors = [&](const Schema& other) {
    return other.arguments.size() >= numbers.size() &&
           std::all_of(
               other.arguments.begin(), other.arguments.begin() + static_cast<std::ptrdiff_t>(numbers.size()),
               [](const SchemaArgument& a) { return a.type && a.type->kind == program::TypeKind::Tensor; }) &&
           std::all_of(other.arguments.begin() + static_cast<std::ptrdiff_t>(numbers.size()),
                       other.arguments.end(),
                       [](const SchemaArgument& a) { return a.default_value && !a.is_out; });
  };
  for (const auto& other : folder_.overloads(schema.name)) {
    const auto found = registry_.find(other->name, other->overload, options_.opset);
    if (!found.rule || !on_tensors(*other)) continue;
    const auto checkpoint = builder_.checkpoint();
    try {
      const Results results = apply(registry_, *found.rule, builder_, *other, numbers);
      const auto* value = std::get_if<Value>(&results.values.at(0).data);
      if (!value || !*value || schema.returns.empty() || !schema.returns[0].type) return std::nullopt;
      switch (schema.returns[0].type->kind) {
        case program::TypeKind::Bool: return Scalar(Scalar::Kind::Bool, builder_.cast(*value, DType::Bool));
        case program::TypeKind::Float:
          return Scalar(Scalar::Kind::Float, builder_.cast(*value, DType::Float64));
        default: return std::nullopt;
      }
    } catch (const Rejection&) {
      builder_.rollback(checkpoint);
      builder_.take_assumptions();
    }
  }
  return std::nullopt;
}

/// One result as datum, with what is known of its memory.
Datum Machine::wrap(const Schema& schema, std::size_t index, const Argument& value,
                    const std::vector<Datum>& inputs, const std::vector<Argument>& arguments) {
  Datum datum = wrap_shared(schema, index, value, inputs, arguments);
  const auto* tensor = datum.get_if<TensorRef>();
  if (!tensor || (*tensor)->row_major) return datum;
  const auto* base = inputs.empty() ? nullptr : inputs[0].get_if<TensorRef>();
  const bool shares = base && (*base)->storage == (*tensor)->storage;
  const bool known = contains(kRowMajor, schema.name) ||
                     (shares && (*base)->row_major && stays_contiguous(schema, arguments, **base));
  if (!known) return datum;
  auto state =
      std::make_shared<TensorState>(**tensor);  // contiguous() may give a tensor of which less is known
  state->row_major = true;
  return state;
}

/// A number where the schema says so, a view where it shares memory with an argument.
Datum Machine::wrap_shared(const Schema& schema, std::size_t index, const Argument& value,
                           const std::vector<Datum>& inputs, const std::vector<Argument>& arguments) {
  if (const auto* v = std::get_if<Value>(&value.data);
      v && *v && index < schema.returns.size() && is_scalar_type(schema.returns[index].type)) {
    const DType dtype = v->dtype().value_or(DType::Float32);
    if (dtype == DType::Bool) return Scalar(Scalar::Kind::Bool, *v);
    if (is_integral(dtype)) return Scalar(builder_.symbol_of_value(*v, "n"));
    return Scalar(Scalar::Kind::Float, *v);
  }

  auto aliased = aliased_argument(schema, index);
  if (!aliased && contains(kMayReturnInput, schema.name)) aliased = 0;
  const auto* base = aliased && *aliased < inputs.size() ? inputs[*aliased].get_if<TensorRef>() : nullptr;
  if (!base) return from_argument(value);
  if (contains(kCopyUnlessContiguous, schema.name) && !(*base)->contiguous) return from_argument(value);

  const auto view_of = [&](Value v, std::size_t result) -> Datum {
    if (v == tensors_.read(*base)) return *base;
    if (contains(kMayReturnInput, schema.name) || schema.name == "aten::to" || *aliased != 0)
      return tensors_.make(v);
    ViewStep step;
    step.schema = std::make_shared<Schema>(schema);
    step.arguments = arguments;
    step.arguments[0] = Argument();
    step.result = result;
    return tensors_.make_view(*base, std::move(step), v, stays_contiguous(schema, arguments, **base));
  };
  if (const auto* v = std::get_if<Value>(&value.data)) return *v ? view_of(*v, 0) : Datum();
  if (const auto* list = std::get_if<Argument::List>(&value.data)) {
    auto state = std::make_shared<ListState>();
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto* v = std::get_if<Value>(&(*list)[i].data);
      state->items.push_back(v && *v ? view_of(*v, i) : from_argument((*list)[i]));
    }
    return state;
  }
  return from_argument(value);
}

/// In-place and out= forms: the functional results are written to the arguments that the schema marks, in order.
void Machine::write_back(const Schema& schema, std::vector<Datum>& inputs,
                         const std::vector<Argument>& arguments, const std::vector<Argument>& results,
                         std::vector<Datum>& outputs) {
  // These change what a tensor looks like, not what it holds.
  static constexpr std::array kMetadata{"aten::squeeze_"sv, "aten::unsqueeze_"sv, "aten::transpose_"sv,
                                        "aten::t_"sv,       "aten::swapaxes_"sv,  "aten::swapdims_"sv,
                                        "aten::detach_"sv};
  std::vector<std::size_t> targets;
  for (std::size_t i = 0; i < schema.arguments.size() && i < inputs.size(); ++i)
    if (writes(schema.arguments[i]) && inputs[i].get_if<TensorRef>()) targets.push_back(i);

  const auto checkpoint = builder_.checkpoint();
  try {
    if (targets.size() > results.size() || targets.empty())
      throw Rejection("writes to arguments in a way that pt2onnx does not follow");
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const TensorRef target = *inputs[targets[k]].get_if<TensorRef>();
      const auto* value = std::get_if<Value>(&results[k].data);
      if (!value || !*value) throw Rejection("writes something else than a tensor");
      if (contains(kMetadata, schema.name)) {
        Schema view = schema;
        view.name.pop_back();
        ViewStep step{std::make_shared<Schema>(std::move(view)), arguments, 0};
        step.arguments[0] = Argument();
        const bool keeps = stays_contiguous(*step.schema, arguments, *target);
        journal_.touch(target);
        *target = *tensors_.make_view(target, std::move(step), *value, keeps);
        continue;
      }
      const Value old = tensors_.read(target);
      Value written = *value;
      if (old.dtype()) written = builder_.cast(written, *old.dtype());
      if (schema.arguments[targets[k]].is_out && target->views.empty()) {
        tensors_.replace(target, written);  // out= takes the shape of the result
      } else {
        tensors_.write(target, written);
      }
    }
  } catch (const Rejection& rejection) {
    builder_.rollback(checkpoint);
    report_rejection(qualified_name(schema), rejection, schema.text);
    return;
  }
  // In-place forms return their target.
  for (std::size_t r = 0; r < schema.returns.size(); ++r) {
    const auto aliased = aliased_argument(schema, r);
    outputs.push_back(aliased ? inputs[*aliased] : r < results.size() ? from_argument(results[r]) : Datum());
  }
}

}  // namespace pt2onnx
