// Zip archives made and changed at test time.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pt2onnx::testing {

using ZipContents = std::vector<std::pair<std::string, std::string>>;  // name, content; in order

/// The bytes of an archive with these entries, stored without compression.
std::string zip_bytes(const ZipContents& contents);

/// The entries of an archive file.
ZipContents read_zip(const std::string& path);

/// A file with these bytes, which goes with this object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const std::string& path);

}  // namespace pt2onnx::testing
