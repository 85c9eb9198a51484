// What changed between two versions of an ONNX operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/op_catalog.h"

namespace pt2onnx {

/// One phrase each: "new attribute `axis`", "input `split` may be left out", "`T` takes bfloat16".
std::vector<std::string> changes_between(const OpSignature& before, const OpSignature& after);

/// "float16, float32, int64"
std::string text_of(const std::vector<DType>& dtypes);

std::string_view to_string(OpAttribute::Kind kind);  // "int", "floats", "graph"

}  // namespace pt2onnx
