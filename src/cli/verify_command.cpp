#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/progress.h"

namespace pt2onnx::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  pt2onnx verify resnet18.pt resnet18.onnx
  pt2onnx verify net.pt net.onnx --input 'x:float32[N,3,64,64]' --rtol 1e-4

Exit code 5 where ONNX Runtime and libtorch differ)";

struct VerifyCommand {
  std::string model, onnx;
  Options options;
  OutputOptions output;

  Status run() {
    check_report_name(output);
    Outcome outcome;
    {
      Progress progress(output, model);
      options.progress = [&](std::string_view stage) { progress.begin(stage); };
      outcome = verify(model, onnx, options);
    }
    const Report& report = outcome.report;
    log_problems(outcome);
    write_report({&report, 1}, output);
    if (output.json) {
      print_json(json_of(report));
    } else if (report.verification || outcome.status == Status::Ok) {
      if (!(output.quiet && outcome.status == Status::Ok)) print_text(text_of(report, stdout_style()));
    }
    return outcome.status;
  }
};

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto self = std::make_shared<VerifyCommand>();
  CLI::App* command =
      app.add_subcommand("verify", "Compare an ONNX model with the TorchScript file it came from");
  command->footer(kExamples);
  command->add_option("model", self->model, "TorchScript file")->required()->type_name("MODEL.pt");
  command->add_option("onnx", self->onnx, "ONNX file")->required()->type_name("MODEL.onnx");
  add_input_options(*command, self->options);
  add_load_options(*command, self->options);
  add_comparison_options(*command, self->options);
  add_report_option(*command, self->output);
  add_output_options(*command, self->output);
  run_on_parse(*command, self, action);
}

}  // namespace pt2onnx::cli
