// Bytes as a file that no disk knows, for libraries that only read files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pt2onnx {

/// Lives as long as the object. Throws std::system_error where the system has no memory left for it.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace pt2onnx
