#include "driver/inspection.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "driver/op_counts.h"
#include "driver/program_drawing.h"
#include "driver/program_text.h"
#include "emitter/emitter.h"
#include "frontend/frontend.h"
#include "pt2onnx/registry.h"

namespace pt2onnx {
namespace {

LoadOptions load_options(const Options& options) {
  LoadOptions load;
  load.method = options.method;
  load.op_schemas = options.op_schemas;
  load.libraries = options.libraries;
  load.defer_weights = true;
  return load;
}

/// Loads and hands the module on; failures become the outcome.
template <typename Use>
Outcome with_module(const std::string& path, const Options& options, const Use& use) {
  Outcome outcome;
  outcome.report.input = path;
  outcome.report.load = StageStatus::Failed;
  const auto fail = [&](Status status, const char* why) {
    outcome.status = status;
    outcome.report.error = why;
  };
  try {
    const auto module = load_torchscript(path, load_options(options));
    outcome.report.load = StageStatus::Ok;
    outcome.report.warnings = module->warnings();
    use(*module);
  } catch (const LoadError& e) {
    fail(Status::BadInput, e.what());
  } catch (const UsageError& e) {
    fail(Status::Usage, e.what());
  } catch (const std::exception& e) {
    fail(Status::Defect, e.what());
  }
  return outcome;
}

InspectedInput inspected(const program::Parameter& parameter) {
  InspectedInput input;
  input.name = parameter.name;
  if (parameter.type) {
    input.type = parameter.type->text;
    if (parameter.type->dtype) input.dtype = to_string(*parameter.type->dtype);
    if (parameter.type->dims) {
      input.shape.emplace();
      for (const auto& dim : *parameter.type->dims) input.shape->push_back(dim ? std::to_string(*dim) : "?");
    }
  }
  if (parameter.default_value) input.default_value = text_of(*parameter.default_value);
  return input;
}

/// Weights and buffers of the module and what is in it; what is shared counts once.
class Weights {
 public:
  void add(const program::Literal& literal) {
    if (const auto* tensor = std::get_if<Tensor>(&literal.data)) {
      if (!tensor->bytes.empty() && !seen_.insert(tensor->bytes.data()).second) return;
      elements += static_cast<std::size_t>(tensor->numel());
      bytes += tensor->bytes.size();
    } else if (const auto* object = std::get_if<program::ObjectRef>(&literal.data)) {
      if (!*object || !seen_.insert(object->get()).second) return;
      for (const auto& [name, value] : (*object)->attributes) add(value);
    } else if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data)) {
      for (const auto& item : (*list)->items) add(item);
    } else if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&literal.data)) {
      for (const auto& item : (*tuple)->items) add(item);
    } else if (const auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&literal.data)) {
      for (const auto& [key, item] : (*dict)->items) add(item);
    }
  }

  std::size_t elements = 0, bytes = 0;

 private:
  std::set<const void*> seen_;
};

bool looks_like_onnx(const std::string& path) { return std::filesystem::path(path).extension() == ".onnx"; }

}  // namespace

InspectOutcome inspect(const std::string& path, const Options& options) {
  InspectOutcome result;
  result.outcome = with_module(path, options, [&](TorchModule& module) {
    Inspection& inspection = result.inspection;
    const program::Program& program = module.program();
    inspection.methods = module.methods();
    inspection.unknown_operators = module.unknown_operators();
    inspection.bytes = module.file_bytes();
    const auto& parameters = program.entry->parameters;
    for (std::size_t i = 1; i < parameters.size(); ++i) inspection.inputs.push_back(inspected(parameters[i]));
    for (const auto& type : program.entry->returns)
      inspection.returns += (inspection.returns.empty() ? "" : ", ") + (type ? type->text : std::string("?"));
    inspection.ops = count_operators(program);
    Weights weights;
    weights.add(program::Literal{program.root});
    inspection.parameters = weights.elements;
    inspection.weight_bytes = weights.bytes;
  });
  return result;
}

ShowOutcome show(const std::string& path, const Options& options, ShowFormat format) {
  ShowOutcome result;
  if (looks_like_onnx(path)) {
    result.outcome.report.input = path;
    try {
      result.text = format == ShowFormat::Text ? print_onnx_file(path) : draw_onnx_file(path);
    } catch (const std::exception& e) {
      result.outcome.status = Status::BadInput;
      result.outcome.report.error = e.what();
    }
  } else {
    result.outcome = with_module(path, options, [&](TorchModule& module) {
      const auto functions = reached_functions(module.program());
      if (format != ShowFormat::Text) {
        result.text = drawing_of({functions.begin(), functions.end()});
        return;
      }
      for (const program::Function* function : functions) result.text += text_of(*function) + "\n";
    });
  }
  if (format == ShowFormat::Svg && result.outcome.status == Status::Ok) {
    try {
      result.text = svg_of(result.text);
    } catch (const std::exception& e) {
      result.text.clear();
      result.outcome.status = Status::Usage;
      result.outcome.report.error = e.what();
    }
  }
  return result;
}

}  // namespace pt2onnx
