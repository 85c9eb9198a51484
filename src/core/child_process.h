// Work whose crash must not be ours.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pt2onnx {

/// Runs `work` in a forked child, without its output streams, and gives what it returns; nullopt when the child died or
/// took longer than `seconds`. The child has a copy of everything and leaves no trace here.
std::optional<std::string> in_child_process(const std::function<std::string()>& work, unsigned seconds = 1);

}  // namespace pt2onnx
