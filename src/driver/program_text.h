// A program as text, close to TorchScript's own graph notation.
#pragma once

#include <string>

#include "pt2onnx/program.h"

namespace pt2onnx {

std::string text_of(const program::Function& function);
/// Short: tensors by dtype and dims, long containers cut.
std::string text_of(const program::Literal& literal);

}  // namespace pt2onnx
