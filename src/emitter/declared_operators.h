// Operators of other domains that a plugin declared, with their inference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/plugin.h"

namespace pt2onnx {

bool is_declared_operator(std::string_view domain, std::string_view name);

/// The types of the outputs of a node of a declared operator. Throws std::invalid_argument with the operator's words.
std::vector<ValueType> declared_types(const std::string& domain, const std::string& name, std::size_t outputs,
                                      const std::vector<std::optional<ValueType>>& inputs,
                                      const AttributeLookup& attribute);

}  // namespace pt2onnx
