// Reads zip archives: the directory, and single entries. Neutral: no torch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx::frontend {

/// A whole file in memory that is read as it is looked at. Whoever writes there changes private copies of the pages.
class MappedFile {
 public:
  /// Throws std::system_error.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const unsigned char> bytes() const { return bytes_; }
  /// Gives back the memory of a part that need not be looked at again soon; reading it again is allowed.
  void forget(std::span<const unsigned char> part) const;

 private:
  std::span<const unsigned char> bytes_;
};

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0;
  std::uint64_t header = 0;  // offset of the local header
};

/// What is wrong with the archive, in words ("the directory at its end is missing").
struct ZipError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The directory of an archive in a file that outlives it.
class ZipDirectory {
 public:
  explicit ZipDirectory(const MappedFile& file);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;

  /// The content, unpacked and compared with its checksum.
  std::string read(const ZipEntry& entry) const;
  /// Throws a ZipError when the content does not match its checksum.
  void check(const ZipEntry& entry) const;
  /// The bytes as they are in the file, packed or not.
  std::span<const unsigned char> stored(const ZipEntry& entry) const;

 private:
  const MappedFile& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace pt2onnx::frontend
