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
#include "driver/user_entries.h"

namespace pt2onnx::cli {
namespace {

std::string version_text() {
  const Versions all = versions();
  return fmt::format("pt2onnx {}\nlibtorch {}\nonnx {} (opset {})\nONNX Runtime {}", all.pt2onnx,
                     all.libtorch, all.onnx, newest_opset(),
                     all.onnxruntime.empty() ? "not built in" : all.onnxruntime);
}

std::string near_text(std::string_view word, const std::vector<std::string>& known) {
  const auto near = near_names(word, known, 1);
  return near.empty() ? std::string() : fmt::format("; `{}` is near", near.front());
}

/// Words that no option or argument took.
std::string unexpected_text(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  std::vector<std::string> options;
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (const std::string& word : words) {
    if (!word.starts_with("-")) continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("there is no option `{}`{}", name, near_text(name, options));
  }
  return fmt::format("too many arguments: {}", fmt::join(words, " "));
}

/// The first word is no command.
std::string no_command_text(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return fmt::format("there is no {} `{}`{}", word.starts_with("-") ? "option" : "command", word,
                     near_text(word, names));
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
    if (word == "--format=json" ||
        (word == "--format" && i + 1 < argc && std::string_view(argv[i + 1]) == "json"))
      return true;
  }
  return false;
}

int run(int argc, char** argv) {
  CLI::App app{"Exports TorchScript files (.pt) to ONNX, and says exactly why where it cannot.", "pt2onnx"};
  app.set_version_flag("--version", version_text, "Versions of pt2onnx and of the libraries it uses");
  app.require_subcommand(1);
  app.footer("`pt2onnx COMMAND --help` has the options of a command and examples.");

  Action action;
  for (const auto add : {add_export, add_check, add_verify, add_inspect, add_show, add_explain, add_ops,
                         add_schema, add_onnx_ops})
    add(app, action);

  const bool json = wants_json(argc, argv);
  try {
    app.parse(argc, argv);
    return static_cast<int>(action());
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e);
  } catch (const CLI::ExtrasError& e) {
    return usage_error(app, unexpected_text(app), json);
  } catch (const CLI::ParseError& e) {
    if (argc < 2) {
      fmt::print(stderr, "{}", app.help());
      return static_cast<int>(Status::Usage);
    }
    return usage_error(app, app.get_subcommands().empty() ? no_command_text(app, argv[1]) : e.what(), json);
  } catch (const CommandLineError& e) {
    return usage_error(app, e.what(), json);
  } catch (const EntryError& e) {
    return usage_error(app, e.what(), json);
  }
}

}  // namespace
}  // namespace pt2onnx::cli

int main(int argc, char** argv) try {
  return pt2onnx::cli::run(argc, argv);
} catch (const std::exception& e) {
  fmt::print(stderr,
             "error: {}\n  this is a defect in pt2onnx {}; please report it with the command line and this "
             "message\n",
             e.what(), pt2onnx::version());
  return static_cast<int>(pt2onnx::Status::Defect);
}
