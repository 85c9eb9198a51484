#include <fmt/format.h>

#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

class Painter {
 public:
  explicit Painter(const TextStyle& style) : on_(style.colour) {}
  std::string error(std::string_view text) const { return paint("1;31", text); }
  std::string warning(std::string_view text) const { return paint("1;33", text); }
  std::string good(std::string_view text) const { return paint("32", text); }
  std::string help(std::string_view text) const { return paint("36", text); }
  std::string bold(std::string_view text) const { return paint("1", text); }
  std::string arrow(std::string_view text) const { return paint("34", text); }

 private:
  std::string paint(std::string_view code, std::string_view text) const {
    return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool on_;
};

std::string place(const Location& location) {
  std::string text = location.file.empty() ? "<unknown>" : location.file;
  if (location.line > 0) text += fmt::format(":{}", location.line);
  if (!location.module.empty()) text += fmt::format(", in {}", location.module);
  return text;
}

std::string shape_text(const std::vector<std::string>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

void append_tensors(std::string& out, std::string_view label, const std::vector<TensorSummary>& tensors) {
  for (const TensorSummary& tensor : tensors) {
    out += fmt::format("  {:<9}{} {}{}\n", label, tensor.name, tensor.dtype, shape_text(tensor.shape));
    label = "";
  }
}

std::string failure_label(const Report& report) {
  if (report.load == StageStatus::Failed) return "load";
  if (report.translate == StageStatus::Failed) return "translate";
  if (report.check == StageStatus::Failed) return "check";
  return {};
}

void append_verification(std::string& out, const Report& report, const Painter& paint) {
  if (report.verify == StageStatus::Skipped) {
    out += fmt::format("  verify   {}: {}\n", paint.warning("skipped"), report.verify_note);
    return;
  }
  if (!report.verification) return;
  const Verification& v = *report.verification;
  out += fmt::format("  verify   {}\n", v.passed ? paint.good("ok: ONNX Runtime agrees with libtorch")
                                                 : paint.error("FAILED: ONNX Runtime and libtorch differ"));
  for (const OutputDifference& output : v.outputs) {
    out += fmt::format("    {:<20} max abs {:.3g}, max rel {:.3g}{}\n", output.name, output.max_abs,
                       output.max_rel, output.passed ? "" : "  " + paint.error("differs"));
    if (!output.note.empty()) out += fmt::format("      {}\n", output.note);
  }
  for (const std::string& run : v.runs) out += fmt::format("    run with {}\n", run);
  if (!v.first_divergence.empty())
    out += fmt::format("    first node that differs: {}\n", v.first_divergence);
  if (!report.verify_note.empty()) out += fmt::format("    note: {}\n", report.verify_note);
}

}  // namespace

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string_view to_string(StageStatus status) {
  switch (status) {
    case StageStatus::NotReached: return "not reached";
    case StageStatus::Ok: return "ok";
    case StageStatus::Failed: return "failed";
    case StageStatus::Skipped: return "skipped";
  }
  return "";
}

std::string text_of(const Finding& finding, const TextStyle& style) {
  const Painter paint(style);
  const std::string kind =
      finding.which ? fmt::format("error[case-{}]", static_cast<int>(*finding.which)) : "error";
  std::string out = fmt::format("{}{}\n", paint.error(kind),
                                paint.bold(fmt::format(": `{}`: {}", finding.op, finding.reason)));
  for (const Location& location : finding.locations) {
    out += fmt::format("  {} {}\n", paint.arrow("-->"), place(location));
    if (!location.text.empty()) out += fmt::format("   {}  {}\n", paint.arrow("|"), location.text);
  }
  const auto shown = finding.locations.size();
  if (finding.count > 0 && static_cast<std::size_t>(finding.count) > shown)
    out += fmt::format("  note: used {} times\n", finding.count);
  if (!finding.schema.empty()) out += fmt::format("  note: schema: {}\n", finding.schema);
  if (finding.first_opset)
    out += fmt::format("  note: the first opset that works is {}\n", *finding.first_opset);
  for (const std::string& advice : finding.advice)
    out += fmt::format("  {} {}\n", paint.help("help:"), advice);
  return out;
}

std::string text_of(const Report& report, const TextStyle& style) {
  const Painter paint(style);
  std::string out;
  for (const Finding& finding : report.findings) out += text_of(finding, style) + "\n";
  if (style.warnings)
    for (const std::string& warning : report.warnings)
      out += fmt::format("{} {}\n", paint.warning("warning:"), warning);

  const std::string failed = failure_label(report);
  if (!failed.empty()) {
    if (!report.error.empty()) {
      out += fmt::format("{} {}\n", paint.error("error:"), report.error);
    } else {
      out += fmt::format("{}: {} cannot be exported at opset {}\n", report.input,
                         counted(report.findings.size(), "operator"), report.opset);
    }
    return out;
  }
  out += report.output.empty()
             ? fmt::format("{}\n", paint.bold(report.input))
             : fmt::format("{}\n", paint.bold(fmt::format("{} -> {}", report.input, report.output)));
  if (report.opset > 0)
    out += fmt::format("  opset    {}, {}\n", report.opset, counted(report.nodes, "node"));
  append_tensors(out, "inputs", report.inputs);
  append_tensors(out, "outputs", report.outputs);
  for (std::size_t i = 0; i < report.state.size(); ++i)
    out += fmt::format("  {:<9}{} of a call is {} of the next; the first begins with {}\n",
                       i == 0 ? "state" : "", report.state[i].output, report.state[i].input,
                       report.state[i].initial);
  if (report.check != StageStatus::NotReached)
    out += fmt::format("  check    {}\n", paint.good(to_string(report.check)));
  append_verification(out, report, paint);
  if (!report.error.empty()) out += fmt::format("{} {}\n", paint.error("error:"), report.error);
  return out;
}

}  // namespace pt2onnx
