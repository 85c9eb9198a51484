// Equal nodes are emitted once: the text that makes two nodes equal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/graph.h"

namespace pt2onnx {

/// Nullopt for a node that must not be shared: random numbers, subgraphs, large attributes.
std::optional<std::string> sharing_key(std::string_view domain, std::string_view op, std::size_t outputs,
                                       const std::vector<Value>& inputs, const Attributes& attributes);

}  // namespace pt2onnx
