// NumPy's array format. Neutral: no torch.
#pragma once

#include <stdexcept>
#include <string>

#include "pt2onnx/tensor.h"

namespace pt2onnx::frontend {

struct NpyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The array of a `.npy` file, in row-major order and the machine's byte order. Throws NpyError.
Tensor read_npy(std::string content);

}  // namespace pt2onnx::frontend
