// A file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pt2onnx {

/// Takes bytes, in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// Written beside the target and renamed to it by commit(); without commit() nothing is left. A target that is no
/// regular file (a pipe, /dev/null) is written in place. Failures are WriteErrors that name the target and the cause.
class OutputFile final : public Sink {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) override;
  /// Zeros up to the next multiple of `alignment`; the offset then reached.
  std::uint64_t pad_to(std::uint64_t alignment);
  /// All bytes are on their way to the disk; what can fail for lack of space has.
  void finish();
  /// finish(), and the file takes its name.
  void commit();

 private:
  void open_beside(const std::string& folder);
  void write_out(std::string_view bytes);
  void flush();
  [[noreturn]] void fail(int error) const;

  std::string path_;       // as the user knows it
  std::string target_;     // where links lead
  std::string temporary_;  // empty when written in place
  std::string buffer_;
  std::uint64_t offset_ = 0;
  int descriptor_ = -1;
};

}  // namespace pt2onnx
