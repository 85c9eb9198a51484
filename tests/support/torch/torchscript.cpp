#include "support/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "frontend/values.h"

namespace pt2onnx::testing {
namespace {

at::Tensor to_aten(const Tensor& tensor) {
  return frontend::to_ivalue(program::Literal{tensor}, c10::TensorType::get()).toTensor().clone();
}

std::string temporary_path() {
  static std::atomic<int> count = 0;
  const auto name = "pt2onnx_case_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".pt";
  return std::filesystem::temp_directory_path() / name;
}

}  // namespace

TemporaryModule::TemporaryModule(const TorchScriptSnippet& snippet) : path_(temporary_path()) {
  torch::jit::Module module("Case");
  for (const auto& [name, tensor] : snippet.parameters) {
    const auto value = to_aten(tensor);
    module.register_parameter(name, value.is_floating_point() ? value.set_requires_grad(true) : value, false);
  }
  for (const auto& [name, tensor] : snippet.buffers) module.register_parameter(name, to_aten(tensor), true);
  module.define(snippet.source);
  module.eval();
  module.save(path_);
}

TemporaryModule::~TemporaryModule() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace pt2onnx::testing
