#include <fmt/format.h>

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

using Json = nlohmann::ordered_json;

std::string rule_id(const Finding& finding) {
  return finding.which ? "case-" + std::to_string(static_cast<int>(*finding.which)) : "unsupported-form";
}

std::string rule_title(const std::string& id) {
  static const std::map<std::string, std::string> titles{
      {"case-1", "An ONNX operator exists, the mapping is missing"},
      {"case-2", "No ONNX operator expresses the operator"},
      {"case-3", "The operator comes from outside PyTorch"},
      {"case-4", "The target opset is too low"},
      {"unsupported-form", "A form of an operator that ONNX cannot express"},
      {"not-exportable", "The file cannot be exported"},
  };
  return titles.at(id);
}

/// A path as the URI that SARIF wants: what no URI may hold is percent-encoded.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/:@!$&'()*+,;=";
  std::string uri;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != std::string_view::npos)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json physical(const std::string& file, int line, int column) {
  Json where{{"artifactLocation", {{"uri", uri_of(file)}}}};
  if (line > 0) {
    where["region"] = {{"startLine", line}};
    if (column > 0) where["region"]["startColumn"] = column;
  }
  return where;
}

Json location_of(const Location& location) {
  Json entry{{"physicalLocation", physical(location.file, location.line, location.column)}};
  if (!location.module.empty())
    entry["logicalLocations"] = Json::array({{{"fullyQualifiedName", location.module}, {"kind", "module"}}});
  return entry;
}

Json result_of(const std::string& id, const std::string& text, Json locations) {
  return {
      {"ruleId", id}, {"level", "error"}, {"message", {{"text", text}}}, {"locations", std::move(locations)}};
}

}  // namespace

std::string sarif_of(std::span<const Report> reports, std::string_view version) {
  std::map<std::string, Json> rules;
  Json results = Json::array();
  const auto add = [&](const std::string& id, const std::string& text, Json locations) {
    rules.try_emplace(id, Json{{"id", id}, {"shortDescription", {{"text", rule_title(id)}}}});
    results.push_back(result_of(id, text, std::move(locations)));
  };

  for (const Report& report : reports) {
    for (const Finding& finding : report.findings) {
      std::string text = finding.op + ": " + finding.reason;
      for (const std::string& advice : finding.advice) text += "\n" + advice;
      if (finding.locations.empty())
        add(rule_id(finding), text, Json::array({{{"physicalLocation", physical(report.input, 0, 0)}}}));
      for (const Location& location : finding.locations)
        add(rule_id(finding), text, Json::array({location_of(location)}));
    }
    if (!report.error.empty())
      add("not-exportable", report.error,
          Json::array({{{"physicalLocation", physical(report.input, 0, 0)}}}));
  }

  Json rule_list = Json::array();
  for (auto& [id, rule] : rules) rule_list.push_back(std::move(rule));
  const Json document{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs",
       Json::array(
           {{{"tool", {{"driver", {{"name", "pt2onnx"}, {"version", version}, {"rules", rule_list}}}}},
             {"results", std::move(results)}}})}};
  return document.dump(2) + "\n";
}

}  // namespace pt2onnx
