#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/progress.h"

namespace pt2onnx::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  pt2onnx export resnet18.pt
  pt2onnx export resnet18.pt -o net.onnx --input 'x:float32[N,3,224,224]' --opset 17
  pt2onnx export silero_vad.jit --input 'x:float32[1,512]' --input sr:int=16000
  pt2onnx export net.pt --dynamic batch --report net.html

Exit codes: 0 done, 1 defect in pt2onnx, 2 usage, 3 unsupported operators, 4 wrong input file,
5 ONNX Runtime and libtorch differ, 6 the output cannot be written)";

struct ExportCommand {
  std::string model, output_path;
  Options options;
  OutputOptions output;

  Status run() {
    check_report_name(output);
    if (output_path.empty()) output_path = std::filesystem::path(model).replace_extension(".onnx").string();

    Outcome outcome;
    {
      Progress progress(output, model);
      options.progress = [&](std::string_view stage) { progress.begin(stage); };
      outcome = convert(model, output_path, options);
    }
    const Report& report = outcome.report;
    log_problems(outcome);
    write_report({&report, 1}, output);
    if (output.json) {
      print_json(json_of(report));
    } else if (outcome.status == Status::Ok || !report.findings.empty() || report.verification) {
      const bool only_good_news = outcome.status == Status::Ok;
      if (!(output.quiet && only_good_news)) print_text(text_of(report, stdout_style()));
    }
    return outcome.status;
  }
};

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto self = std::make_shared<ExportCommand>();
  CLI::App* command = app.add_subcommand("export", "Write a TorchScript file as an ONNX model");
  command->footer(kExamples);
  command->add_option("model", self->model, "TorchScript file (torch.jit.save)")
      ->required()
      ->type_name("MODEL.pt");
  command
      ->add_option("-o,--output", self->output_path,
                   "ONNX file to write; default: beside the input, suffix .onnx")
      ->type_name("OUT.onnx");
  add_input_options(*command, self->options);
  add_opset_option(*command, self->options);
  add_translation_options(*command, self->options);
  command
      ->add_option("--input-names", self->options.input_names, "Names of the graph's inputs, in order: a,b")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("NAMES")
      ->group("Translation");
  command
      ->add_option("--output-names", self->options.output_names,
                   "Names of the graph's outputs, in order: a,b")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("NAMES")
      ->group("Translation");
  command
      ->add_option_function<std::string>(
          "--external-data",
          [self](const std::string& when) {
            self->options.external_data = when == "always"  ? ExternalData::Always
                                          : when == "never" ? ExternalData::Never
                                                            : ExternalData::Auto;
          },
          "Weights in OUT.onnx.data: auto (above 1.9 GiB), always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("auto|always|never")
      ->group("Translation");
  add_load_options(*command, self->options);
  command
      ->add_flag_callback(
          "--verify", [self] { self->options.verify = true; },
          "Compare libtorch and ONNX Runtime on example inputs, and once more with other sizes in dynamic "
          "dims (the default)")
      ->group("Verification");
  command->add_flag_callback(
             "--no-verify", [self] { self->options.verify = false; }, "Do not compare")
      ->group("Verification");
  add_comparison_options(*command, self->options);
  add_report_option(*command, self->output);
  add_output_options(*command, self->output);
  run_on_parse(*command, self, action);
}

}  // namespace pt2onnx::cli
