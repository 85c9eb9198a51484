// Rank, channels and dtype of an input that nothing describes, from the weights that consume it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pt2onnx/dtype.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

struct InferredInput {
  DType dtype = DType::Float32;
  std::vector<std::vector<std::int64_t>> shapes;  // guesses, most likely first
  std::string evidence;                           // "its consumer, `aten::conv2d` with ..."
};

/// By place in the argument: "" for a tensor itself, ".0" for the first element of a list or tuple. `parameter` counts
/// all parameters of the entry method, self included.
std::map<std::string, InferredInput> infer_input(const program::Program& program, std::size_t parameter);

}  // namespace pt2onnx
