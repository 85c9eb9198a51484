#include <cmath>
#include <nlohmann/json.hpp>

#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity and no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// A known size as a number, a dynamic one as its name.
Json dim(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? Json(std::stoll(text)) : Json(text);
}

Json tensors(const std::vector<TensorSummary>& summaries) {
  Json list = Json::array();
  for (const TensorSummary& summary : summaries) {
    Json shape = Json::array();
    for (const std::string& d : summary.shape) shape.push_back(dim(d));
    list.push_back({{"name", summary.name}, {"dtype", summary.dtype}, {"shape", std::move(shape)}});
  }
  return list;
}

Json verification(const Report& report) {
  if (!report.verification) return nullptr;
  const Verification& v = *report.verification;
  Json outputs = Json::array();
  for (const OutputDifference& output : v.outputs) {
    Json entry{{"name", output.name},
               {"max_abs", number(output.max_abs)},
               {"max_rel", number(output.max_rel)},
               {"passed", output.passed}};
    if (!output.note.empty()) entry["note"] = output.note;
    outputs.push_back(std::move(entry));
  }
  Json result{{"passed", v.passed}, {"outputs", std::move(outputs)}, {"runs", v.runs}};
  if (!v.first_divergence.empty()) result["first_divergence"] = v.first_divergence;
  return result;
}

}  // namespace

Json json_of(const Finding& finding) {
  Json locations = Json::array();
  for (const Location& location : finding.locations) {
    Json entry{{"file", location.file}, {"line", location.line}, {"module", location.module}};
    if (location.column > 0) entry["column"] = location.column;
    if (!location.text.empty()) entry["text"] = location.text;
    locations.push_back(std::move(entry));
  }
  return {{"op", finding.op},
          {"schema", finding.schema},
          {"case", finding.which ? Json(static_cast<int>(*finding.which)) : Json(nullptr)},
          {"count", finding.count},
          {"locations", std::move(locations)},
          {"reason", finding.reason},
          {"advice", finding.advice},
          {"first_opset", finding.first_opset ? Json(*finding.first_opset) : Json(nullptr)}};
}

Json json_of(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(json_of(finding));
  Json operators = Json::object();
  for (const auto& [name, count] : report.operators) operators[name] = count;
  Json result{{"version", 1},
              {"input", report.input},
              {"output", report.output.empty() ? Json(nullptr) : Json(report.output)},
              {"opset", report.opset},
              {"nodes", report.nodes},
              {"operators", std::move(operators)},
              {"inputs", tensors(report.inputs)},
              {"outputs", tensors(report.outputs)},
              {"stages",
               {{"load", to_string(report.load)},
                {"translate", to_string(report.translate)},
                {"check", to_string(report.check)},
                {"verify", to_string(report.verify)}}},
              {"findings", std::move(findings)},
              {"warnings", report.warnings},
              {"verify", verification(report)}};
  if (!report.state.empty()) {
    Json state = Json::array();
    for (const StateSummary& s : report.state)
      state.push_back({{"input", s.input}, {"output", s.output}, {"initial", s.initial}});
    result["state"] = std::move(state);
  }
  if (!report.verify_note.empty()) result["verify_note"] = report.verify_note;
  if (!report.error.empty()) result["error"] = report.error;
  return result;
}

}  // namespace pt2onnx
