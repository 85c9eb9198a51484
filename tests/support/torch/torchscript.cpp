#include "support/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "frontend/stand_ins.h"
#include "frontend/values.h"

namespace pt2onnx::testing {
namespace {

at::Tensor to_aten(const Tensor& tensor) {
  return frontend::to_ivalue(program::Literal{tensor}, c10::TensorType::get()).toTensor().clone();
}

/// `ops.torchvision.nms`, as in a saved file.
struct Ops : torch::jit::SugaredValue {
  std::string kind() const override { return "ops"; }
  std::shared_ptr<SugaredValue> attr(const torch::jit::SourceRange&, torch::jit::GraphFunction&,
                                     const std::string& name_space) override {
    return std::make_shared<torch::jit::BuiltinModule>(name_space);
  }
};

struct SnippetResolver : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name,
                                                         torch::jit::GraphFunction& method,
                                                         const torch::jit::SourceRange& place) override {
    if (name == "ops") return std::make_shared<Ops>();
    return NativeResolver::resolveValue(name, method, place);
  }
};

std::string temporary_path() {
  static std::atomic<int> count = 0;
  const auto name = "pt2onnx_case_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".pt";
  return std::filesystem::temp_directory_path() / name;
}

torch::jit::Module build(const TorchScriptSnippet& snippet, const std::string& name) {
  torch::jit::Module module(name);
  for (const auto& [key, tensor] : snippet.parameters) {
    const auto value = to_aten(tensor);
    module.register_parameter(key, value.is_floating_point() ? value.set_requires_grad(true) : value, false);
  }
  for (const auto& [key, tensor] : snippet.buffers) module.register_parameter(key, to_aten(tensor), true);
  for (const auto& [key, literal] : snippet.attributes) {
    const at::IValue value = frontend::to_ivalue(literal);
    module.register_attribute(key, value.type(), value);
  }
  for (const auto& [key, existing] : snippet.ties)
    module.register_parameter(key, module.attr(existing).toTensor(), true);
  for (const auto& [key, part] : snippet.modules) module.register_module(key, build(part, name + "_" + key));
  frontend::register_stand_ins({});  // torchvision's operators
  module.define(snippet.source, std::make_shared<SnippetResolver>());
  module.train(snippet.training);
  return module;
}

}  // namespace

TemporaryModule::TemporaryModule(const TorchScriptSnippet& snippet) : path_(temporary_path()) {
  build(snippet, "Case").save(path_);
}

TemporaryModule::~TemporaryModule() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace pt2onnx::testing
