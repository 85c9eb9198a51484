// From a type of program.h back to torch's.
#pragma once

#include <ATen/core/jit_type.h>

#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

/// The torch type of plain types (numbers, strings, tensors, containers of those); Any for a null reference and for
/// everything else.
c10::TypePtr torch_type(const program::TypeRef& type);

}  // namespace pt2onnx::frontend
