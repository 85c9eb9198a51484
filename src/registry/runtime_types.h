// What ONNX Runtime's CPU provider implements, where it is less than the ONNX standard allows.
#pragma once

#include <string_view>

#include "pt2onnx/dtype.h"

namespace pt2onnx {

/// Whether ONNX Runtime has a CPU kernel of that operator for that element type of type variable `variable` ("T").
bool runtime_takes(std::string_view op, int since, std::string_view variable, DType dtype);

}  // namespace pt2onnx
