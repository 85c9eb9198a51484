#include "registry/runtime_types.h"

#include <algorithm>

#include "registry/runtime_kernels.h"

namespace pt2onnx {

bool runtime_takes(std::string_view op, int since, std::string_view variable, DType dtype) {
  // Where float16 has no kernel, ONNX Runtime casts by itself, and fuses across the casts.
  if (dtype == DType::Float16) return true;

  // A parameter of one type, or of any mixture of them as in Loop.
  if (variable.empty()) return true;

  // These say that they take double, and refuse it when they run.
  if (dtype == DType::Float64 && (op == "LSTM" || op == "GRU" || op == "RNN")) return false;

  const auto kernels = runtime_kernels();
  const auto of_op = std::ranges::equal_range(kernels, op, {}, &RuntimeKernel::op);
  for (const RuntimeKernel& kernel : of_op)
    if (kernel.variable == variable && kernel.first <= since && since <= kernel.last)
      return (kernel.types >> static_cast<unsigned>(dtype) & 1u) != 0;
  // Without a kernel the operator is expanded into its function body. The operators in there mostly have no kernel for
  // bfloat16, and some (HardSigmoid in HardSwish) none for double.
  return dtype != DType::BFloat16 && dtype != DType::Float64;
}

}  // namespace pt2onnx
