// A mapping of an operator as it would stand in a file of --map (docs/mappings.md), to be pasted.
#pragma once

#include <string>
#include <string_view>

#include "diagnosis/advice.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

/// The function for one operator of ONNX; without `word` its body is left to the user. `schema` may be null.
std::string mapping_text(std::string_view name, const program::Schema* schema, const OnnxWord* word,
                         const AdviceContext& context);

}  // namespace pt2onnx
