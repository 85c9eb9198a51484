// Which element types the kernels of ONNX Runtime's CPU provider are registered for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pt2onnx/dtype.h"

namespace pt2onnx {

struct RuntimeKernel {
  std::string_view op, variable;  // "Add", "T"
  int first, last;                // versions of the operator
  std::uint32_t types;            // bit i: DType(i)
};

/// By operator, variable and version.
std::span<const RuntimeKernel> runtime_kernels();

}  // namespace pt2onnx
