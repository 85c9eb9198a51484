#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.h"
#include "driver/inspection.h"

namespace pt2onnx::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Inspection& inspection, const std::string& file) {
  Json inputs = Json::array();
  for (const InspectedInput& input : inspection.inputs) {
    Json shape = nullptr;
    if (input.shape) {
      shape = Json::array();
      for (const std::string& dim : *input.shape)
        shape.push_back(dim == "?" ? Json(nullptr) : Json(std::stoll(dim)));
    }
    Json entry{{"name", input.name},
               {"type", input.type},
               {"dtype", input.dtype.empty() ? Json(nullptr) : Json(input.dtype)},
               {"shape", std::move(shape)}};
    if (!input.default_value.empty()) entry["default"] = input.default_value;
    inputs.push_back(std::move(entry));
  }
  Json ops = Json::object();
  for (const auto& [name, count] : inspection.ops) ops[name] = count;
  return {{"version", 1},
          {"file", file},
          {"kind", "torchscript"},
          {"methods", inspection.methods},
          {"inputs", std::move(inputs)},
          {"returns", inspection.returns},
          {"ops", std::move(ops)},
          {"unknown_operators", inspection.unknown_operators},
          {"parameters", inspection.parameters},
          {"weight_bytes", inspection.weight_bytes},
          {"bytes", inspection.bytes}};
}

std::string megabytes(std::size_t bytes) {
  if (bytes < 100'000) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string text_of(const Inspection& inspection, const std::string& file, const std::string& method) {
  std::string out = fmt::format("{}: TorchScript, {}\n", file, megabytes(inspection.bytes));
  out +=
      fmt::format("  weights   {} elements, {}\n", inspection.parameters, megabytes(inspection.weight_bytes));
  out += fmt::format("  methods   {}\n", fmt::join(inspection.methods, ", "));
  out += fmt::format("  {}\n", method);
  for (const InspectedInput& input : inspection.inputs) {
    out += fmt::format("    {}: {}", input.name, input.type);
    if (!input.dtype.empty()) out += " " + input.dtype;
    if (input.shape) out += fmt::format("[{}]", fmt::join(*input.shape, ","));
    if (!input.default_value.empty()) out += " = " + input.default_value;
    out += "\n";
  }
  out += fmt::format("    -> {}\n", inspection.returns);
  std::vector<std::pair<std::string, std::size_t>> ops(inspection.ops.begin(), inspection.ops.end());
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  out += "  operators\n";
  for (const auto& [name, count] : ops) out += fmt::format("    {:>6}  {}\n", count, name);
  if (!inspection.unknown_operators.empty())
    out += fmt::format("  unknown to libtorch: {}\n", fmt::join(inspection.unknown_operators, ", "));
  return out;
}

struct InspectCommand {
  std::string model;
  Options options;
  OutputOptions output;

  Status run() {
    const InspectOutcome result = inspect(model, options);
    log_problems(result.outcome);
    if (result.outcome.status != Status::Ok) {
      if (output.json)
        print_json(
            {{"version", 1}, {"file", model}, {"kind", nullptr}, {"error", result.outcome.report.error}});
      return result.outcome.status;
    }
    if (output.json) {
      print_json(json_of(result.inspection, model));
    } else {
      fmt::print("{}", text_of(result.inspection, model, options.method));
    }
    return Status::Ok;
  }
};

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto self = std::make_shared<InspectCommand>();
  CLI::App* command =
      app.add_subcommand("inspect", "Methods, inputs, operators and size of a TorchScript file");
  command->footer("Example:\n  pt2onnx inspect resnet18.pt --format json");
  command->add_option("model", self->model, "TorchScript file")->required()->type_name("MODEL.pt");
  add_load_options(*command, self->options);
  add_output_options(*command, self->output);
  run_on_parse(*command, self, action);
}

}  // namespace pt2onnx::cli
