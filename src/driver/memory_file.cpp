#include "driver/memory_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace pt2onnx {

MemoryFile::MemoryFile(std::span<const std::byte> bytes) : descriptor_(memfd_create("pt2onnx", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "a file in memory");
  path_ = fmt::format("/proc/self/fd/{}", descriptor_);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = errno;
      close(descriptor_);
      throw std::system_error(reason, std::generic_category(), "a file in memory");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

MemoryFile::~MemoryFile() { close(descriptor_); }

}  // namespace pt2onnx
