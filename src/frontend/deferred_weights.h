// Weights that are read when they are looked at: torch gets the archive through a reader that leaves them out, and then the
// file's own pages in their place. Internal to the front end: includes torch.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "frontend/file_kind.h"

namespace pt2onnx::frontend {

class DeferredWeights {
 public:
  /// Picks the weights of the archive that may wait: of a page or more, stored as they are, and none where loading runs
  /// code that could look at them.
  explicit DeferredWeights(const Archive& archive);

  bool waits(const ZipEntry& entry) const { return entries_.contains(&entry); }

  /// The archive for one import. Must not outlive this.
  std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader();
  /// Puts the file's pages in the place of what the last reader left out. False where that place is not known: the
  /// module is then to be loaded as a whole.
  bool attach(const torch::jit::Module& module);

 private:
  class Reader;

  std::shared_ptr<const MappedFile> file_;
  std::set<const ZipEntry*> entries_;
  std::map<std::uint64_t, const ZipEntry*> waiting_;  // the same by the offset of their bytes in the file
  std::map<const void*, std::uint64_t> left_out_;     // where torch wants them -> offset
  bool is_ambiguous_ = false;  // one place for two: torch gave the first one up meanwhile
};

}  // namespace pt2onnx::frontend
