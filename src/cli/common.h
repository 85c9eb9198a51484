// What the commands share: how they are added to the parser, how results leave the program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/render.h"
#include "pt2onnx/convert.h"

namespace pt2onnx::cli {

/// What the command line is wrong about beyond CLI11's own checks: exit code 2.
struct CommandLineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs the command that was asked for; set by the parser's callback.
using Action = std::function<Status()>;

struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  std::string report;  // --report FILE
};

// ---- options (options.cpp) -----------------------------------------------------------------------------------------

/// Accepts these words; the help text already has them as the option's type.
CLI::Validator one_of(std::vector<std::string> words);
void add_output_options(CLI::App& command, OutputOptions& output);
void add_report_option(CLI::App& command, OutputOptions& output);
/// --op-schema, --load-library: where operators from outside PyTorch come from.
void add_operator_options(CLI::App& command, Options& options);
/// Those, --method, --training: what loading a file needs.
void add_load_options(CLI::App& command, Options& options);
/// --input, --input-data, --dynamic: what the arguments of the method are.
void add_input_options(CLI::App& command, Options& options);
/// --without, --map: what the dictionary holds.
void add_dictionary_options(CLI::App& command, Options& options);
/// Those, --unsupported, --custom-domain, --keep-functions, --no-fold, --no-optimize: how to translate.
void add_translation_options(CLI::App& command, Options& options);
/// --rtol, --atol, --ort-library.
void add_comparison_options(CLI::App& command, Options& options);
void add_opset_option(CLI::App& command, Options& options);

/// Level and destination of the logger.
void set_up_logging(const OutputOptions& output);

/// What the command does once the whole line is parsed: the logger is set up, then it runs.
template <typename Command>
void run_on_parse(CLI::App& app, const std::shared_ptr<Command>& command, Action& action) {
  app.callback([command, &action] {
    action = [command] {
      set_up_logging(command->output);
      return command->run();
    };
  });
}

// ---- commands, one file each ------------------------------------------------------------------------------------------

void add_export(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_onnx_ops(CLI::App& app, Action& action);

// ---- output (output.cpp) -------------------------------------------------------------------------------------------

/// Colours of stdout: only on a terminal, and not where NO_COLOR is set.
TextStyle stdout_style();
/// Text that was made for readers to stdout: on a terminal, lines are broken to its width.
void print_text(std::string_view text);
/// One JSON document to stdout.
void print_json(const nlohmann::ordered_json& document);
/// Warnings and the error of the report to the log, each after `subject` (a file name, where there are several files).
void log_problems(const Outcome& outcome, const std::string& subject = {});
/// Throws CommandLineError when --report has a suffix that stands for no format.
void check_report_name(const OutputOptions& output);
void write_report(std::span<const Report> reports, const OutputOptions& output);

/// The status of several files together: the worst, defects first.
Status worst(Status a, Status b);

}  // namespace pt2onnx::cli
