#include <fmt/format.h>

#include "cli/common.h"
#include "driver/inspection.h"

namespace pt2onnx::cli {

void add_show(CLI::App& app, Action& action) {
  struct ShowCommand {
    std::string model;
    Options options;
    ShowFormat format = ShowFormat::Text;
  };
  auto self = std::make_shared<ShowCommand>();
  CLI::App* command = app.add_subcommand("show", "Print the graph of a TorchScript or ONNX file, or draw it");
  command->footer("Examples:\n  pt2onnx show net.pt\n  pt2onnx show net.onnx --format svg > net.svg");
  command->add_option("model", self->model, "TorchScript or ONNX file")
      ->required()
      ->type_name("MODEL.pt|MODEL.onnx");
  command
      ->add_option_function<std::string>(
          "--format",
          [self = self.get()](const std::string& word) {
            self->format = word == "dot"   ? ShowFormat::Dot
                           : word == "svg" ? ShowFormat::Svg
                                           : ShowFormat::Text;
          },
          "text; dot: a drawing in Graphviz's language; svg: drawn by Graphviz, which must be installed")
      ->check(one_of({"text", "dot", "svg"}))
      ->type_name("text|dot|svg")
      ->group("Output");
  add_load_options(*command, self->options);
  command->callback([self, &action] {
    action = [self] {
      set_up_logging({});
      const ShowOutcome result = show(self->model, self->options, self->format);
      log_problems(result.outcome);
      fmt::print("{}", result.text);
      return result.outcome.status;
    };
  });
}

}  // namespace pt2onnx::cli
