// The archive's debug records: for each place in its code, the place in the user's source that it was made of. They are
// read here and not by torch, whose own reader trusts them. Internal: includes torch only in its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx::frontend {

/// The source that a range of archived code was made of.
struct OriginalRange {
  std::string file;
  int first_line = 0;              // of `text` in the file
  std::string text;                // the definition around it (scripted), or the Python stack (traced)
  std::size_t begin = 0, end = 0;  // in `text`
};

/// The records of one code file.
class DebugRecords {
 public:
  /// From the content of `code/....py.debug_pkl`. Damaged records count as none.
  explicit DebugRecords(std::string_view pickle);

  /// The record that covers an offset of the code, by its number.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t find(std::size_t offset) const;
  OriginalRange range(std::size_t record) const;

 private:
  struct Record {
    std::size_t offset = 0;
    std::vector<std::size_t> lines;  // of strings_
    std::size_t file = 0;            // of strings_
    int first_line = 0;
    std::size_t begin = 0, end = 0;
  };
  void read(std::string_view pickle);

  std::vector<std::string> strings_;
  std::vector<Record> records_;  // by offset
};

}  // namespace pt2onnx::frontend
