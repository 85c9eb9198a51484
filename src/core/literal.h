// What the literals of a program have in common.
#pragma once

#include "pt2onnx/program.h"

namespace pt2onnx {

/// Equal as far as a model could tell; objects, devices, functions and values of foreign classes are not looked into.
bool same_value(const program::Literal& a, const program::Literal& b);

}  // namespace pt2onnx
