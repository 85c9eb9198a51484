#include "support/zip_archive.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontend/zip_file.h"

namespace pt2onnx::testing {

namespace {

std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::string number(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

}  // namespace

std::string zip_bytes(const ZipContents& contents) {
  std::string file, directory;
  for (const auto& [name, content] : contents) {
    // From "version needed" to "length of the extra field", the same in both headers.
    const std::string common = number(20, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                               number(crc32(content), 4) + number(content.size(), 4) +
                               number(content.size(), 4) + number(name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(file.size(), 4) + name;
    file += "PK\x03\x04" + common + name + content;
  }
  const std::string count = number(contents.size(), 2);
  return file + directory + "PK\x05\x06" + number(0, 4) + count + count + number(directory.size(), 4) +
         number(file.size(), 4) + number(0, 2);
}

ZipContents read_zip(const std::string& path) {
  const frontend::MappedFile file(path);
  const frontend::ZipDirectory zip(file);
  ZipContents contents;
  for (const auto& entry : zip.entries()) contents.emplace_back(entry.name, zip.read(entry));
  return contents;
}

TemporaryFile::TemporaryFile(const std::string& name, const std::string& bytes) {
  static std::atomic<int> count = 0;
  const auto unique = "pt2onnx_" + std::to_string(getpid()) + "_" + std::to_string(count++) + "_" + name;
  path_ = std::filesystem::temp_directory_path() / unique;
  std::ofstream(path_, std::ios::binary) << bytes;
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace pt2onnx::testing
