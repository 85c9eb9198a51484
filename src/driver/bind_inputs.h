// What each argument of the method stands for: a graph input with dtype and shape, or a value that is baked in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver/infer_inputs.h"
#include "interpreter/interpreter.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/program.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

using Sizes = std::vector<std::int64_t>;
/// Numbers for dynamic dims, by symbol.
using SymbolSizes = std::map<std::string, std::int64_t>;

/// A tensor among the inputs; its place in the arguments is found by name.
struct InputTensor {
  std::string path;  // "images.0", as --input writes it
  InputBinding::TensorInput input;
  std::optional<Tensor> data;  // example value, from --input-data
};

struct BoundInputs {
  std::vector<InputBinding> arguments;  // of the method, self left out
  std::vector<InputTensor> tensors;     // in the order of the graph's inputs
  SymbolSizes example_sizes;            // of every dynamic dim
  std::set<std::string> pinned;         // symbols of which the model takes the example size for granted
  std::vector<std::string> chosen;      // symbols whose example size nothing told: any other will do
  std::vector<std::string> notes;       // what was decided for the user
};

/// The options do not say enough, or say something impossible; what() has the `--input` lines to write.
struct BindingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Some arguments are described by nothing; `tensors` has the paths of those that are tensors.
struct MissingInputs : BindingError {
  MissingInputs(const std::string& what, std::vector<std::string> tensor_paths)
      : BindingError(what), tensors(std::move(tensor_paths)) {}
  std::vector<std::string> tensors;
};

/// What to take for inputs that nothing else describes, by path.
using Assumptions = std::map<std::string, InferredInput>;

using InputData = std::vector<std::pair<std::string, program::Literal>>;

/// Sizes and dtypes come from the specs, the example data, the shapes that tracing stored in the file, and the weights
/// that consume the input, in this order; at last from `assumptions`. `attempt` picks among guesses where only weights tell: first 0, then the
/// next while the module refuses its inputs; BoundInputs of the last attempt repeat.
BoundInputs bind_inputs(const program::Program& program, const Options& options, const InputData& data,
                        std::size_t attempt = 0, const Assumptions& assumptions = {});

/// The items of a list or tuple; null for anything else, and for null.
const std::vector<program::Literal>* items_of(const program::Literal* literal);
/// The i-th of them, where there is one.
const program::Literal* item_of(const std::vector<program::Literal>* items, std::size_t index);

/// The values of the method's arguments, with a tensor for each graph input, by name.
std::vector<program::Literal> argument_values(const BoundInputs& bound,
                                              const std::map<std::string, Tensor>& tensors);

}  // namespace pt2onnx
