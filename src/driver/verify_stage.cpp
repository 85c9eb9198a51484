#include "driver/verify_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "driver/example_inputs.h"
#include "driver/reference.h"

namespace pt2onnx {
namespace {

void skip(Report& report, std::string why) {
  report.verify = StageStatus::Skipped;
  report.verify_note = std::move(why);
}

void fail(Report& report, std::string why) {
  report.verify = StageStatus::Failed;
  report.error = std::move(why);
}

/// Whether numbers are rounded to the grid of a quantization: where they lie between two codes, libtorch and a runtime
/// may choose different ones.
bool rounds_to_codes(const program::Program& program) {
  return std::any_of(program.operators.begin(), program.operators.end(), [](const auto& op) {
    return op->name.starts_with("quantized::") || op->name == "aten::quantize_per_tensor" ||
           op->name.starts_with("aten::fake_quantize");
  });
}

// Behind operators that do not keep the grid a step is not known; then this share of the largest magnitude.
constexpr double kQuantizedShare = 0.02;

class Comparison {
 public:
  Comparison(Session& session, const program::Program& program, const BoundInputs& bound,
             const Options& options, const Report& report)
      : session_(session),
        bound_(bound),
        options_(options),
        quantized_(rounds_to_codes(program)),
        steps_(report.output_steps),
        result_{true, {}, {}, {}} {}

  /// Names the inputs of the comparisons that follow.
  void begin_run(std::string inputs) { result_.runs.push_back(std::move(inputs)); }

  /// The last `kept` outputs are not compared but returned: the state after the call. Throws RuntimeFailure.
  std::vector<Tensor> add(const ReferenceRun& reference, std::size_t kept = 0) {
    const auto outputs = session_.run(feeds(reference));
    std::vector<std::pair<std::string, Tensor>> actual;
    const auto names = session_.output_names();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      for (const Tensor& tensor : outputs[i]) actual.emplace_back(names[i], tensor);
    std::vector<Tensor> state;
    for (std::size_t i = actual.size() - std::min(kept, actual.size()); i < actual.size(); ++i)
      state.push_back(actual[i].second);
    actual.resize(actual.size() - state.size());

    if (actual.size() != reference.outputs.size()) {
      OutputDifference difference;
      difference.name = "outputs";
      difference.passed = false;
      difference.note = fmt::format("libtorch gives {} tensors, the ONNX model {}", reference.outputs.size(),
                                    actual.size());
      merge(0, std::move(difference));
      return state;
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const Tensor& expected = reference.outputs[i];
      Tolerance tolerance = default_tolerance(expected.dtype);
      if (quantized_ && is_floating(expected.dtype)) {
        const bool known = i < steps_.size() && steps_[i];
        if (known)
          tolerance.step = *steps_[i];
        else
          tolerance.atol = kQuantizedShare;
        if (result_.runs.size() == 1)
          allowances_.push_back(known ? fmt::format("one quantization step ({:.4g})", *steps_[i])
                                      : fmt::format("{} of the largest value", kQuantizedShare));
      }
      if (options_.rtol) tolerance.rtol = *options_.rtol;
      if (options_.atol) tolerance.atol = *options_.atol;
      merge(i, compare(actual[i].first, expected, actual[i].second, tolerance));
    }
    return state;
  }

  bool passed() const { return result_.passed; }
  /// What else is no difference, for the report; empty for models that are not quantized.
  std::string allowance() const {
    if (allowances_.empty()) return {};
    std::string text = "quantized model: outputs may differ by ";
    for (std::size_t i = 0; i < allowances_.size(); ++i) text += (i ? ", " : "") + allowances_[i];
    return text;
  }
  Verification take() { return std::move(result_); }

 private:
  /// By name; a model made by another tool may have other names: then by position.
  std::vector<std::vector<Tensor>> feeds(const ReferenceRun& reference) const {
    const auto names = session_.input_names();
    const bool by_name =
        std::all_of(names.begin(), names.end(), [&](const auto& n) { return reference.inputs.contains(n); });
    if (!by_name && names.size() != bound_.tensors.size())
      throw RuntimeFailure(fmt::format("the model has {} inputs ({}), the module {}", names.size(),
                                       fmt::join(names, ", "), bound_.tensors.size()));
    std::vector<std::vector<Tensor>> result;
    for (std::size_t i = 0; i < names.size(); ++i)
      result.push_back({real_pairs(reference.inputs.at(by_name ? names[i] : bound_.tensors[i].input.name))});
    return result;
  }

  /// The worst over all runs counts.
  void merge(std::size_t index, OutputDifference difference) {
    result_.passed = result_.passed && difference.passed;
    if (!difference.passed && result_.runs.size() > 1)
      difference.note += fmt::format(" (inputs: {})", result_.runs.back());
    if (index >= result_.outputs.size()) {
      result_.outputs.push_back(std::move(difference));
      return;
    }
    OutputDifference& known = result_.outputs[index];
    known.max_abs = std::max(known.max_abs, difference.max_abs);
    known.max_rel = std::max(known.max_rel, difference.max_rel);
    if (known.passed && !difference.passed) known.note = std::move(difference.note);
    known.passed = known.passed && difference.passed;
  }

  Session& session_;
  const BoundInputs& bound_;
  const Options& options_;
  bool quantized_;
  std::vector<std::optional<double>> steps_;
  std::vector<std::string> allowances_;
  Verification result_;
};

/// Whether the model draws random numbers: then no two runs are alike, and there is nothing to compare with.
bool draws_random_numbers(const Report& report, const program::Program& program) {
  if (report.operators
          .empty()) {  // of a model made elsewhere only the program is known; in eval mode dropout draws none
    return std::any_of(program.operators.begin(), program.operators.end(), [](const auto& op) {
      return op->schema && op->schema->is_nondeterministic && op->name.find("dropout") == std::string::npos;
    });
  }
  return std::any_of(report.operators.begin(), report.operators.end(), [](const auto& op) {
    return op.first.starts_with("Random") || op.first == "Bernoulli" || op.first == "Multinomial" ||
           op.first == "Dropout";
  });
}

/// Example sizes that the module accepts: those of the binding, or larger ones for dims whose size was our choice.
std::optional<ReferenceRun> first_reference(TorchModule& module, const BoundInputs& bound,
                                            std::string& refusal) {
  std::string first;
  for (const std::int64_t factor : {1, 4, 16}) {
    SymbolSizes sizes = bound.example_sizes;
    for (const std::string& symbol : bound.chosen) sizes[symbol] *= factor;
    if (auto run = run_reference(module, bound, sizes, refusal)) return run;
    if (first.empty()) first = refusal;
    if (bound.chosen.empty()) break;
  }
  refusal = first;
  return std::nullopt;
}

/// Other sizes in the dynamic dims; where libtorch refuses all that are tried, the report notes it.
std::optional<ReferenceRun> second_reference(TorchModule& module, const BoundInputs& bound,
                                             const ReferenceRun& first, Report& report) {
  std::string refusal;
  for (const SymbolSizes& sizes : other_sizes(bound, first.sizes))
    if (auto run = run_reference(module, bound, sizes, refusal)) return run;
  report.verify_note =
      fmt::format("run with one size only: libtorch refuses other sizes of the dynamic dims ({})", refusal);
  return std::nullopt;
}

/// Calls in a row through both; the state goes from call to call.
void compare_calls(Comparison& comparison, const BoundInputs& bound, const CallSequence& calls,
                   const ModuleState& state) {
  comparison.begin_run(
      fmt::format("{} calls in a row with {}", calls.inputs.size(), describe(bound, calls.sizes)));
  std::map<std::string, Tensor> current = initial_state(state, calls.sizes);
  for (std::size_t i = 0; i < calls.inputs.size(); ++i) {
    ReferenceRun run{calls.sizes, calls.inputs[i], calls.outputs[i]};
    run.inputs.insert(current.begin(), current.end());
    const auto next = comparison.add(run, state.tensors.size());
    for (std::size_t k = 0; k < next.size(); ++k) current[state.tensors[k].input.name] = next[k];
  }
}

}  // namespace

void verify_calls(Session& session, TorchModule& module, const BoundInputs& bound, const ModuleState& state,
                  const Options& options, Report& report) {
  std::string refusal;
  const auto calls = run_call_sequence(module, bound, bound.example_sizes, refusal);
  if (!calls)
    return skip(report,
                fmt::format("libtorch itself fails on calls in a row ({}): {}; give values with --input-data",
                            describe(bound, bound.example_sizes), refusal));
  Comparison comparison(session, module.program(), bound, options, report);
  try {
    compare_calls(comparison, bound, *calls, state);
    if (!bound.example_sizes.empty()) {
      for (const SymbolSizes& sizes : other_sizes(bound, bound.example_sizes)) {
        const auto others = run_call_sequence(module, bound, sizes, refusal);
        if (!others) continue;
        compare_calls(comparison, bound, *others, state);
        break;
      }
    }
  } catch (const RuntimeFailure& e) {
    if (is_lack_of_runtime(e.what()))
      skip(report, fmt::format("ONNX Runtime cannot run this model: {}", e.what()));
    else
      fail(report, fmt::format("ONNX Runtime fails on the model where libtorch does not: {}", e.what()));
    return;
  }
  if (const auto words = comparison.allowance(); !words.empty())
    report.verify_note += (report.verify_note.empty() ? "" : "; ") + words;
  report.verification = comparison.take();
  report.verify = report.verification->passed ? StageStatus::Ok : StageStatus::Failed;
}

std::string missing_kernel(const std::string& message) {
  // "... Fatal error: custom:twice(-1) is not a registered function/op"
  const auto end = message.find(") is not a registered function/op");
  const auto bracket = end == std::string::npos ? end : message.rfind('(', end);
  if (bracket == std::string::npos) return {};
  const auto blank = message.rfind(' ', bracket);
  std::string op = message.substr(blank + 1, bracket - blank - 1);
  if (const auto colon = op.find(':'); colon != std::string::npos) op.insert(colon, ":");
  return op;
}

bool is_lack_of_runtime(const std::string& message) {
  constexpr std::array<std::string_view, 6> kWords{"NOT_IMPLEMENTED",
                                                   "Could not find an implementation",
                                                   "is not a registered function/op",
                                                   "only *guaranteed* support",
                                                   "is under development",
                                                   "Unsupported model IR version"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view words) { return message.find(words) != std::string::npos; });
}

std::optional<ReferenceRun> verify_with(Session& session, TorchModule& module, const BoundInputs& bound,
                                        const Options& options, Report& report) {
  std::string refusal;
  const auto reference = first_reference(module, bound, refusal);
  if (!reference) {
    skip(report,
         fmt::format("libtorch itself fails on the example inputs ({}): {}; give values with --input-data",
                     describe(bound, bound.example_sizes), refusal));
    return std::nullopt;
  }
  Comparison comparison(session, module.program(), bound, options, report);
  try {
    comparison.begin_run(describe(bound, reference->sizes));
    comparison.add(*reference);
  } catch (const RuntimeFailure& e) {
    if (is_lack_of_runtime(e.what())) {
      skip(report, fmt::format("ONNX Runtime cannot run this model: {}", e.what()));
    } else {
      fail(report, fmt::format("ONNX Runtime fails on the model where libtorch does not: {}", e.what()));
    }
    return std::nullopt;
  }

  const auto other =
      bound.example_sizes.empty() ? std::nullopt : second_reference(module, bound, *reference, report);
  std::optional<ReferenceRun> differing;
  if (!comparison.passed()) differing = *reference;
  if (other) {
    try {
      comparison.begin_run(describe(bound, other->sizes));
      comparison.add(*other);
    } catch (const RuntimeFailure& e) {
      report.verification = comparison.take();
      report.verification->passed = false;
      fail(report, fmt::format("ONNX Runtime fails with other sizes ({}) where libtorch does not: {}",
                               describe(bound, other->sizes), e.what()));
      return std::nullopt;
    }
    if (!differing && !comparison.passed()) differing = *other;
  }

  if (const auto words = comparison.allowance(); !words.empty())
    report.verify_note += (report.verify_note.empty() ? "" : "; ") + words;
  report.verification = comparison.take();
  report.verify = report.verification->passed ? StageStatus::Ok : StageStatus::Failed;
  if (differing && draws_random_numbers(report, module.program())) {
    report.verification.reset();
    skip(report,
         "the model draws random numbers, so no two runs are alike and there is nothing to compare with");
    return std::nullopt;
  }
  return differing;
}

}  // namespace pt2onnx
