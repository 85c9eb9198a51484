// A program as a drawing in Graphviz's language.
#pragma once

#include <string>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx {

/// The first function is the one that was asked for; each is a cluster of its own.
std::string drawing_of(const std::vector<const program::Function*>& functions);

/// Runs Graphviz's `dot` on a drawing. Throws std::runtime_error when it is not there or fails.
std::string svg_of(const std::string& drawing);

}  // namespace pt2onnx
