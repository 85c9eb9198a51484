// The module run by libtorch on example inputs: what an exported model is compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/bind_inputs.h"
#include "frontend/frontend.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

/// Example inputs that the module accepts, and what it makes of them.
struct ReferenceRun {
  SymbolSizes sizes;
  std::map<std::string, Tensor> inputs;  // by name of the graph input
  std::vector<Tensor> outputs;           // flattened as the interpreter does
};

/// A number as a 0-d tensor of int64, float64 or bool; nullopt for anything else.
std::optional<Tensor> number_tensor(const program::Literal& value);

/// Tensors depth first, containers in order; numbers become 0-d tensors; None and strings are left out.
std::vector<Tensor> flatten_outputs(const program::Literal& result);

/// Tries integer inputs of several ranges until the module accepts the values. Nullopt when it refuses all; `refusal`
/// then has torch's words on the first.
std::optional<ReferenceRun> run_reference(TorchModule& module, const BoundInputs& bound,
                                          const SymbolSizes& sizes, std::string& refusal);

/// Other sizes for the dynamic dims, most telling first: all larger or doubled; all but axis 1, where channels are; axis
/// 0; the axes from 2 on; axis 1; at last one by one. Dims of equal size stay equal, since a model may add them up.
std::vector<SymbolSizes> other_sizes(const BoundInputs& bound, const SymbolSizes& sizes);

}  // namespace pt2onnx
