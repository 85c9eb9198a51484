// What a schema says of how its operator is translated.
#pragma once

#include <string>
#include <string_view>

#include "pt2onnx/program.h"

namespace pt2onnx {

/// Whether it writes into one of its arguments: `add_`, `out=`.
bool writes_arguments(const program::Schema& schema);

/// The name that the dictionary has it under: `add_` is `add`.
std::string functional_name(const program::Schema& schema);

/// Whether it computes with tensors at all: an operator on Python values is none of the dictionary's business.
bool takes_tensors(const program::Schema& schema);
/// Whether tensors are among its results.
bool gives_tensors(const program::Schema& schema);

/// Memory that nobody has written: libtorch would give whatever lies there, and a file must not hold that.
bool leaves_unset(std::string_view name);

}  // namespace pt2onnx
