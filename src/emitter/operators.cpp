// Listings of the linked onnx library's operators, for looking things up.
#include <algorithm>
#include <map>
#include <utility>

#include "emitter/catalog.h"
#include "emitter/emitter.h"
#include "onnx/defs/schema.h"

namespace pt2onnx {

std::vector<OnnxOperator> onnx_operators() {
  std::map<std::pair<std::string, std::string>, OnnxOperator> operators;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    OnnxOperator& op = operators[{schema.domain(), schema.Name()}];
    op.domain = schema.domain();
    op.name = schema.Name();
    op.versions.push_back(schema.SinceVersion());
    if (*std::max_element(op.versions.begin(), op.versions.end()) != schema.SinceVersion()) continue;
    op.deprecated = schema.Deprecated();
    op.doc = schema.doc() != nullptr ? schema.doc() : "";
  }
  std::vector<OnnxOperator> result;
  for (auto& [key, op] : operators) {
    std::sort(op.versions.begin(), op.versions.end());
    result.push_back(std::move(op));
  }
  return result;
}

const std::vector<std::string>& OnnxCatalog::names() const {
  static const auto kNames = [] {
    std::vector<std::string> names;
    for (const OnnxOperator& op : onnx_operators())
      if (op.domain.empty() && !op.deprecated) names.push_back(op.name);
    return names;
  }();
  return kNames;
}

}  // namespace pt2onnx
