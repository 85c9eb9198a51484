// Where a wrong model begins to be wrong.
#pragma once

#include <map>
#include <string>

#include "driver/bind_inputs.h"
#include "frontend/frontend.h"
#include "interpreter/interpreter.h"
#include "pt2onnx/registry.h"

namespace pt2onnx {

struct DivergenceContext {
  TorchModule& module;
  const BoundInputs& bound;
  const Registry& registry;
  const OpCatalog& catalog;
  InterpretOptions interpretation;  // as for the model that differed
  const Options& options;           // tolerances, libraries
};

/// The first operator whose result in ONNX Runtime differs from libtorch's, in words; empty when none can be told.
///
/// The program is interpreted twice more: with graph inputs, which gives the names of the values, and with the example
/// values as constants, which makes libtorch compute each step. Both runs pass the same nodes in the same order, so the
/// n-th result of a node in one is the n-th in the other.
std::string first_divergence(const DivergenceContext& context, const std::map<std::string, Tensor>& inputs);

}  // namespace pt2onnx
