#include "diagnosis/wrap.h"

#include <algorithm>
#include <vector>

namespace pt2onnx {
namespace {

/// The columns that a text takes: no escape sequences of colours, one for each character of UTF-8.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      ++count;
    }
  }
  return count;
}

/// Split at spaces outside of `code`.
std::vector<std::string_view> pieces(std::string_view line) {
  std::vector<std::string_view> all;
  std::size_t begin = 0;
  bool code = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '`') code = !code;
    if (i < line.size() && (line[i] != ' ' || code)) continue;
    if (i > begin) all.push_back(line.substr(begin, i - begin));
    begin = i + 1;
  }
  return all;
}

std::string wrapped_line(std::string_view line, std::size_t width) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::vector<std::string_view> words = pieces(line);
  if (columns(line) <= width || words.size() < 2 || words.front().find('|') != std::string_view::npos)
    return std::string(line);
  std::string out(indent, ' ');
  std::size_t at = indent;
  // "help: ..." goes on under what follows the label.
  const bool labelled = words.front().find(':') != std::string_view::npos && columns(words.front()) <= 8;
  const std::size_t next = labelled ? indent + columns(words.front()) + 1 : indent + 2;
  bool fresh = true;
  for (const std::string_view word : words) {
    const std::size_t size = columns(word);
    if (!fresh && at + 1 + size > width) {
      out += "\n" + std::string(next, ' ');
      at = next;
      fresh = true;
    }
    if (!fresh) out += ' ', ++at;
    out += word;
    at += size;
    fresh = false;
  }
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += wrapped_line(text.substr(0, end), width);
    if (end == text.size()) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace pt2onnx
