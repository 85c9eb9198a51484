#include <torch/version.h>

#include "frontend/frontend.h"

namespace pt2onnx {

std::string torch_version() { return TORCH_VERSION; }

}  // namespace pt2onnx
