// Keeps a module's state apart from what a run does to it. Internal: includes torch.
#pragma once

#include <torch/csrc/jit/api/module.h>

namespace pt2onnx::frontend {

/// A module with the same classes and methods whose attributes are copies: aliases stay aliases, and tensors share their
/// bytes until one side writes.
torch::jit::Module copy_state(const torch::jit::Module& module);

/// A tensor over the same bytes, until one side writes.
at::Tensor copy_on_write(const at::Tensor& tensor);

}  // namespace pt2onnx::frontend
