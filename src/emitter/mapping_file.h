// Mapping files: functions in ONNX's text syntax, read by the onnx library's own parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/mapping.h"

namespace pt2onnx {

/// All functions of a text; `file` is how errors call it. Throws MappingError for everything that is no such text. What
/// the functions mean is for check_mapping.
std::vector<Mapping> parse_mappings(std::string_view text, const std::string& file);

}  // namespace pt2onnx
