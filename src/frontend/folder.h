// The Folder over a table of operators. Internal: includes torch.
#pragma once

#include <ATen/core/stack.h>

#include <memory>

#include "frontend/operators.h"
#include "registry/folder.h"

namespace pt2onnx::frontend {

class TorchFolder final : public Folder {
 public:
  TorchFolder() : operators_(types_) {}

  Result evaluate(const program::Schema& schema, std::span<const program::Literal> arguments) override;
  Result evaluate_types(const program::Schema& schema, std::span<const program::Literal> arguments) override;
  std::shared_ptr<const program::Schema> schema(std::string_view name, std::string_view overload) override;
  bool exists(std::string_view name, std::string_view overload) override;
  std::vector<std::shared_ptr<const program::Schema>> overloads(std::string_view name) override;
  std::vector<std::string> names() override { return operators_.names(); }
  bool is_composite(const program::Schema& schema) override;
  Decomposition decompose(const program::Schema& schema,
                          std::span<const program::Literal> arguments) override;

  /// The arguments as torch values, with the schema's defaults at the end. Throws where an argument is missing or of a
  /// wrong type.
  torch::jit::Stack stack_of(const program::Schema& schema, std::span<const program::Literal> arguments,
                             TensorMode mode);

  TypeTable& types() { return types_; }
  OperatorTable& operators() { return operators_; }

 private:
  Result call(const program::Schema& schema, std::span<const program::Literal> arguments, TensorMode mode);

  TypeTable types_;
  OperatorTable operators_;
};

}  // namespace pt2onnx::frontend
