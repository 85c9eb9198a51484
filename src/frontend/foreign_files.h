// Recognises files that are no zip archive. Neutral: no torch.
#pragma once

#include <span>
#include <string>

namespace pt2onnx::frontend {

/// What the bytes are and what to do with them: "an ONNX model already: ...". Never empty.
std::string describe_foreign_file(std::span<const unsigned char> bytes);

}  // namespace pt2onnx::frontend
