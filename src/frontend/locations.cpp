#include "frontend/locations.h"

#include <algorithm>
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

/// The line of a text that an offset is in.
std::string_view line_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset).rfind('\n');
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// The user's place, or null when the record names none (glue code of torch's own).
std::shared_ptr<SourceLocation> original_place(const OriginalRange& range) {
  auto location = std::make_shared<SourceLocation>();
  if (const auto frames = parse_stack(range.text); !frames.empty()) {
    const Frame& frame = users_frame(frames);
    location->file = frame.file;
    location->line = frame.line;
    return location;
  }
  if (range.file.empty()) return nullptr;
  const std::string_view before = std::string_view(range.text).substr(0, range.begin);
  const auto newline = before.rfind('\n');
  location->file = range.file;
  location->line = range.first_line + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  location->column =
      static_cast<int>(newline == std::string_view::npos ? range.begin : range.begin - newline - 1);
  location->text = trimmed(line_at(range.text, range.begin));
  return location;
}

std::string archived_line(const SourceRange& range) {
  return trimmed(range.source()->get_line(range.source()->lineno_for_offset(range.start())).str());
}

std::shared_ptr<SourceLocation> archived_place(const SourceRange& range) {
  const auto place = range.file_line_col();
  if (!place) return nullptr;
  return std::make_shared<SourceLocation>(
      SourceLocation{std::get<0>(*place), static_cast<int>(std::get<1>(*place)),
                     static_cast<int>(std::get<2>(*place)), archived_line(range)});
}

}  // namespace

const DebugRecords& LocationTable::records_of(const std::string& code_file) {
  auto& records = records_[code_file];
  if (!records)
    records = std::make_unique<const DebugRecords>(archive_.read(code_file + ".debug_pkl").value_or(""));
  return *records;
}

program::LocationRef LocationTable::of(const SourceRange& range) {
  if (!range.source() || !range.source()->filename()) return nullptr;
  const DebugRecords& records = records_of(*range.source()->filename());
  const std::size_t record = records.find(range.start());
  if (record == DebugRecords::kNone) return archived_place(range);

  const auto [known, is_new] = known_.try_emplace({&records, record});
  if (is_new) {
    std::shared_ptr<SourceLocation> location = original_place(records.range(record));
    // The tracer keeps no source lines; the archive's own code is the next best.
    if (location && location->text.empty()) location->text = archived_line(range);
    known->second = std::move(location);
  }
  return known->second ? known->second : archived_place(range);
}

}  // namespace pt2onnx::frontend
