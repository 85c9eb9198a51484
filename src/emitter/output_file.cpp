#include "emitter/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "emitter/emitter.h"

namespace pt2onnx {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kLargestWrite = std::size_t{1} << 30;  // Linux stops a write() a little below 2 GiB

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path_, ignored);
  if (!real.empty()) target_ = real.string();

  if (path_.empty() || path_.back() == '/') fail(path_.empty() ? ENOENT : EISDIR);
  struct stat info{};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) fail(EISDIR);
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
  } else {
    open_beside(folder_of(target_));
    // Who may read the old file may read the new one, no one else.
    if (exists) ::fchmod(descriptor_, info.st_mode & 07777);
  }
  buffer_.reserve(kBufferBytes);
}

void OutputFile::open_beside(const std::string& folder) {
  // The name does not contain the target's, which may be as long as a name can be. open() rather than mkstemp(), for
  // the permissions that the user's umask gives to new files.
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = folder + ".pt2onnx-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  offset_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_ += bytes;
    return;
  }
  flush();
  if (bytes.size() >= kBufferBytes)
    write_out(bytes);  // a large weight goes from its own memory to the file
  else
    buffer_ = bytes;
}

std::uint64_t OutputFile::pad_to(std::uint64_t alignment) {
  write(std::string((alignment - offset_ % alignment) % alignment, '\0'));
  return offset_;
}

void OutputFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void OutputFile::write_out(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLargestWrite));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::finish() {
  if (descriptor_ < 0) return;
  flush();
  // Some file systems (NFS, quotas) report only here that the bytes did not arrive.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
}

void OutputFile::commit() {
  finish();
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw WriteError("cannot write `" + path_ + "`: " + std::generic_category().message(error));
}

}  // namespace pt2onnx
