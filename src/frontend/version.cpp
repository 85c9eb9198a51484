#include <ATen/Parallel.h>
#include <torch/version.h>

#include "frontend/frontend.h"

namespace pt2onnx {

std::string torch_version() { return TORCH_VERSION; }

void use_one_thread() { at::set_num_threads(1); }

}  // namespace pt2onnx
