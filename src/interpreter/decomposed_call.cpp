// An operator without a symbolic function is run as the calls that libtorch's kernel makes.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/decomposition.h"
#include "interpreter/machine.h"
#include "interpreter/operator_kind.h"

namespace pt2onnx {
namespace {

/// The schema that libtorch has: of an in-place operator without a functional form, the interpreter made one up.
const program::Schema* known_schema(Folder& folder, const program::Schema& schema,
                                    std::shared_ptr<const program::Schema>& owner) {
  if (folder.exists(schema.name, schema.overload)) return &schema;
  owner = folder.schema(schema.name + "_", schema.overload);
  return owner && owner->overload == schema.overload ? owner.get() : nullptr;
}

/// The kernel of a step gives a tensor of another element type than its translation: a rule of promotion got lost.
void check_type(const Argument& result, const program::TypeRef& type) {
  const auto* v = std::get_if<Value>(&result.data);
  if (v && *v && v->dtype() && type && type->dtype && *type->dtype != *v->dtype())
    throw Rejection(fmt::format("is computed by other operators, of which one gives {} here instead of {}",
                                to_string(*v->dtype()), to_string(*type->dtype)));
}

/// For its life, the name is the last of the list.
class Within {
 public:
  Within(std::vector<std::string>& names, const std::string& name) : names_(names) { names_.push_back(name); }
  ~Within() { names_.pop_back(); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  std::vector<std::string>& names_;
};

}  // namespace

bool Machine::translates(const program::Node& step) {
  if (!find_builtins(step.op->name).empty()) return true;
  const auto& schema = step.op->schema;
  if (!schema) return false;
  const std::string name = functional_name(*schema);
  if (registry_.find(name, schema->overload, options_.opset).rule) return true;
  return folder_.is_composite(*schema) &&
         std::find(taken_apart_.begin(), taken_apart_.end(), name) == taken_apart_.end();
}

std::shared_ptr<const Decomposition> Machine::take_apart(const program::Schema& schema,
                                                         const std::vector<Argument>& arguments,
                                                         std::string& why_not) {
  std::shared_ptr<const program::Schema> owner;
  const auto* known = known_schema(folder_, schema, owner);
  if (!known || !folder_.is_composite(*known)) return nullptr;
  const Within within(taken_apart_, schema.name);
  try {
    auto decomposition = decompose(folder_, *known, arguments, options_.example_sizes);
    const auto& steps = decomposition->steps.body.nodes;
    // `abs` that calls `abs.out` is no decomposition.
    if (std::any_of(steps.begin(), steps.end(), [&](const program::Node& step) {
          return step.op->schema && functional_name(*step.op->schema) == schema.name && !translates(step);
        }))
      return nullptr;
    for (const program::Node& step : steps)
      if (!translates(step))
        throw Rejection(fmt::format("is computed by other operators, of which `{}` has no translation either",
                                    step.op->name));
    if (!decomposition->assumption.empty()) assume(schema.name, decomposition->assumption);
    decompositions_.push_back(decomposition);
    return decomposition;
  } catch (const Rejection& rejection) {
    why_not = fmt::format("`{}` {}", schema.name, rejection.what());
    if (!rejection.advice.empty()) why_not += ": " + rejection.advice;
    return nullptr;
  }
}

std::optional<std::vector<Argument>> Machine::run_steps(const std::string& name,
                                                        const Decomposition& decomposition,
                                                        const std::vector<Argument>& arguments) {
  const Within within(taken_apart_, name);
  std::vector<Datum> values;
  for (const Argument& argument : arguments)
    if (is_step_parameter(argument)) values.push_back(from_argument(argument));
  for (const Dim& size : decomposition.sizes) values.emplace_back(Scalar(size));

  const auto* node = node_;
  const auto* function = function_;
  const auto origin = builder_.origin();
  const auto datums = run_function(decomposition.steps, std::move(values));
  node_ = node;
  function_ = function;
  builder_.set_origin(origin);

  if (std::any_of(datums.begin(), datums.end(), any_tainted))
    return std::nullopt;  // the step has been reported
  std::vector<Argument> results;
  for (std::size_t i = 0; i < datums.size(); ++i) {
    auto result = to_argument(datums[i]);
    if (!result) throw Rejection("gives something else than tensors");
    if (i < decomposition.steps.returns.size()) check_type(*result, decomposition.steps.returns[i]);
    results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace pt2onnx
