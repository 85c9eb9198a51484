// Which dims of the inputs are dynamic (--dynamic, words in --input), before they become symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pt2onnx/dtype.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

struct LeafDim {
  std::int64_t size = 0;  // the example size
  std::string symbol;     // empty: static
  bool chosen = false;    // nothing told the example size
};

/// A tensor among the inputs while it is being bound.
struct Leaf {
  std::string path;  // "images.0"
  std::string name;  // of the graph input, "images_0"
  DType dtype = DType::Float32;
  std::vector<LeafDim> dims;
  bool is_number = false;  // an int or float argument, as a 0-d input
  std::optional<Tensor> data;
};

/// Applies `x:0=batch,2=height`, `batch` and `all`. Throws BindingError for what does not fit the inputs.
void apply_dynamic(const std::vector<std::string>& options, std::vector<Leaf>& leaves);

/// The same symbol has one size: the first that is told is given to the chosen ones. Throws BindingError where two
/// told sizes differ.
void agree_on_sizes(std::vector<Leaf>& leaves);

}  // namespace pt2onnx
