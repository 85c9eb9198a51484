#include <fmt/format.h>

#include "cli/common.h"
#include "driver/inspection.h"

namespace pt2onnx::cli {

void add_show(CLI::App& app, Action& action) {
  struct ShowCommand {
    std::string model;
    Options options;
  };
  auto self = std::make_shared<ShowCommand>();
  CLI::App* command = app.add_subcommand("show", "Print the graph of a TorchScript or ONNX file as text");
  command->footer("Examples:\n  pt2onnx show net.pt\n  pt2onnx show net.onnx");
  command->add_option("model", self->model, "TorchScript or ONNX file")
      ->required()
      ->type_name("MODEL.pt|MODEL.onnx");
  add_load_options(*command, self->options);
  command->callback([self, &action] {
    action = [self] {
      set_up_logging({});
      const ShowOutcome result = show(self->model, self->options);
      log_problems(result.outcome);
      fmt::print("{}", result.text);
      return result.outcome.status;
    };
  });
}

}  // namespace pt2onnx::cli
