#include "frontend/locations.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx::frontend {

using program::SourceLocation;
using torch::jit::SourceRange;

namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpace) - first + 1));
}

struct Frame {
  std::string_view file;
  int line = 0;
};

/// "model.py(41): forward"; nothing else has this form.
std::optional<Frame> parse_frame(std::string_view text) {
  const auto close = text.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const auto open = text.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  Frame frame{text.substr(0, open)};
  const auto number = text.substr(open + 1, close - open - 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), frame.line);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return frame;
}

/// The tracer records the whole Python stack of each operator, innermost frame first, as text.
std::vector<Frame> parse_stack(std::string_view text) {
  std::vector<Frame> frames;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    if (!line.empty()) {
      const auto frame = parse_frame(line);
      if (!frame) return {};
      frames.push_back(*frame);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return frames;
}

bool is_torch_file(std::string_view file) { return file.find("/torch/") != std::string_view::npos; }

/// The innermost frame that the user wrote. Frames outside torch.jit.trace are the caller of the tracer, not the model;
/// a model made of torch's own modules only has no frame of the user's, and the innermost one has to do.
const Frame& users_frame(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) {
    if (frame.file.ends_with("/torch/jit/_trace.py")) break;
    if (!is_torch_file(frame.file)) return frame;
  }
  return frames.front();
}

std::string line_of(const SourceRange& range) {
  return trimmed(range.source()->get_line(range.source()->lineno_for_offset(range.start())).str());
}

/// The place that a range names, if it names one.
std::shared_ptr<SourceLocation> place_of(const SourceRange& range) {
  auto location = std::make_shared<SourceLocation>();
  const std::string text = range.text().str();
  if (const auto frames = parse_stack(text); !frames.empty()) {
    const Frame& frame = users_frame(frames);
    location->file = frame.file;
    location->line = frame.line;
    return location;
  }
  const auto place = range.file_line_col();
  if (!place || std::get<0>(*place).empty()) return nullptr;
  location->file = std::get<0>(*place);
  location->line = static_cast<int>(std::get<1>(*place));
  location->column = static_cast<int>(std::get<2>(*place));
  location->text = line_of(range);
  return location;
}

}  // namespace

program::LocationRef LocationTable::of(const SourceRange& range) {
  if (!range.source()) return nullptr;
  const auto generated = range.findSourceRangeThatGenerated();
  const SourceRange& key = generated && generated->source() ? *generated : range;
  const auto [known, is_new] = known_.try_emplace({key.source(), key.start()});
  if (!is_new) return known->second;
  std::shared_ptr<SourceLocation> location =
      generated && generated->source() ? place_of(*generated) : nullptr;
  if (!location) location = place_of(range);
  // The tracer keeps no source lines; the archive's own code is the next best.
  if (location && location->text.empty()) location->text = line_of(range);
  return known->second = std::move(location);
}

}  // namespace pt2onnx::frontend
