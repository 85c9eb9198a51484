// Evaluation of torch operators on known values. The front end answers with libtorch's own kernels.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx {

class Folder {
 public:
  virtual ~Folder() = default;

  struct Result {
    std::vector<program::Literal> values;  // one per return; empty when `error` is set
    std::string error;                     // what the kernel threw, first line
    bool ok() const { return error.empty(); }
  };

  /// Runs one operator. `arguments` are in the order of the schema; a short list is filled up with defaults. Results
  /// own their memory. In-place operators are refused: the interpreter calls their functional form.
  virtual Result evaluate(const program::Schema& schema, std::span<const program::Literal> arguments) = 0;

  /// Dtype and dims of the tensor results, without computing them (meta kernels), results with empty bytes; an error
  /// where the operator has no such kernel.
  virtual Result evaluate_types(const program::Schema& schema,
                                std::span<const program::Literal> arguments) = 0;

  /// libtorch computes the operator by calling others.
  virtual bool is_composite(const program::Schema& /*schema*/) { return false; }
  struct Decomposition {
    /// Its entry takes the arguments that are tensors or lists of tensors, in order, and gives the results of the
    /// operator, in a tuple or list if there are several; null when `error` is set.
    std::shared_ptr<const program::Program> steps;
    std::string error;
  };
  /// What a composite operator calls for such arguments. Sizes become constants of the steps. Tensors without bytes stand
  /// for any of their dtype and dims, and a kernel that looks at elements refuses; where all have bytes, one that does so
  /// by calling an operator is refused, but not one that reads memory.
  virtual Decomposition decompose(const program::Schema& /*schema*/,
                                  std::span<const program::Literal> /*arguments*/) {
    return {nullptr, "there is no libtorch here"};
  }

  /// The schema of an operator of libtorch; null when there is none. An empty overload that does not exist gives the
  /// first overload.
  virtual std::shared_ptr<const program::Schema> schema(std::string_view name, std::string_view overload) = 0;
  /// Whether that very overload exists.
  virtual bool exists(std::string_view name, std::string_view overload) = 0;
  /// All overloads of an operator.
  virtual std::vector<std::shared_ptr<const program::Schema>> overloads(std::string_view name) = 0;
  /// The names of all operators, without overloads, sorted.
  virtual std::vector<std::string> names() { return {}; }
};

}  // namespace pt2onnx
