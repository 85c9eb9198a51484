#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common.h"
#include "diagnosis/near_names.h"
#include "driver/lookup.h"

namespace pt2onnx::cli {
namespace {

std::string version_text() {
  const Versions all = versions();
  return fmt::format("pt2onnx {}\nlibtorch {}\nonnx {} (opset {})\nONNX Runtime {}", all.pt2onnx, all.libtorch, all.onnx,
                     newest_opset(), all.onnxruntime.empty() ? "not built in" : all.onnxruntime);
}

/// The options or commands that a misspelt word could have meant.
std::string suggestion(const CLI::App& app, const std::vector<std::string>& unexpected) {
  const auto commands = app.get_subcommands();
  std::vector<std::string> known;
  if (commands.empty()) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) known.push_back(command->get_name());
  } else {
    for (const CLI::Option* option : commands.front()->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& word : unexpected) {
    if (!commands.empty() && !word.starts_with("--")) continue;
    const auto near = near_names(word.substr(0, word.find('=')), known, 1);
    if (!near.empty()) return fmt::format("; `{}` is near", near.front());
  }
  return {};
}

int usage_error(const CLI::App& app, const std::string& message, bool json) {
  const auto commands = app.get_subcommands();
  const std::string command = commands.empty() ? "" : " " + commands.front()->get_name();
  fmt::print(stderr, "error: {}\n  see: pt2onnx{} --help\n", message, command);
  if (json) print_json({{"version", 1}, {"error", message}});
  return static_cast<int>(Status::Usage);
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--format=json" || (word == "--format" && i + 1 < argc && std::string_view(argv[i + 1]) == "json")) return true;
  }
  return false;
}

int run(int argc, char** argv) {
  CLI::App app{"Exports TorchScript files (.pt) to ONNX, and says exactly why where it cannot.", "pt2onnx"};
  app.set_version_flag("--version", version_text, "Versions of pt2onnx and of the libraries it uses");
  app.require_subcommand(1);
  app.footer("`pt2onnx COMMAND --help` has the options of a command and examples.");

  Action action;
  for (const auto add : {add_export, add_check, add_verify, add_inspect, add_show, add_explain, add_ops, add_schema, add_onnx_ops})
    add(app, action);

  const bool json = wants_json(argc, argv);
  try {
    app.parse(argc, argv);
    return static_cast<int>(action());
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::ExtrasError& e) {
    return usage_error(app, e.what() + suggestion(app, app.remaining(true)), json);
  } catch (const CLI::ParseError& e) {
    if (argc < 2) {
      fmt::print(stderr, "{}", app.help());
      return static_cast<int>(Status::Usage);
    }
    return usage_error(app, e.what(), json);
  } catch (const CommandLineError& e) {
    return usage_error(app, e.what(), json);
  }
}

}  // namespace
}  // namespace pt2onnx::cli

int main(int argc, char** argv) try {
  return pt2onnx::cli::run(argc, argv);
} catch (const std::exception& e) {
  fmt::print(stderr,
             "error: {}\n  this is a defect in pt2onnx {}; please report it with the command line and this message\n", e.what(),
             pt2onnx::version());
  return static_cast<int>(pt2onnx::Status::Defect);
}
