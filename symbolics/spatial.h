// What convolutions, pools and resizes share: tensors of layout [N, C, spatial...], with N perhaps left out.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx.h"

namespace pt2onnx {

/// A tensor with its batch dim, and whether that dim had to be added.
struct Batched {
  Value value;
  bool added = false;

  /// The result in the form of the input: without the batch dim if it was added.
  Value restore(Call& c, Value result) const { return added ? onnx::squeeze(c, result, {0}) : result; }
};

/// torch takes [C, spatial...] beside [N, C, spatial...]; ONNX takes the latter only.
inline Batched with_batch(Call& c, Value x, std::size_t spatial) {
  const auto rank = c.rank(x);
  if (rank == spatial + 2) return {x, false};
  if (rank == spatial + 1) return {onnx::unsqueeze(c, x, {0}), true};
  c.reject("the input has " + std::to_string(rank) + " dims; " + std::to_string(spatial + 2) + " or " +
           std::to_string(spatial + 1) + " are expected");
}

/// ONNX's `pads`: all begins, then all ends.
inline std::vector<std::int64_t> joined(std::vector<std::int64_t> begins,
                                        const std::vector<std::int64_t>& ends) {
  begins.insert(begins.end(), ends.begin(), ends.end());
  return begins;
}

}  // namespace pt2onnx
