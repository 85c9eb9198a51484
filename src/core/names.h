// Names of operators, and tables of them.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "pt2onnx/graph.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

template <std::size_t N>
constexpr bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "Relu", "domain::op".
inline std::string qualified_name(const Node& node) {
  return node.domain.empty() ? node.op : node.domain + "::" + node.op;
}

/// "aten::relu", "aten::add.Tensor".
inline std::string qualified_name(const program::Schema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "." + schema.overload;
}

}  // namespace pt2onnx
