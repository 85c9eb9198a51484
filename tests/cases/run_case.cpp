#include "run_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "emitter/emitter.h"
#include "interpreter/interpreter.h"
#include "support/torchscript.h"
#include "verify/runtime.h"

namespace pt2onnx::testing {
namespace {

using program::Literal;

std::vector<Tensor> tensors_of(const std::vector<CaseTensor>& specs, bool other_sizes, std::uint64_t seed) {
  std::vector<Tensor> tensors;
  for (const auto& spec : specs) tensors.push_back(make_tensor(spec, other_sizes, ++seed));
  return tensors;
}

std::vector<std::pair<std::string, Tensor>> named(const std::vector<CaseTensor>& specs, std::uint64_t seed) {
  std::vector<std::pair<std::string, Tensor>> result;
  for (const auto& spec : specs) result.emplace_back(spec.name, make_tensor(spec, false, ++seed));
  return result;
}

/// All tensors of a result, in order; numbers count as tensors without dims.
void flatten(const Literal& literal, std::vector<Tensor>& into) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data)) {
    into.push_back(*tensor);
  } else if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data)) {
    for (const auto& item : (*list)->items) flatten(item, into);
  } else if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&literal.data)) {
    for (const auto& item : (*tuple)->items) flatten(item, into);
  } else if (const auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&literal.data)) {
    for (const auto& item : (*dict)->items) flatten(item.second, into);
  } else if (const auto* integer = std::get_if<std::int64_t>(&literal.data)) {
    into.push_back(Tensor::scalar(*integer, DType::Int64));
  } else if (const auto* flag = std::get_if<bool>(&literal.data)) {
    into.push_back(Tensor::scalar(std::int64_t{*flag}, DType::Bool));
  } else if (const auto* number = std::get_if<double>(&literal.data)) {
    into.push_back(Tensor::scalar(*number, DType::Float64));
  }
}

// ---- expectations on the graph ---------------------------------------------------------------------------------------

std::string attribute_text(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      return fmt::format("[{}]", fmt::join(v, ","));
    }
    std::string operator()(const std::vector<double>& v) const {
      return fmt::format("[{}]", fmt::join(v, ","));
    }
    std::string operator()(const std::vector<std::string>& v) const {
      return fmt::format("[{}]", fmt::join(v, ","));
    }
    std::string operator()(const Tensor&) const { return "tensor"; }
    std::string operator()(const std::shared_ptr<Graph>&) const { return "graph"; }
    std::string operator()(const ValueType&) const { return "type"; }
  };
  return std::visit(Visitor{}, attribute);
}

void collect(const Graph& graph, std::vector<const Node*>& nodes) {
  for (const auto& node : graph.nodes) {
    nodes.push_back(node.get());
    for (const auto& [name, attribute] : node->attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) collect(**body, nodes);
  }
}

bool matches(const Node& node, const ExpectedNode& expected) {
  if (node.op != expected.op) return false;
  return std::ranges::all_of(expected.attributes, [&](const auto& item) {
    const auto* attribute = node.attributes.find(item.first);
    return attribute && attribute_text(*attribute) == item.second;
  });
}

std::string check_nodes(const Case& c, const Model& model) {
  std::vector<const Node*> nodes;
  collect(model.graph, nodes);
  for (const auto& expected : c.nodes) {
    const bool found = std::ranges::any_of(nodes, [&](const Node* node) { return matches(*node, expected); });
    if (found != expected.absent) continue;
    std::vector<std::string> names;
    for (const auto* node : nodes) names.push_back(node->op);
    return fmt::format("{} {}; the graph has {}", expected.op,
                       expected.absent ? "must not be there" : "is missing", fmt::join(names, " "));
  }
  return {};
}

// ---- findings --------------------------------------------------------------------------------------------------------

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const auto& finding : findings)
    text += fmt::format("\n  {}{}: {}", finding.op,
                        finding.which ? fmt::format(" (case {})", static_cast<int>(*finding.which)) : "",
                        finding.reason);
  return text;
}

std::string check_rejection(const ExpectedRejection& expected, const std::vector<Finding>& findings) {
  const bool found = std::ranges::any_of(findings, [&](const Finding& finding) {
    const bool same_case =
        !expected.which || (finding.which && static_cast<int>(*finding.which) == *expected.which);
    return same_case && finding.reason.find(expected.words) != std::string::npos;
  });
  if (found) return {};
  if (findings.empty()) return "expected to be rejected, but it was translated";
  return "rejected, but otherwise than expected:" + text_of(findings);
}

// ---- running ---------------------------------------------------------------------------------------------------------

Tolerance tolerance_for(const Case& c, DType dtype) {
  Tolerance tolerance{1e-4, 1e-5};
  dtype = real_of(dtype);
  if (dtype == DType::Float16) tolerance = {5e-3, 5e-3};
  if (dtype == DType::BFloat16) tolerance = {3e-2, 3e-2};
  if (c.rtol) tolerance.rtol = *c.rtol;
  if (c.atol) tolerance.atol = *c.atol;
  if (c.exact) tolerance = {0, 0};
  return tolerance;
}

/// The sizes that a run gives to the dynamic dims.
std::map<std::string, std::int64_t> assignment(const std::vector<CaseTensor>& inputs, bool other_sizes) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& input : inputs)
    for (const auto& dim : input.dims)
      if (!dim.name.empty()) sizes[dim.name] = other_sizes ? dim.other : dim.size;
  return sizes;
}

/// What the graph says of an output must hold for the tensor that libtorch computes.
std::string check_type(Value output, const Tensor& of_torch,
                       const std::map<std::string, std::int64_t>& sizes) {
  const Tensor expected = real_pairs(of_torch);
  if (output.dtype() && *output.dtype() != expected.dtype)
    return fmt::format("inferred {}, torch gives {}", to_string(*output.dtype()), to_string(expected.dtype));
  if (!output.shape()) return {};
  const auto wrong = [&] {
    return fmt::format("inferred {}, torch gives [{}]", to_string(*output.shape()),
                       fmt::join(expected.dims, ", "));
  };
  if (output.shape()->size() != expected.dims.size()) return wrong();
  const auto lookup = [&](const std::string& name) -> std::optional<std::int64_t> {
    const auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  for (std::size_t i = 0; i < expected.dims.size(); ++i) {
    const auto size = (*output.shape())[i].evaluate(lookup);
    if (size && *size != expected.dims[i]) return wrong();
  }
  return {};
}

bool same_sizes(const std::vector<CaseTensor>& a, const std::vector<CaseTensor>& b) {
  return std::ranges::equal(a, b, [](const CaseTensor& x, const CaseTensor& y) {
    return std::ranges::equal(x.dims, y.dims, {}, &CaseDim::size, &CaseDim::size);
  });
}

std::string compare_run(const Case& c, const Model& model, TorchModule& module, Session& session,
                        const std::vector<CaseTensor>& specs, bool other_sizes) {
  const auto inputs = tensors_of(specs, other_sizes, 17);
  std::vector<Literal> arguments;
  std::map<std::string, Tensor> by_name;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back({inputs[i]});
    by_name[c.inputs[i].name] = inputs[i];
  }
  std::vector<Tensor> expected;
  flatten(module.run(arguments), expected);

  std::vector<std::vector<Tensor>> feeds;
  for (const auto& name : session.input_names()) feeds.push_back({real_pairs(by_name.at(name))});
  std::vector<Tensor> actual;
  for (const auto& output : session.run(feeds)) actual.insert(actual.end(), output.begin(), output.end());

  if (actual.size() != expected.size())
    return fmt::format("{} outputs, torch gives {}", actual.size(), expected.size());
  const auto sizes = assignment(specs, other_sizes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (c.random) {
      if (actual[i].dtype != expected[i].dtype || actual[i].dims != expected[i].dims)
        return fmt::format("output {}: {} [{}], torch gives {} [{}]", i, to_string(actual[i].dtype),
                           fmt::join(actual[i].dims, ", "), to_string(expected[i].dtype),
                           fmt::join(expected[i].dims, ", "));
      continue;
    }
    const auto difference =
        compare(fmt::format("output {}", i), expected[i], actual[i], tolerance_for(c, expected[i].dtype));
    if (!difference.passed)
      return fmt::format("{}: {} (max abs {}, max rel {})", difference.name, difference.note,
                         difference.max_abs, difference.max_rel);
    const auto& outputs = model.graph.outputs;
    if (outputs.size() == expected.size()) {
      const auto wrong = check_type(outputs[i], expected[i], sizes);
      if (!wrong.empty()) return fmt::format("output {}: {}", i, wrong);
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<TorchModule> load_case(const Case& c) {
  TorchScriptSnippet snippet;
  snippet.source = c.source;
  snippet.parameters = named(c.parameters, 1000);
  snippet.buffers = named(c.buffers, 2000);
  const TemporaryModule file(snippet);
  return load_torchscript(file.path(), {});
}

Translation translate_case(const Case& c, TorchModule& module, int opset, bool dynamic,
                           const Registry& registry) {
  std::vector<InputBinding> bindings;
  for (const auto& input : c.inputs) {
    Shape shape;
    for (const auto& dim : input.dims)
      shape.push_back(dynamic && !dim.name.empty() ? Dim::symbol(dim.name, 1) : Dim(dim.size));
    bindings.push_back({InputBinding::TensorInput{input.name, input.dtype, shape}});
  }
  Translation translation;
  translation.model.opset = opset;
  InterpretOptions options;
  options.opset = opset;
  options.example_sizes = assignment(c.inputs, false);
  translation.findings = interpret(module.program(), bindings, registry, onnx_catalog(), module.folder(),
                                   options, translation.model)
                             .findings;
  return translation;
}

namespace {

std::string run_model(const Case& c, Model& model, TorchModule& module, bool dynamic, Expect expect) {
  eliminate_dead_nodes(model);
  if (const auto words = check_model(model); !words.empty())
    return "checker: " + words + "\n" + print_model(model);
  if (expect == Expect::All)
    if (const auto words = check_nodes(c, model); !words.empty()) return words + "\n" + print_model(model);
  if (!has_runtime()) return {};
  try {
    const auto session = open_session_bytes(serialize_model(model), {});
    auto words = compare_run(c, model, module, *session, c.inputs, false);
    if (words.empty() && dynamic) {
      words = compare_run(c, model, module, *session, c.inputs, true);
      if (!words.empty()) words = "at other sizes: " + words;
    }
    for (std::size_t i = 0; i < c.also.size() && words.empty(); ++i) {
      const auto inputs = c.inputs_with(c.also[i]);
      if (!dynamic && !same_sizes(inputs, c.inputs)) continue;
      words = compare_run(c, model, module, *session, inputs, false);
      if (!words.empty()) words = fmt::format("on the inputs of `also` number {}: {}", i + 1, words);
    }
    return words.empty() ? words : words + "\n" + print_model(model);
  } catch (const RuntimeFailure& failure) {
    return fmt::format("ONNX Runtime: {}\n{}", failure.what(), print_model(model));
  }
}

}  // namespace

CaseRun run_case(const Case& c, TorchModule& module, int opset, bool dynamic, const Registry& registry,
                 Expect expect) {
  auto [model, findings] = translate_case(c, module, opset, dynamic, registry);
  if (c.rejection) return {findings.empty(), check_rejection(*c.rejection, findings)};
  if (!findings.empty()) return {false, "not translated:" + text_of(findings)};
  return {true, run_model(c, model, module, dynamic, expect)};
}

std::string run_case(const Case& c, int opset, bool dynamic) {
  static const Registry registry = builtin_registry();
  const auto module = load_case(c);
  return run_case(c, *module, opset, dynamic, registry, Expect::All).words;
}

}  // namespace pt2onnx::testing
