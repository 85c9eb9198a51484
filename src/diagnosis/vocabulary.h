// The words of torch's operator names in ONNX's language. ONNX names the same things by other words (clamp is Clip, mm is
// MatMul): this is a thesaurus of words, not of operators; whether a candidate fits is for the signatures to say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx {

/// The readings of a torch name as lists of small words, the literal one first:
/// "aten::clamp_max" -> {clamp}, {clip}. Words that say how and not what (copy, unsafe, the number of dims, names of
/// arguments) are left out.
std::vector<std::vector<std::string>> readings(std::string_view torch_name, const program::Schema& schema);

/// "RMSNormalization" -> rms, normalization
std::vector<std::string> words_of_camel_case(std::string_view onnx_name);

}  // namespace pt2onnx
