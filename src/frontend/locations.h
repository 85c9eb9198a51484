// From a place in the archive's code to the user's own file and line. Internal: includes torch.
#pragma once

#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <utility>

#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

class LocationTable {
 public:
  /// Null when the range says nothing.
  program::LocationRef of(const torch::jit::SourceRange& range);

 private:
  // Nodes of one place share a location. The source is kept, for its address is part of the key.
  using Key = std::pair<std::shared_ptr<torch::jit::Source>, std::size_t>;
  std::map<Key, program::LocationRef> known_;
};

}  // namespace pt2onnx::frontend
