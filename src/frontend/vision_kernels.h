// torchvision's operators, with plain CPU kernels of our own: files that use them load, and the reference runs, on a
// machine without torchvision. Internal: includes torch.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>

#include <string>
#include <vector>

namespace pt2onnx::frontend {

struct VisionOperator {
  std::string schema;  // "torchvision::nms(Tensor dets, ...) -> Tensor"
  c10::KernelFunction kernel;
};

std::vector<VisionOperator> vision_operators();

}  // namespace pt2onnx::frontend
