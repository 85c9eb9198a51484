#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "diagnosis/wrap.h"

namespace pt2onnx::cli {
namespace {

bool wants_colour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal && std::string_view(terminal) == "dumb";
  return isatty(descriptor) && !(no_color && *no_color) && !dumb;
}

/// Of stdout; 0 where it is no terminal, or too narrow to break lines well.
std::size_t terminal_width() {
  constexpr std::size_t kNarrow = 40;
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrow)
    return 0;
  return size.ws_col;
}

constexpr std::array kReportSuffixes{".txt", ".json", ".sarif", ".html"};

std::string rendered(std::span<const Report> reports, const std::string& suffix) {
  if (suffix == ".sarif") return sarif_of(reports, version());
  if (suffix == ".html") return html_of(reports, version());
  if (suffix == ".json") {
    if (reports.size() == 1) return json_of(reports.front()).dump(2) + "\n";
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Report& report : reports) list.push_back(json_of(report));
    return nlohmann::ordered_json{{"version", 1}, {"reports", std::move(list)}}.dump(2) + "\n";
  }
  std::string text;
  for (const Report& report : reports) text += text_of(report, {});
  return text;
}

}  // namespace

TextStyle stdout_style() { return {wants_colour(STDOUT_FILENO), false}; }

void print_text(std::string_view text) {
  const std::string out = wrapped(text, terminal_width());
  std::fwrite(out.data(), 1, out.size(), stdout);
}

void set_up_logging(const OutputOptions& output) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (!wants_colour(STDERR_FILENO)) sink->set_color_mode(spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>("pt2onnx", std::move(sink));
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(output.quiet     ? spdlog::level::err
                    : output.verbose ? spdlog::level::debug
                                     : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void print_json(const nlohmann::ordered_json& document) {
  // Torch's messages may hold any bytes; JSON may not.
  const std::string text =
      document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void log_problems(const Outcome& outcome, const std::string& subject) {
  const std::string start = subject.empty() ? subject : subject + ": ";
  for (const std::string& warning : outcome.report.warnings) spdlog::warn("{}{}", start, warning);
  if (outcome.report.error.empty()) return;
  std::string message = start + outcome.report.error;
  if (outcome.status == Status::Defect) {
    message += fmt::format(
        "\n  this is a defect in pt2onnx {}, not in your file; please report it with the command line, this "
        "message and, if "
        "you can, the file",
        version());
  }
  spdlog::error("{}", message);
}

void check_report_name(const OutputOptions& output) {
  if (output.report.empty()) return;
  const std::string suffix = std::filesystem::path(output.report).extension().string();
  for (const char* known : kReportSuffixes)
    if (suffix == known) return;
  throw CommandLineError(fmt::format("--report {}: the suffix says the format; {} are possible",
                                     output.report, fmt::join(kReportSuffixes, ", ")));
}

void write_report(std::span<const Report> reports, const OutputOptions& output) {
  if (output.report.empty()) return;
  std::ofstream file(output.report, std::ios::binary | std::ios::trunc);
  file << rendered(reports, std::filesystem::path(output.report).extension().string());
  file.close();
  if (!file) spdlog::warn("the report {} could not be written", output.report);
}

Status worst(Status a, Status b) {
  constexpr std::array kOrder{Status::Ok,       Status::Unsupported, Status::Mismatch, Status::CannotWrite,
                              Status::BadInput, Status::Usage,       Status::Defect};
  const auto rank = [&](Status s) { return std::find(kOrder.begin(), kOrder.end(), s); };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace pt2onnx::cli
