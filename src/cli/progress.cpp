#include "cli/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace pt2onnx::cli {
namespace {

constexpr auto kLong = std::chrono::milliseconds(500);

std::string_view words(std::string_view stage) {
  if (stage == "load") return "loading";
  if (stage == "inputs") return "looking at the inputs of";
  if (stage == "translate") return "translating";
  if (stage == "check") return "checking";
  if (stage == "write") return "writing";
  if (stage == "verify") return "comparing libtorch and ONNX Runtime on";
  return stage;
}

}  // namespace

Progress::Progress(const OutputOptions& output, std::string subject)
    : live_(!output.no_progress && !output.quiet && isatty(STDERR_FILENO)),
      logged_(output.verbose),
      subject_(std::move(subject)) {
  if (live_) watcher_ = std::thread([this] { watch(); });
}

Progress::~Progress() { end(); }

void Progress::begin(std::string_view stage) {
  const std::lock_guard lock(mutex_);
  close_stage();
  stage_ = stage;
  since_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void Progress::end() {
  {
    const std::lock_guard lock(mutex_);
    close_stage();
    over_ = true;
    changed_.notify_all();
  }
  if (watcher_.joinable()) watcher_.join();
}

void Progress::close_stage() {
  if (stage_.empty()) return;
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since_;
  if (logged_) spdlog::debug("{}: {:.2f} s", stage_, took.count());
  stage_.clear();
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (stage_.empty() || shown_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < since_ + kLong) {
      changed_.wait_until(lock, since_ + kLong);
    } else {
      fmt::print(stderr, "{} {} ...", words(stage_), subject_);
      std::fflush(stderr);
      shown_ = true;
    }
  }
}

}  // namespace pt2onnx::cli
