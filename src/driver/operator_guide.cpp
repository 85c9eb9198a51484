#include "driver/operator_guide.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "core/child_process.h"
#include "diagnosis/near_names.h"
#include "diagnosis/signature.h"
#include "driver/findings.h"
#include "driver/user_entries.h"
#include "emitter/emitter.h"
#include "frontend/frontend.h"
#include "interpreter/functional_form.h"
#include "interpreter/machine.h"
#include "interpreter/operator_kind.h"
#include "registry/trial.h"

namespace pt2onnx {
namespace {

bool has_tensor_argument(const program::Schema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const auto& a) { return holds_tensors(a.type); });
}

int first_since(const Registry& registry, const std::string& name) {
  return registry.rules(name).front()->since;
}

/// The overloads that an answer about the operator is about: those with tensors, where there are any.
std::vector<std::shared_ptr<const program::Schema>> relevant(
    std::vector<std::shared_ptr<const program::Schema>> overloads, const std::string& overload) {
  if (!overload.empty())
    std::erase_if(overloads, [&](const auto& schema) { return schema->overload != overload; });
  const auto on_numbers = [](const auto& schema) { return !takes_tensors(*schema); };
  if (!std::all_of(overloads.begin(), overloads.end(), on_numbers)) std::erase_if(overloads, on_numbers);
  return overloads;
}

/// In the order of what a user hopes for; among mapped ones, a rule says more than "computed".
bool better(const OperatorGuide::Standing& a, const OperatorGuide::Standing& b) {
  return std::pair(a.status, !a.rule) < std::pair(b.status, !b.rule);
}

}  // namespace

std::string_view to_string(OpStatus status) {
  switch (status) {
    case OpStatus::Mapped: return "mapped";
    case OpStatus::Decomposed: return "decomposed";
    case OpStatus::LaterOpset: return "later-opset";
    case OpStatus::Missing: return "missing";
    case OpStatus::Unknown: return "unknown";
  }
  return "";
}

OperatorGuide::OperatorGuide(const Options& options) : options_(options), builtin_(builtin_registry()) {
  const UserEntries entries(options);
  registry_ = entries.registry();
  LoadOptions load;
  load.libraries = options.libraries;
  load.op_schemas = options.op_schemas;
  folder_ = torch_folder(load);
  entries.check_schemas(*folder_);
}

const std::vector<std::string>& OperatorGuide::names() const {
  if (names_.empty()) {
    std::set<std::string> all;
    for (std::string& name : folder_->names()) all.insert(std::move(name));
    for (const std::string& name : registry_.names()) all.insert(split_overload(name).first);
    names_.assign(all.begin(), all.end());
  }
  return names_;
}

std::string OperatorGuide::full_name(const std::string& name) const {
  if (name.find("::") != std::string::npos) return name;
  const auto [base, overload] = split_overload(name);
  constexpr std::array kPreferred{"aten::", "torchvision::"};
  for (const char* space : kPreferred)
    if (folder_->schema(space + base, "")) return space + name;
  for (const std::string& known : names())
    if (known.ends_with("::" + base)) return known + name.substr(base.size());
  return kPreferred.front() + name;
}

std::vector<std::string> OperatorGuide::near(const std::string& name) const {
  return near_names(name, names());
}

OperatorGuide::Standing OperatorGuide::standing(const program::Schema& schema) const {
  const auto functional = functional_form(schema, *folder_);
  const std::string& name = functional ? functional->name : schema.name;
  const std::string& overload = functional ? functional->overload : schema.overload;
  const auto found = registry_.find(name, overload, options_.opset);
  if (found.rule) {
    const auto& all = registry_.rules(found.rule->name);
    return {OpStatus::Mapped, all.front()->since, found.rule, {}};
  }
  // The interpreter computes what it can without the dictionary; of an operator that the options hide, only the forms
  // without tensors.
  const bool is_word = builtin_.find(name, overload, newest_opset()).rule != nullptr;
  if (!find_builtins(schema.name).empty() && !(is_word && has_tensor_argument(schema)))
    return {OpStatus::Mapped, kMinOpset, nullptr, "is computed while the program is interpreted"};
  if (!takes_tensors(schema))
    return {OpStatus::Mapped, kMinOpset, nullptr,
            "works on Python values: it is computed while the program is interpreted, where they are known"};
  if (!found.later && !has_tensor_argument(schema) && !schema.is_variadic && !schema.is_nondeterministic &&
      !writes_arguments(schema) && !leaves_unset(schema.name))
    return {OpStatus::Mapped, kMinOpset, nullptr,
            "takes no tensor: libtorch computes it while the program is interpreted, where its arguments are "
            "known"};
  Standing standing{found.later ? OpStatus::LaterOpset : OpStatus::Missing, found.later, nullptr, {}};
  try_to_decompose(schema, standing);
  return standing;
}

/// The operators that libtorch computes it by in an ordinary call, found in a process of its own like a trial of a rule.
std::vector<std::string> OperatorGuide::steps_of(const program::Schema& schema) const {
  const auto [known, is_new] = steps_.try_emplace(schema.text);
  if (!is_new || !folder_->is_composite(schema)) return known->second;
  const auto lines = in_child_process([&] {
    use_one_thread();
    return fmt::format("{}", fmt::join(try_steps(schema, *folder_), "\n"));
  });
  std::istringstream text(lines.value_or(""));
  for (std::string line; std::getline(text, line);) known->second.push_back(line);
  return known->second;
}

/// Notes its steps, and that it is decomposed if they are all translated.
void OperatorGuide::try_to_decompose(const program::Schema& schema, Standing& standing) const {
  if (!open_.insert(schema.text).second) return;
  standing.steps = steps_of(schema);
  bool all = !standing.steps.empty();
  int since = kMinOpset;
  for (const std::string& step : standing.steps) {
    const auto [name, overload] = split_overload(step);
    const auto of_step = folder_->schema(name, overload);
    const Standing inner = of_step ? this->standing(*of_step) : Standing{};
    all &= inner.status <= OpStatus::Decomposed;
    since = std::max(since, inner.since.value_or(kMinOpset));
  }
  open_.erase(schema.text);
  if (!all) return;
  standing.status = OpStatus::Decomposed;
  standing.since = since;
}

OperatorGuide::Standing OperatorGuide::standing(const std::string& op) const {
  const auto [name, overload] = split_overload(op);
  std::optional<Standing> best;
  for (const auto& schema : relevant(folder_->overloads(name), overload)) {
    Standing one = standing(*schema);
    if (!best || better(one, *best)) best = std::move(one);
  }
  if (best) return *best;

  // Not one of libtorch's: a word of the dictionary all the same, or something of TorchScript itself.
  const auto found = registry_.find(name, overload, options_.opset);
  if (found.rule) return {OpStatus::Mapped, first_since(registry_, found.rule->name), found.rule, {}};
  if (found.later) return {OpStatus::LaterOpset, found.later, nullptr, {}};
  if (!find_builtins(name).empty())
    return {OpStatus::Mapped, kMinOpset, nullptr, "is computed while the program is interpreted"};
  return {OpStatus::Unknown, std::nullopt, nullptr, {}};
}

/// The operators that the rule leads to, a line each. libtorch's kernels are asked whether made-up arguments make sense,
/// and some of them crash instead of answering: hence a process of its own.
std::string OperatorGuide::trial(const Rule& rule, const program::Schema& schema) const {
  const auto lines = in_child_process([&] {
    use_one_thread();
    const auto trials = try_rule(registry_, rule, schema, onnx_catalog(), *folder_, options_.opset);
    return trials.empty() ? std::string() : fmt::format("{}", fmt::join(trials.front().operators, "\n"));
  });
  return lines.value_or("");
}

std::vector<OnnxWord> OperatorGuide::becomes(const Rule& rule, const program::Schema& schema) const {
  std::vector<OnnxWord> words;
  std::istringstream lines(trial(rule, schema));
  for (std::string line; std::getline(lines, line);) {
    const auto colons = line.find("::");
    if (colons != std::string::npos)
      words.push_back({line.substr(0, colons), line.substr(colons + 2), 1, false});
    else
      words.push_back({"", line, onnx_catalog().since(line).value_or(0), false});
  }
  return words;
}

void OperatorGuide::explain_decomposed(Explanation& e, const Standing& standing) const {
  e.reason = fmt::format(
      "`{}` has no symbolic function, but libtorch computes it by operators that have one; in an ordinary "
      "call: {}",
      split_overload(e.op).first, fmt::join(standing.steps, ", "));
  e.onnx.clear();
  for (const std::string& step : standing.steps) {
    const auto [name, overload] = split_overload(step);
    const auto schema = folder_->schema(name, overload);
    const Standing inner = schema ? this->standing(*schema) : Standing{};
    if (!inner.rule) continue;
    for (OnnxWord& word : becomes(*inner.rule, *schema))
      if (std::none_of(e.onnx.begin(), e.onnx.end(), [&](const OnnxWord& w) { return w.name == word.name; }))
        e.onnx.push_back(std::move(word));
  }
}

void OperatorGuide::explain_mapped(Explanation& e, const Standing& standing,
                                   const program::Schema* schema) const {
  const std::string name = split_overload(e.op).first;
  if (!standing.rule) {
    e.reason = fmt::format("`{}` {}", name, standing.how);
    return;
  }
  const Rule& rule = *standing.rule;
  e.reason = fmt::format("`{}` has a symbolic function ({}), good from opset {} on", rule.name, rule.origin,
                         rule.since);
  if (!schema) return;
  std::vector<OnnxWord> becomes = this->becomes(rule, *schema);
  if (becomes.empty()) {  // no trial succeeded: what fits by name is the best guess
    std::erase_if(e.onnx, [&](const OnnxWord& word) { return word.since > e.opset; });
    return;
  }
  e.reason += becomes.size() == 1
                  ? fmt::format("; it becomes `{}`", becomes.front().name)
                  : fmt::format("; it becomes a composition of {} kinds of operators", becomes.size());
  becomes.front().one_to_one = becomes.size() == 1;
  e.onnx = std::move(becomes);
}

/// An autograd.Function (`^MyFunc` in a graph's text) is Python code: TorchScript can trace through it, and cannot save it.
void explain_python_function(Explanation& e) {
  e.which = Case::UserOp;
  e.reason =
      "an autograd.Function is a Python function inside the graph (prim::PythonOp): torch.jit.save refuses "
      "such a "
      "graph, so no file with it reaches pt2onnx";
  e.advice = {
      "call what it computes: in `forward` of the module, use the operators of its `forward` instead of "
      "`MyFunc.apply(x)`; export needs no backward",
      "or trace the module in eval mode with `torch.no_grad()` around code that calls the operators "
      "directly, for "
      "instance by `if torch.jit.is_tracing():`",
      "or, where it must stay one node, register it as an operator with torch.library "
      "(`torch.library.custom_op`, "
      "TORCH_LIBRARY): the file then saves, and `--map FILE`, `--op-schema` and `--unsupported custom` do "
      "the rest"};
}

void OperatorGuide::explain_unknown(Explanation& e) const {
  e.near = near(e.op);
  e.reason = fmt::format("libtorch has no operator `{}`", e.op);
  e.onnx.clear();
  if (!e.near.empty()) e.advice.push_back(fmt::format("names that are near: {}", fmt::join(e.near, ", ")));
  const std::string name = split_overload(e.op).first;
  if (is_torch_namespace(std::string_view(name).substr(0, name.find("::")))) return;
  const Advice advice =
      advise_unmapped(name, {}, nullptr, {registry_, onnx_catalog(), options_.opset, options_.custom_domain});
  e.which = advice.which;
  e.advice.insert(e.advice.end(), advice.advice.begin(), advice.advice.end());
}

Explanation OperatorGuide::explain(const std::string& asked) const {
  Explanation e = explain_in_range(asked);
  if (options_.opset < kMinOpset || options_.opset > onnx_catalog().newest_opset())
    e.reason += fmt::format("; opset {} is out of range: {} to {} are possible", options_.opset, kMinOpset,
                            onnx_catalog().newest_opset());
  return e;
}

Explanation OperatorGuide::explain_in_range(const std::string& asked) const {
  Explanation e;
  e.opset = options_.opset;
  if (asked.starts_with('^') || asked.ends_with("PythonOp")) {
    e.op = asked;
    explain_python_function(e);
    return e;
  }
  e.op = full_name(asked);
  const auto [name, overload] = split_overload(e.op);
  const Standing standing = this->standing(e.op);
  e.status = standing.status;
  e.since = standing.since;

  for (const auto& one : folder_->overloads(name)) e.schemas.push_back(one->text);
  // The overload that has that standing.
  std::shared_ptr<const program::Schema> schema;
  for (const auto& one : relevant(folder_->overloads(name), overload)) {
    const Standing of_one = this->standing(*one);
    if (of_one.status != standing.status || of_one.rule != standing.rule) continue;
    schema = one;
    break;
  }
  if (schema && takes_tensors(*schema))
    e.onnx = onnx_words_for(functional_name(*schema), *schema, onnx_catalog());

  if (e.status == OpStatus::Unknown) {
    explain_unknown(e);
    return e;
  }
  if (e.status == OpStatus::Mapped) {
    // What writes into its arguments is tried as what only computes.
    const auto functional = schema ? functional_form(*schema, *folder_) : nullptr;
    explain_mapped(e, standing, functional ? functional.get() : schema.get());
    return e;
  }
  e.steps = standing.steps;
  if (e.status == OpStatus::Decomposed) {
    explain_decomposed(e, standing);
    return e;
  }
  const std::string base = schema ? functional_name(*schema) : name;
  Advice advice = advise_unmapped(base, schema ? schema->overload : overload, schema.get(),
                                  {registry_, onnx_catalog(), options_.opset, options_.custom_domain});
  e.which = advice.which;
  e.reason = std::move(advice.reason);
  e.advice = std::move(advice.advice);
  std::vector<std::string> untranslated = e.steps;
  std::erase_if(untranslated,
                [&](const std::string& step) { return this->standing(step).status <= OpStatus::Decomposed; });
  if (!untranslated.empty())
    e.advice.push_back(fmt::format("libtorch computes it by {}, of which {} {} no translation",
                                   fmt::join(e.steps, ", "), fmt::join(untranslated, ", "),
                                   untranslated.size() == 1 ? "has" : "have"));
  if (schema && !schema->is_variadic) e.custom_node = kernel_contract(*schema, options_.custom_domain);
  return e;
}

}  // namespace pt2onnx
