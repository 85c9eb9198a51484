#include "driver/divergence.h"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emitter/emitter.h"
#include "verify/runtime.h"

namespace pt2onnx {
namespace {

/// A result of a node of the program, the n-th time that the node runs.
using Step = std::tuple<const program::Node*, std::size_t, std::size_t>;

/// Numbers the runs of each node as the observer of an interpretation sees them.
class StepCounter {
 public:
  Step next(const program::Node& node, std::size_t output) {
    return {&node, output, runs_[{&node, output}]++};
  }

 private:
  std::map<std::pair<const program::Node*, std::size_t>, std::size_t> runs_;
};

struct Translation {
  Model model;
  std::vector<std::pair<Step, Value>> steps;  // in order
};

void translate(const DivergenceContext& context, const std::vector<InputBinding>& inputs, Translation& out,
               std::size_t fold_bytes) {
  StepCounter counter;
  InterpretOptions interpretation = context.interpretation;
  interpretation.fold_bytes = fold_bytes;
  interpretation.observe = [&](const program::Node& node, std::size_t output, const Value& value) {
    out.steps.emplace_back(counter.next(node, output), value);
  };
  interpret(context.module.program(), inputs, context.registry, context.catalog, context.module.folder(),
            interpretation, out.model);
}

/// What libtorch computes at each step.
std::map<Step, Tensor> reference_steps(const DivergenceContext& context,
                                       const std::map<std::string, Tensor>& inputs) {
  std::vector<InputBinding> constants;
  for (auto& value : argument_values(context.bound, inputs)) constants.push_back({std::move(value)});
  Translation run;
  translate(context, constants, run, std::numeric_limits<std::size_t>::max() / 4);
  std::map<Step, Tensor> steps;
  for (const auto& [step, value] : run.steps)
    if (const Tensor* tensor = value.constant()) steps.emplace(step, *tensor);
  return steps;
}

/// The nodes of the main graph by what they give; values of subgraphs cannot be looked at from outside.
std::unordered_map<const ValueInfo*, const Node*> producers(const Graph& graph) {
  std::unordered_map<const ValueInfo*, const Node*> result;
  for (const auto& node : graph.nodes)
    for (const Value& output : node->outputs)
      if (output) result.emplace(output.info(), node.get());
  return result;
}

std::string describe(const Node& node, const OutputDifference& difference) {
  std::string text = fmt::format("`{}` ({}", node.name, node.op);
  if (node.origin) {
    if (!node.origin->op.empty()) text += " for " + node.origin->op;
    if (!node.origin->file.empty()) text += fmt::format(" at {}:{}", node.origin->file, node.origin->line);
    if (!node.origin->module_path.empty()) text += ", in " + node.origin->module_path;
  }
  return text + fmt::format("): {}", difference.note);
}

}  // namespace

std::string first_divergence(const DivergenceContext& context, const std::map<std::string, Tensor>& inputs) {
  const auto expected = reference_steps(context, inputs);
  Translation traced;
  translate(context, context.bound.arguments, traced, context.interpretation.fold_bytes);

  const auto nodes = producers(traced.model.graph);
  std::set<const ValueInfo*> outputs;
  for (const Value& output : traced.model.graph.outputs) outputs.insert(output.info());
  std::vector<std::pair<Value, const Tensor*>> watched;
  for (const auto& [step, value] : traced.steps) {
    const auto reference = expected.find(step);
    if (reference == expected.end() || !nodes.contains(value.info()) || !value.dtype()) continue;
    if (value.type().kind != ValueType::Kind::Tensor) continue;
    watched.emplace_back(value, &reference->second);
    if (outputs.insert(value.info()).second) traced.model.graph.outputs.push_back(value);
  }
  if (watched.empty()) return {};
  eliminate_dead_nodes(traced.model);

  const auto session = open_session_bytes(serialize_model(traced.model), context.options.ort_libraries);
  std::vector<std::vector<Tensor>> feeds;
  for (const std::string& name : session->input_names()) feeds.push_back({real_pairs(inputs.at(name))});
  const auto results = session->run(feeds);
  std::map<std::string, const Tensor*> actual;
  const auto names = session->output_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (results[i].size() == 1) actual.emplace(names[i], &results[i].front());

  for (const auto& [value, reference] : watched) {
    const auto it = actual.find(value.name());
    if (it == actual.end()) continue;
    Tolerance tolerance = default_tolerance(reference->dtype);
    if (context.options.rtol) tolerance.rtol = *context.options.rtol;
    if (context.options.atol) tolerance.atol = *context.options.atol;
    const OutputDifference difference = compare(value.name(), *reference, *it->second, tolerance);
    if (!difference.passed) return describe(*nodes.at(value.info()), difference);
  }
  return {};
}

}  // namespace pt2onnx
