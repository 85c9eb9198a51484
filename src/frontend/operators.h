// The operators that libtorch knows, with their schemas in the terms of program.h. Internal: includes torch.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/values.h"
#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

struct TorchOperator {
  std::shared_ptr<torch::jit::Operator> op;
  const c10::FunctionSchema* schema = nullptr;
  std::shared_ptr<const program::Schema> described;
  torch::jit::Operation run = nullptr;  // empty: it needs its node to run
  bool writes = false;                  // into one of its arguments
};

/// Looks operators up and converts each schema once.
class OperatorTable {
 public:
  explicit OperatorTable(TypeTable& types) : types_(types) {}

  /// Null when there is no such overload.
  TorchOperator* find(std::string_view name, std::string_view overload);
  std::vector<TorchOperator*> overloads(std::string_view name);
  /// Of all operators that are registered, sorted, each once.
  static std::vector<std::string> names();
  /// The overload that a node uses.
  TorchOperator& of(const torch::jit::Operator& op);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Overloads = std::vector<std::unique_ptr<TorchOperator>>;
  const Overloads& named(std::string_view name);

  TypeTable& types_;
  std::unordered_map<std::string, Overloads, Hash, std::equal_to<>> operators_;
};

}  // namespace pt2onnx::frontend
