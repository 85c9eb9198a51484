// A line on stderr for a phase that takes long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/common.h"

namespace pt2onnx::cli {

/// On a terminal a phase is named once it has lasted half a second; with -v each phase is logged with its time.
class Progress {
 public:
  Progress(const OutputOptions& output, std::string subject);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// For Options::progress.
  void begin(std::string_view stage);
  /// The last stage is over; erases the line.
  void end();

 private:
  void watch();
  void close_stage();

  const bool live_;
  const bool logged_;
  const std::string subject_;
  std::string stage_;
  std::chrono::steady_clock::time_point since_;
  bool shown_ = false;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread watcher_;
};

}  // namespace pt2onnx::cli
