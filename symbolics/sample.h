// Reading a tensor between its cells.
#pragma once

#include <vector>

#include "symbolics/onnx.h"

namespace pt2onnx {

enum class Between { Linear, Nearest };

/// x [N, C, spatial...] at fractional places, of which there is one [N, P] per spatial dim, counted in cells and of the
/// dtype of x; cells outside are 0. Gives [N, C, P].
Value sampled(Call& c, Value x, const std::vector<Value>& places, Between method);

}  // namespace pt2onnx
