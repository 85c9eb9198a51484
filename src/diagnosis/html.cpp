#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "diagnosis/html_layers.h"
#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #d8dde6; }
code { font-family: ui-monospace, monospace; font-size: .9em; background: #f1f3f7; padding: 0 .2em; }
.verdict { padding: .6rem 1rem; border-radius: .4rem; font-weight: 600; }
.good { background: #e2f5e7; color: #14602c; } .bad { background: #fde7e7; color: #8f1616; }
ul { margin: 0; padding-left: 1.2rem; } .search { width: 100%; padding: .4rem .6rem; box-sizing: border-box; }
td code { overflow-wrap: anywhere; }
.layers details { margin-left: 1.2rem; } .layers summary { cursor: pointer; padding: .1rem 0; }
.layers .leaf > summary { list-style: none; padding-left: 1rem; } .layers p { margin: .1rem 0 .3rem 1rem; }
.layers .shape, .layers .class { color: #5c6675; } .layers :target > summary { outline: 2px solid #4a7dc9; }
.mark { border-radius: .3rem; padding: 0 .4em; font-size: .85em; }
.skipped { background: #eceef2; color: #4a5361; }
.picture { overflow: auto; max-height: 46rem; border: 1px solid #d8dde6; border-radius: .4rem; }
.picture svg { display: block; margin: 0 auto; }
.picture rect { stroke: #9aa5b5; fill: #e8eef8; } .picture path { fill: none; stroke: #8792a3; }
.picture .port rect { fill: #fff; stroke-dasharray: 3 2; } .picture .failed rect { fill: #fde7e7; stroke: #c23b3b; }
.picture .skipped rect { fill: #eceef2; } .picture .by-order { stroke-dasharray: 4 3; }
.picture text { font-size: 12px; } .picture .note { font-size: 10px; fill: #5c6675; }
@media (prefers-color-scheme: dark) {
  body { background: #14171d; color: #dfe4ec; } code { background: #232833; } th, td { border-color: #333a47; }
  .good { background: #173d24; color: #a6e3b8; } .bad { background: #4a1d1d; color: #f3b4b4; } text { fill: #dfe4ec; }
  .skipped { background: #2b313c; color: #aab4c3; } .layers .shape, .layers .class { color: #98a3b4; }
  .picture { border-color: #333a47; } .picture rect { fill: #22304a; stroke: #5d6c85; }
  .picture .port rect { fill: #14171d; } .picture .failed rect { fill: #4a1d1d; stroke: #d06262; }
  .picture .skipped rect { fill: #2b313c; } .picture .note { fill: #98a3b4; }
}
)";

// Shows the findings and layers that hold every word of the search; a layer with those it lies in and those in it.
constexpr std::string_view kScript = R"(
document.querySelectorAll('.search').forEach(search => {
  const place = search.parentElement.nextElementSibling;
  const items = [...place.querySelectorAll('.finding, details')];
  const opened = new Set(items.filter(item => item.open));
  const show = () => {
    const words = search.value.toLowerCase().split(' ').filter(word => word);
    const own = item => (item.dataset.text ?? item.textContent).toLowerCase();
    const found = new Set(items.filter(item => words.every(word => own(item).includes(word))));
    items.forEach(item => {
      const inside = [...item.querySelectorAll('details')].some(inner => found.has(inner));
      let within = false;
      for (let outer = item.parentElement; outer && outer !== place; outer = outer.parentElement)
        within ||= found.has(outer);
      item.hidden = !(found.has(item) || inside || within);
      if (item.tagName === 'DETAILS') item.open = words.length ? inside : opened.has(item);
    });
    place.dataset.shown = found.size;
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

std::string section(const Report& report, std::size_t number) {
  std::string out = fmt::format("<h1>{}</h1>\n<p class=\"verdict {}\">{}</p>\n", escaped(report.input),
                                is_good(report) ? "good" : "bad", verdict(report));
  if (!report.error.empty()) out += fmt::format("<p>{}</p>\n", escaped(report.error));
  out += fmt::format("<p>opset {}{}</p>\n", report.opset,
                     report.nodes > 0 ? ", " + counted(report.nodes, "node") : std::string());
  for (const std::string& warning : report.warnings)
    out += fmt::format("<p>warning: {}</p>\n", escaped(warning));
  return out + findings_table(report) + verification_table(report) + tensors_table(report) +
         histogram(report) + picture_section(report, number) + layers_section(report, number);
}

}  // namespace

std::string html_of(std::span<const Report> reports, std::string_view version) {
  std::string body;
  for (std::size_t i = 0; i < reports.size(); ++i) body += section(reports[i], i);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>pt2onnx report</title>\n"
      "<style>{}</style></head>\n<body>\n{}<footer><p>pt2onnx {}</p></footer>\n"
      "<script>{}</script>\n</body></html>\n",
      kStyle, body, version, kScript);
}

}  // namespace pt2onnx
