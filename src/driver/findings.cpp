#include "driver/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pt2onnx {

std::pair<std::string, std::string> split_overload(const std::string& op) {
  const auto dot = op.find('.', op.rfind(':') == std::string::npos ? 0 : op.rfind(':'));
  if (dot == std::string::npos) return {op, {}};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

void complete_findings(std::vector<Finding>& findings, const AdviceContext& context, Folder& folder) {
  for (Finding& finding : findings) {
    const auto [name, overload] = split_overload(finding.op);
    if (finding.reason.empty()) {
      const auto schema = folder.schema(name, overload);
      Finding told = unmapped_finding(name, overload, schema.get(), context);
      told.op = finding.op;
      if (told.schema.empty()) told.schema = finding.schema;
      told.count = finding.count;
      told.locations = std::move(finding.locations);
      told.advice.insert(told.advice.end(), finding.advice.begin(), finding.advice.end());
      finding = std::move(told);
    } else if (finding.first_opset && finding.advice.empty()) {
      finding.advice.push_back(fmt::format("pass `--opset {}` (or a later one)", *finding.first_opset));
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.count > b.count; });
}

}  // namespace pt2onnx
