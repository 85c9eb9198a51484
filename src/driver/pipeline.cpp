#include "driver/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "core/names.h"
#include "core/outline.h"
#include "driver/divergence.h"
#include "driver/findings.h"
#include "driver/layers.h"
#include "driver/reference.h"
#include "driver/trial_inputs.h"
#include "driver/verify_stage.h"
#include "interpreter/interpreter.h"
#include "verify/runtime.h"

namespace pt2onnx {
namespace {

TensorSummary named(const Value& value) {
  TensorSummary summary = summary_of(value.type());
  summary.name = value.name();
  return summary;
}

/// Counts the nodes of a graph and of the graphs inside its nodes.
void count_nodes(const Graph& graph, Report& report) {
  for (const auto& node : graph.nodes) {
    ++report.nodes;
    ++report.operators[qualified_name(*node)];
    for (const auto& [name, attribute] : node->attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute)) count_nodes(**inner, report);
  }
}

/// Domains of nodes that ONNX Runtime has no kernels for: neither its own nor those of the model's functions.
std::vector<std::string> foreign_domains(const Model& model) {
  static constexpr std::array<std::string_view, 2> kRuntimeDomains{"ai.onnx.ml", "com.microsoft"};
  std::vector<std::string> foreign;
  for (const auto& [domain, version_of_domain] : model.domains) {
    const auto in_domain = [&](const LocalFunction& function) { return function.domain == domain; };
    if (!contains(kRuntimeDomains, domain) && std::ranges::none_of(model.functions, in_domain))
      foreign.push_back(domain);
  }
  return foreign;
}

}  // namespace

Pipeline::Pipeline(std::string path, const Options& options) : path_(std::move(path)), options_(options) {
  report_.input = path_;
  report_.opset = options.opset;
}

void Pipeline::begin(std::string_view stage, StageStatus Report::* status) {
  stage_ = status;
  if (options_.progress) options_.progress(stage);
}

void Pipeline::done() {
  report_.*stage_ = StageStatus::Ok;
  stage_ = nullptr;
}

Status Pipeline::fail(Status status, std::string why) {
  if (stage_) report_.*stage_ = StageStatus::Failed;
  report_.error = std::move(why);
  return status;
}

void Pipeline::halt(Status status, std::string why) { throw Halt{fail(status, std::move(why))}; }

void Pipeline::load(bool defer_weights) {
  begin("load", &Report::load);
  try {
    entries_ = UserEntries(options_);
  } catch (const EntryError& e) {
    halt(Status::Usage, e.what());
  }
  if (options_.verify && has_runtime() && !options_.ort_libraries.empty()) {
    try {
      check_kernel_libraries(options_.ort_libraries);
    } catch (const RuntimeFailure& e) {
      halt(Status::Usage, fmt::format("--ort-library {}", e.what()));
    }
  }
  registry_ = entries_.registry();
  LoadOptions load;
  load.method = options_.method;
  load.op_schemas = options_.op_schemas;
  load.libraries = options_.libraries;
  load.keep_training = options_.training;
  load.defer_weights = defer_weights;
  try {
    module_ = load_torchscript(path_, load);
  } catch (const LoadError& e) {
    halt(Status::BadInput, e.what());
  } catch (const UsageError& e) {
    halt(Status::Usage, e.what());
  }
  try {
    entries_.check_schemas(module_->folder());
    keeps_ = keeps_of(options_, module_->program());
  } catch (const EntryError& e) {
    halt(Status::Usage, e.what());
  }
  report_.warnings = module_->warnings();
  done();
}

void Pipeline::bind() {
  begin("inputs", &Report::translate);
  constexpr std::size_t kGuesses = 4;
  try {
    const InputData data = options_.input_data.empty() ? InputData{} : read_input_data(options_.input_data);
    Assumptions assumptions;
    try {
      bound_ = bind_inputs(module_->program(), options_, data);
    } catch (const MissingInputs& missing) {
      const auto accepted = try_inputs(*module_, options_, data, missing.tensors);
      if (!accepted) throw;
      assumptions = *accepted;
      bound_ = bind_inputs(module_->program(), options_, data, 0, assumptions);
    }
    // A guessed shape is only as good as the module's word for it.
    std::string refusal;
    for (std::size_t attempt = 0; !bound_.notes.empty(); ++attempt) {
      if (run_reference(*module_, bound_, bound_.example_sizes, refusal)) break;
      if (attempt + 1 == kGuesses) {
        bound_ = bind_inputs(module_->program(), options_, data, 0, assumptions);
        break;
      }
      bound_ = bind_inputs(module_->program(), options_, data, attempt + 1, assumptions);
    }
  } catch (const BindingError& e) {
    halt(Status::Usage, e.what());
  } catch (const LoadError& e) {
    halt(Status::Usage, fmt::format("--input-data: {}", e.what()));
  } catch (const UsageError& e) {
    halt(Status::Usage, fmt::format("--input-data: {}", e.what()));
  }
  report_.warnings.insert(report_.warnings.end(), bound_.notes.begin(), bound_.notes.end());
  if (options_.state) find_state();
}

void Pipeline::find_state() {
  try {
    state_finder_.emplace(*module_, bound_);
    state_ = state_finder_->find({});
  } catch (const StateError& e) {
    halt(Status::Unsupported, e.what());
  }
}

/// Once, or once more when the program turns out to assign attributes that calls happened not to change.
InterpretResult Pipeline::interpret_program() {
  const auto interpret_once = [&] {
    model_ = std::make_unique<Model>();
    return interpret(module_->program(), bound_.arguments, registry_, onnx_catalog(), module_->folder(),
                     interpretation(), *model_);
  };
  InterpretResult result = interpret_once();
  if (!state_finder_ || !result.findings.empty()) return result;
  if (!result.assigned.empty()) {
    try {
      state_ = state_finder_->find(result.assigned);
    } catch (const StateError& e) {
      halt(Status::Unsupported, e.what());
    }
    result = interpret_once();
  }
  if (state_.tensors.empty())
    result.warnings.emplace_back("--state: the module keeps nothing from call to call");
  result.warnings.insert(result.warnings.end(), state_.notes.begin(), state_.notes.end());
  return result;
}

InterpretOptions Pipeline::interpretation() const {
  InterpretOptions interpretation;
  interpretation.opset = report_.opset;
  interpretation.unsupported = options_.unsupported;
  interpretation.custom_domain = options_.custom_domain;
  interpretation.method = options_.method;
  interpretation.fold = options_.fold;
  interpretation.output_names = options_.output_names;
  interpretation.state = state_.bindings;
  interpretation.example_sizes = bound_.example_sizes;
  for (const std::string& symbol : bound_.chosen) interpretation.example_sizes.erase(symbol);  // says nothing
  interpretation.strict = options_.strict;
  interpretation.keeps = keeps_;
  return interpretation;
}

void Pipeline::translate(int opset) {
  begin("translate", &Report::translate);
  const OpCatalog& catalog = onnx_catalog();
  if (opset < kMinOpset || opset > catalog.newest_opset())
    halt(Status::Usage, fmt::format("--opset {}: out of range; {} to {} are possible", opset, kMinOpset,
                                    catalog.newest_opset()));
  report_.opset = opset;

  InterpretResult result = interpret_program();
  bound_.pinned = result.pinned;
  report_.output_steps = result.output_steps;
  report_.warnings.insert(report_.warnings.end(), result.warnings.begin(), result.warnings.end());
  const auto unused = entries_.unused(opset);
  report_.warnings.insert(report_.warnings.end(), unused.begin(), unused.end());
  if (!result.findings.empty()) {
    describe_layers(*model_, result, report_);
    report_.findings = std::move(result.findings);
    complete_findings(report_.findings, {registry_, catalog, opset, options_.custom_domain},
                      module_->folder());
    report_.translate = StageStatus::Failed;
    throw Halt{Status::Unsupported};
  }
  if (model_->graph.outputs.empty())
    halt(Status::Unsupported,
         fmt::format("`{}` returns no tensor, so there is nothing that an ONNX model could compute",
                     options_.method));
  if (options_.output_names.size() > model_->graph.outputs.size())
    halt(Status::Usage, fmt::format("--output-names: {} names were given, the model has {} outputs",
                                    options_.output_names.size(), model_->graph.outputs.size()));
  if (options_.optimize) eliminate_dead_nodes(*model_);
  outline_kept_calls(*model_);
  complete_output_types();
  describe_model();
  describe_layers(*model_, result, report_);
  done();
}

/// An ONNX graph must tell dtype and rank of its outputs. Inference knows neither behind a custom node, nor the rank where
/// it depends on the data; libtorch does, of the example.
void Pipeline::complete_output_types() {
  const auto& outputs = model_->graph.outputs;
  const auto is_open = [](const Value& v) {
    return v.type().kind == ValueType::Kind::Tensor && (!v.dtype() || !v.shape());
  };
  if (std::none_of(outputs.begin(), outputs.end(), is_open)) return;

  std::string refusal;
  const auto reference = run_reference(*module_, bound_, bound_.example_sizes, refusal);
  const bool seen = reference && reference->outputs.size() == outputs.size();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_open(outputs[i])) continue;
    ValueInfo& info = *outputs[i].info();
    if (!info.type.dtype) {
      if (!seen)
        halt(Status::Unsupported,
             fmt::format("the dtype of the output `{}` is not known, and ONNX wants it: it "
                         "depends on a custom node, and libtorch cannot run the module to see{}",
                         info.name, refusal.empty() ? "" : ": " + refusal));
      info.type.dtype = reference->outputs[i].dtype;
    }
    if (info.type.shape) continue;
    const std::size_t rank = seen ? reference->outputs[i].dims.size() : 1;
    info.type.shape.emplace();  // the rank only: the sizes may depend on the input
    for (std::size_t axis = 0; axis < rank; ++axis)
      info.type.shape->push_back(Dim::symbol(fmt::format("{}_{}", info.name, axis)));
    if (!seen || model_->domains.empty())
      report_.warnings.push_back(fmt::format("the rank of the output `{}` {}; the model declares {}",
                                             info.name, seen ? "depends on the data" : "is not known",
                                             seen ? "that of the example" : "one dim for it"));
  }
}

void Pipeline::describe_model() {
  report_.inputs.clear();
  report_.outputs.clear();
  for (const Value& input : model_->graph.inputs) report_.inputs.push_back(named(input));
  for (const Value& output : model_->graph.outputs) report_.outputs.push_back(named(output));
  report_.state = describe_state(state_, *model_);
  count_nodes(model_->graph, report_);
}

void Pipeline::check() {
  begin("check", &Report::check);
  // The model is ours: what the checker refuses is a mistake of the translation, or of a mapping that it followed.
  const std::string refusal = check_model(*model_);
  if (!refusal.empty() && entries_.any_used())
    halt(Status::Usage,
         fmt::format("the model does not pass onnx's checker, which may be due to a mapping of --map: {}",
                     refusal));
  if (!refusal.empty())
    halt(Status::Defect, fmt::format("the model does not pass onnx's checker: {}", refusal));
  done();
}

void Pipeline::write(const std::string& output) {
  begin("write", nullptr);
  std::error_code missing;
  if (std::filesystem::equivalent(path_, output, missing))
    halt(Status::Usage, fmt::format("the output `{}` would replace the input; pass -o", output));
  try {
    write_model(*model_, output, {options_.external_data, std::string(version())});
  } catch (const WriteError& e) {
    halt(Status::CannotWrite, e.what());
  }
  report_.output = output;
}

std::string Pipeline::serialize() {
  begin("write", nullptr);
  try {
    return serialize_model(*model_, std::string(version()));
  } catch (const WriteError& e) {
    halt(Status::CannotWrite, e.what());
  }
}

void Pipeline::verify_output() {
  verify_session([this] { return open_session_file(report_.output, options_.ort_libraries); });
}

void Pipeline::verify_bytes(const std::string& model) {
  verify_session([&] { return open_session_bytes(model, options_.ort_libraries); });
}

void Pipeline::verify_session(const std::function<std::unique_ptr<Session>()>& open) {
  const auto skip = [&](std::string why) {
    report_.verify = StageStatus::Skipped;
    report_.verify_note = std::move(why);
  };
  if (!options_.verify) return skip("not asked for");
  if (!has_runtime()) return skip(why_no_runtime());
  if (const auto foreign = foreign_domains(*model_); !foreign.empty() && options_.ort_libraries.empty())
    return skip(
        fmt::format("the model has nodes of the domain `{}`; pass --ort-library LIB.so with their kernels",
                    fmt::join(foreign, "`, `")));
  begin("verify", &Report::verify);
  try {
    const auto session = open();
    compare_with(*session);
  } catch (const RuntimeFailure& e) {
    if (const auto op = missing_kernel(e.what()); !op.empty() && !options_.ort_libraries.empty())
      return skip(fmt::format("no kernel for `{}` in what --ort-library gave", op));
    if (is_lack_of_runtime(e.what()))
      return skip(fmt::format("ONNX Runtime cannot load this model: {}", e.what()));
    halt(Status::Mismatch, fmt::format("ONNX Runtime refuses the model: {}", e.what()));
  }
  finish_verification();
}

void Pipeline::compare_with(Session& session) {
  if (!state_.tensors.empty()) return verify_calls(session, *module_, bound_, state_, options_, report_);
  const auto differing = verify_with(session, *module_, bound_, options_, report_);
  if (differing && model_) trace_difference(*differing);  // a model made elsewhere has no nodes that we know
}

void Pipeline::trace_difference(const ReferenceRun& run) {
  try {
    report_.verification->first_divergence = first_divergence(
        {*module_, bound_, registry_, onnx_catalog(), interpretation(), options_}, run.inputs);
  } catch (const std::exception& e) {  // the mismatch itself is what matters
    report_.warnings.push_back(fmt::format("where the difference begins could not be traced: {}", e.what()));
  }
}

void Pipeline::verify_file(const std::string& onnx_path) {
  begin("verify", &Report::verify);
  report_.output = onnx_path;
  report_.opset = 0;  // the file's own, which does not matter here
  report_.translate = StageStatus::NotReached;
  if (!std::filesystem::is_regular_file(onnx_path))
    halt(Status::BadInput, fmt::format("{}: no such file", onnx_path));
  if (!has_runtime()) halt(Status::Usage, why_no_runtime());
  try {
    const auto session = open_session_file(onnx_path, options_.ort_libraries);
    compare_with(*session);
  } catch (const RuntimeFailure& e) {
    halt(Status::BadInput, fmt::format("ONNX Runtime cannot load {}: {}", onnx_path, e.what()));
  }
  finish_verification();
}

void Pipeline::finish_verification() {
  if (report_.verify == StageStatus::Failed) throw Halt{Status::Mismatch};
  stage_ = nullptr;
}

void Pipeline::forget_translation() {
  model_.reset();
  report_.findings.clear();
  report_.error.clear();
  report_.nodes = 0;
  report_.operators.clear();
  report_.inputs.clear();
  report_.outputs.clear();
  report_.state.clear();
  report_.layers.clear();
  report_.picture = {};
  report_.translate = report_.check = StageStatus::NotReached;
  report_.warnings = module_->warnings();
  report_.warnings.insert(report_.warnings.end(), bound_.notes.begin(), bound_.notes.end());
}

}  // namespace pt2onnx
