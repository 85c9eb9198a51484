// From a place in the archive's code to the user's own file and line. Internal: includes torch.
#pragma once

#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "frontend/debug_records.h"
#include "frontend/file_kind.h"
#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

/// Uses the archive while it lives.
class LocationTable {
 public:
  explicit LocationTable(const Archive& archive) : archive_(archive) {}

  /// Null when the range says nothing.
  program::LocationRef of(const torch::jit::SourceRange& range);

 private:
  const DebugRecords& records_of(const std::string& code_file);

  const Archive& archive_;
  std::map<std::string, std::unique_ptr<const DebugRecords>> records_;
  // Nodes made of one place of the user's share a location.
  std::map<std::pair<const DebugRecords*, std::size_t>, program::LocationRef> known_;
};

}  // namespace pt2onnx::frontend
