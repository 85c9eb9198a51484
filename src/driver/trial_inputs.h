// Ranks, sizes and dtypes of inputs that no weight describes, found by running the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/bind_inputs.h"
#include "frontend/frontend.h"
#include "pt2onnx/convert.h"

namespace pt2onnx {

/// Runs the module on small tensors of growing rank in place of `missing` and gives what it accepts first. Only what
/// the module itself shows counts as known: an input for which a smaller rank, a vector or a number, would do as well
/// is not described by this, and the answer is nullopt. Ends after some seconds at the latest.
std::optional<Assumptions> try_inputs(TorchModule& module, const Options& options, const InputData& data,
                                      const std::vector<std::string>& missing);

}  // namespace pt2onnx
