// From torch's graphs to a program. Internal: includes torch.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <utility>
#include <vector>

#include "frontend/file_kind.h"
#include "frontend/folder.h"
#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

/// A tensor constant of a graph, and a copy that keeps its bytes as they were in the file.
struct GraphConstant {
  at::Tensor tensor, original;
};

/// Lowers a method of the module and everything that it calls. Devices other than the CPU in the module's own graphs
/// become the CPU, so that the reference runs here. `method` exists.
program::Program lower(const torch::jit::Module& module, const std::string& method, const Archive& archive,
                       TorchFolder& folder, std::vector<GraphConstant>& constants);

/// Lowers a graph that calls no functions; it becomes the entry of the program, named `name`.
program::Program lower(const torch::jit::Graph& graph, const std::string& name, TorchFolder& folder);

}  // namespace pt2onnx::frontend
