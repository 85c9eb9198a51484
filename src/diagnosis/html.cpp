#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d8dde6; }
code { font-family: ui-monospace, monospace; font-size: .9em; background: #f1f3f7; padding: 0 .2em; }
.verdict { padding: .6rem 1rem; border-radius: .4rem; font-weight: 600; }
.good { background: #e2f5e7; color: #14602c; } .bad { background: #fde7e7; color: #8f1616; }
ul { margin: 0; padding-left: 1.2rem; } .search { width: 100%; padding: .4rem .6rem; box-sizing: border-box; }
td code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { background: #14171d; color: #dfe4ec; } code { background: #232833; } th, td { border-color: #333a47; }
  .good { background: #173d24; color: #a6e3b8; } .bad { background: #4a1d1d; color: #f3b4b4; } text { fill: #dfe4ec; }
}
)";

// Shows the findings that hold every word of the search.
constexpr std::string_view kScript = R"(
document.querySelectorAll('.search').forEach(search => {
  const table = search.parentElement.nextElementSibling;
  const show = () => {
    const words = search.value.toLowerCase().split(' ');
    let shown = 0;
    table.querySelectorAll('.finding').forEach(row => {
      row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
      shown += !row.hidden;
    });
    table.dataset.shown = shown;
  };
  search.addEventListener('input', show);
  show();
});
)";

bool is_good(const Report& report) {
  const auto fine = [](StageStatus s) { return s != StageStatus::Failed; };
  return report.error.empty() && fine(report.load) && fine(report.translate) && fine(report.check) &&
         fine(report.verify);
}

std::string verdict(const Report& report) {
  if (report.verify == StageStatus::Failed) return "exported, but ONNX Runtime and libtorch differ";
  if (!is_good(report)) return "not exportable";
  if (report.verify == StageStatus::Ok) return "exported and verified";
  return "exportable";
}

std::string marked_up(std::string_view text) {  // `code` in advice
  std::string out;
  bool code = false;
  for (const char c : escaped(text)) {
    if (c == '`') {
      out += code ? "</code>" : "<code>";
      code = !code;
    } else {
      out += c;
    }
  }
  return code ? out + "</code>" : out;
}

std::string findings_table(const Report& report) {
  if (report.findings.empty()) return {};
  std::string out =
      "<h2>Findings</h2>\n<p><input class=\"search\" type=\"search\" placeholder=\"search the findings\" "
      "aria-label=\"search the findings\"></p>\n<table "
      "class=\"findings\"><tr><th>operator</th><th>case</th><th>count</th><th>where</th><th>reason "
      "and advice</th></tr>\n";
  for (const Finding& finding : report.findings) {
    std::string where, advice;
    for (const Location& location : finding.locations)
      where += fmt::format("<div><code>{}:{}</code> {}</div>", escaped(location.file), location.line,
                           escaped(location.module));
    for (const std::string& line : finding.advice) advice += fmt::format("<li>{}</li>", marked_up(line));
    out += fmt::format(
        "<tr "
        "class=\"finding\"><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}<ul>{}</ul></td></"
        "tr>\n",
        escaped(finding.op), finding.which ? std::to_string(static_cast<int>(*finding.which)) : "&ndash;",
        finding.count, where, marked_up(finding.reason), advice);
  }
  return out + "</table>\n";
}

std::string tensors_table(const Report& report) {
  if (report.inputs.empty() && report.outputs.empty()) return {};
  std::string out =
      "<h2>Inputs and outputs</h2>\n<table><tr><th></th><th>name</th><th>dtype</th><th>shape</th></tr>\n";
  const auto rows = [&](std::string_view kind, const std::vector<TensorSummary>& tensors) {
    for (const TensorSummary& tensor : tensors)
      out += fmt::format("<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>[{}]</td></tr>\n", kind,
                         escaped(tensor.name), tensor.dtype,
                         escaped(fmt::format("{}", fmt::join(tensor.shape, ", "))));
  };
  rows("input", report.inputs);
  rows("output", report.outputs);
  return out + "</table>\n";
}

std::string verification_table(const Report& report) {
  if (!report.verification)
    return report.verify_note.empty()
               ? std::string()
               : fmt::format("<p>Verification skipped: {}</p>\n", escaped(report.verify_note));
  std::string out =
      "<h2>Verification</h2>\n<table><tr><th>output</th><th>max abs</th><th>max rel</th><th></th></tr>\n";
  for (const OutputDifference& output : report.verification->outputs)
    out += fmt::format("<tr><td><code>{}</code></td><td>{:.3g}</td><td>{:.3g}</td><td>{} {}</td></tr>\n",
                       escaped(output.name), output.max_abs, output.max_rel,
                       output.passed ? "equal" : "differs", escaped(output.note));
  return out + "</table>\n";
}

std::string histogram(const Report& report) {
  if (report.operators.empty()) return {};
  std::vector<std::pair<std::string, std::size_t>> bars(report.operators.begin(), report.operators.end());
  std::stable_sort(bars.begin(), bars.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const double most = static_cast<double>(bars.front().second);
  constexpr int kRow = 22, kLabel = 220, kWidth = 480;
  std::string out = fmt::format(
      "<h2>Operators</h2>\n<svg role=\"img\" aria-label=\"how often each ONNX operator is used\" "
      "width=\"{}\" "
      "height=\"{}\" font-size=\"13\">\n",
      kLabel + kWidth + 60, kRow * static_cast<int>(bars.size()) + 4);
  int y = 0;
  for (const auto& [name, count] : bars) {
    const double width = std::max(1.0, kWidth * static_cast<double>(count) / most);
    out += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" "
        "height=\"{}\" "
        "fill=\"#4a7dc9\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        kLabel - 8, y + 15, escaped(name), kLabel, y + 3, width, kRow - 6, kLabel + width + 6, y + 15, count);
    y += kRow;
  }
  return out + "</svg>\n";
}

std::string section(const Report& report) {
  std::string out = fmt::format("<h1>{}</h1>\n<p class=\"verdict {}\">{}</p>\n", escaped(report.input),
                                is_good(report) ? "good" : "bad", verdict(report));
  if (!report.error.empty()) out += fmt::format("<p>{}</p>\n", escaped(report.error));
  out += fmt::format("<p>opset {}, {}</p>\n", report.opset, counted(report.nodes, "node"));
  for (const std::string& warning : report.warnings)
    out += fmt::format("<p>warning: {}</p>\n", escaped(warning));
  return out + findings_table(report) + verification_table(report) + tensors_table(report) +
         histogram(report);
}

}  // namespace

std::string html_of(std::span<const Report> reports, std::string_view version) {
  std::string body;
  for (const Report& report : reports) body += section(report);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>pt2onnx report</title>\n"
      "<style>{}</style></head>\n<body>\n{}<footer><p>pt2onnx {}</p></footer>\n"
      "<script>{}</script>\n</body></html>\n",
      kStyle, body, version, kScript);
}

}  // namespace pt2onnx
