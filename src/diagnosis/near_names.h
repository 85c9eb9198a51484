// Names that are near to a name that was not found.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx {

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours, one each. Letters of
/// different case count as equal.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidates that a misspelling of `name` could mean, nearest first; empty when none is near. A namespace
/// ("aten::") or the dashes of an option do not make a short name longer.
std::vector<std::string> near_names(std::string_view name, std::span<const std::string> candidates,
                                    std::size_t limit = 3);

}  // namespace pt2onnx
