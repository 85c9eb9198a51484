#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/common.h"
#include "cli/progress.h"

namespace pt2onnx::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExamples = R"(Examples:
  pt2onnx check models/*.pt
  pt2onnx check net.pt --opset 13-20
  pt2onnx check net.pt --opset all --format json

A file counts as exportable when it exports at one of the opsets asked for at least.
Exit codes: 0 all are exportable, 3 unsupported operators, 4 a wrong input file)";

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "20", "9-28" or "all".
std::vector<int> parse_opsets(const std::string& text) {
  int first = kMinOpset, last = newest_opset();
  if (text != "all") {
    const auto dash = text.find('-');
    const auto low = number(std::string_view(text).substr(0, dash));
    const auto high = dash == std::string::npos ? low : number(std::string_view(text).substr(dash + 1));
    if (!low || !high || *low > *high)
      throw CommandLineError(fmt::format("--opset {}: expected `20`, `9-28` or `all`", text));
    if (*low < first || *high > last)
      throw CommandLineError(
          fmt::format("--opset {}: out of range; {} to {} are possible", text, first, last));
    first = *low;
    last = *high;
  }
  std::vector<int> opsets;
  for (int opset = first; opset <= last; ++opset) opsets.push_back(opset);
  return opsets;
}

/// What is said of one file: the outcome that counts, and the others.
struct FileResult {
  CheckOutcome all;
  std::size_t decisive = 0;  // the first opset that works, else the last one tried

  explicit FileResult(CheckOutcome outcome) : all(std::move(outcome)) {
    decisive = all.outcomes.size() - 1;
    for (std::size_t i = 0; i < all.outcomes.size(); ++i) {
      if (all.outcomes[i].status != Status::Ok) continue;
      decisive = i;
      break;
    }
  }
  const Outcome& outcome() const { return all.outcomes[decisive]; }
  bool exportable() const { return outcome().status == Status::Ok; }

  Json json(const std::string& file) const {
    const Report& report = outcome().report;
    Json findings = json_of(report)["findings"];
    Json result{{"file", file},
                {"exportable", exportable()},
                {"opset", report.opset},
                {"lowest_opset", all.lowest_opset ? Json(*all.lowest_opset) : Json(nullptr)},
                {"findings", std::move(findings)},
                {"warnings", report.warnings},
                {"status", static_cast<int>(outcome().status)}};
    if (!report.error.empty()) result["error"] = report.error;
    Json opsets = Json::array();
    for (const Outcome& one : all.outcomes)
      opsets.push_back({{"opset", one.report.opset}, {"exportable", one.status == Status::Ok}});
    result["opsets"] = std::move(opsets);
    return result;
  }

  std::string text(const std::string& file, const TextStyle& style) const {
    std::string out;
    for (const Finding& finding : outcome().report.findings) out += text_of(finding, style) + "\n";
    const std::string lowest =
        all.lowest_opset ? fmt::format("lowest opset {}", *all.lowest_opset) : "at no opset";
    if (exportable())
      return out + fmt::format("{}: exportable at opset {} ({})\n", file, outcome().report.opset, lowest);
    if (outcome().status == Status::BadInput) return out + fmt::format("{}: cannot be read\n", file);
    if (outcome().status == Status::Usage) return out + fmt::format("{}: its inputs are not known\n", file);
    return out + fmt::format("{}: not exportable at opset {} ({})\n", file, outcome().report.opset, lowest);
  }
};

/// Files by opsets: `+` where a file exports, `.` where it does not.
std::string matrix_text(const std::vector<std::string>& files, const std::vector<FileResult>& results,
                        const std::vector<int>& opsets) {
  std::size_t width = 0;
  for (const std::string& file : files) width = std::max(width, file.size());
  std::string out = fmt::format("\n{:<{}}", "opset", width);
  for (const int opset : opsets) out += fmt::format(" {:>2}", opset);
  for (std::size_t i = 0; i < files.size(); ++i) {
    out += fmt::format("\n{:<{}}", files[i], width);
    for (const Outcome& outcome : results[i].all.outcomes)
      if (results[i].all.outcomes.size() == opsets.size())
        out += fmt::format(" {:>2}", outcome.status == Status::Ok ? "+" : ".");
  }
  return out + "\n";
}

struct CheckCommand {
  std::vector<std::string> models;
  std::string opset = std::to_string(kDefaultOpset);
  Options options;
  OutputOptions output;

  Status run() {
    check_report_name(output);
    const std::vector<int> opsets = parse_opsets(opset);
    Status status = Status::Ok;
    Json files = Json::array();
    std::vector<Report> reports;
    std::vector<FileResult> results;
    for (const std::string& model : models) {
      {
        Progress progress(output, model);
        options.progress = [&](std::string_view stage) { progress.begin(stage); };
        results.emplace_back(check(model, options, opsets));
      }
      const FileResult* result = &results.back();
      status = worst(status, result->outcome().status);
      log_problems(result->outcome(), models.size() > 1 ? model : std::string());
      reports.push_back(result->outcome().report);
      if (output.json) {
        files.push_back(result->json(model));
      } else if (!(output.quiet && result->exportable())) {
        print_text(result->text(model, stdout_style()));
      }
    }
    write_report(reports, output);
    if (!output.json && !output.quiet && opsets.size() > 1)
      fmt::print("{}", matrix_text(models, results, opsets));
    if (output.json) print_json({{"version", 1}, {"files", std::move(files)}});
    return status;
  }
};

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto self = std::make_shared<CheckCommand>();
  CLI::App* command = app.add_subcommand(
      "check", "Say whether files can be exported, and from which opset on; writes nothing");
  command->footer(kExamples);
  command->add_option("models", self->models, "TorchScript files")->required()->type_name("MODEL.pt...");
  command->add_option("--opset", self->opset, "ONNX opset, a range such as 9-28, or all")
      ->capture_default_str()
      ->type_name("N|N-M|all")
      ->group("Translation");
  add_input_options(*command, self->options);
  add_translation_options(*command, self->options);
  add_load_options(*command, self->options);
  add_report_option(*command, self->output);
  add_output_options(*command, self->output);
  run_on_parse(*command, self, action);
}

}  // namespace pt2onnx::cli
