// The example inputs that torch.jit.trace stored in a file. Internal: includes torch only in its source.
#pragma once

#include <string>

#include "frontend/values.h"
#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

/// Gives the parameters of the entry method the dtypes, dims and structure of the inputs it was traced with. Does nothing
/// when the file has none for that method, or when they do not fit its signature.
void apply_traced_inputs(const std::string& path, const std::string& method, program::Function& entry,
                         TypeTable& types);

}  // namespace pt2onnx::frontend
