// Dropout that drops.
#pragma once

#include "pt2onnx/call.h"

namespace pt2onnx {

/// Each element is kept with probability 1 - p and then divided by it, or becomes 0. 0 <= p <= 1.
Value dropped(Call& c, Value x, double p);

}  // namespace pt2onnx
