#include "frontend/code_scan.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace pt2onnx::frontend {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// "a, b = ops.x.f(...)" assigns two, "a = g(ops.x.f(...))" one: only a call that is the whole right side counts.
int assigned_values(std::string_view code, std::size_t call) {
  const auto start = code.rfind('\n', call);
  std::string_view left = code.substr(start == std::string_view::npos ? 0 : start + 1, call - (start + 1));
  while (!left.empty() && left.back() == ' ') left.remove_suffix(1);
  if (left.empty() || left.back() != '=') return 1;
  left.remove_suffix(1);
  while (!left.empty() && (left.back() == ' ' || left.back() == ',')) left.remove_suffix(1);
  return 1 + static_cast<int>(std::count(left.begin(), left.end(), ','));
}

}  // namespace

std::vector<OperatorUse> operators_in(std::string_view code) {
  constexpr std::string_view kMark = "ops.";
  std::map<std::string, int> found;
  for (std::size_t at = code.find(kMark); at != std::string_view::npos;
       at = code.find(kMark, at + kMark.size())) {
    if (at > 0 && (is_word(code[at - 1]) || code[at - 1] == '.')) continue;
    const std::string_view space = word_at(code, at + kMark.size());
    const std::size_t dot = at + kMark.size() + space.size();
    if (space.empty() || dot >= code.size() || code[dot] != '.') continue;
    const std::string_view name = word_at(code, dot + 1);
    const std::size_t open = dot + 1 + name.size();
    if (name.empty() || open >= code.size() || code[open] != '(') continue;
    int& results = found[std::string(space) + "::" + std::string(name)];
    results = std::max(results, assigned_values(code, at));
  }
  std::vector<OperatorUse> uses;
  for (auto& [name, results] : found) uses.push_back({name, results});
  return uses;
}

std::set<std::string> custom_classes_in(std::string_view text) {
  constexpr std::string_view kMark = "__torch__.torch.classes.";
  std::set<std::string> names;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + kMark.size())) {
    const std::size_t begin = at + kMark.size();
    const std::string_view space = word_at(text, begin);
    const std::size_t dot = begin + space.size();
    if (space.empty() || dot >= text.size() || text[dot] != '.') continue;
    const std::string_view name = word_at(text, dot + 1);
    if (!name.empty()) names.insert(std::string(space) + "." + std::string(name));
  }
  return names;
}

}  // namespace pt2onnx::frontend
