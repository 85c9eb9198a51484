#include "diagnosis/near_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pt2onnx {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> near_names(std::string_view name, std::span<const std::string> candidates,
                                    std::size_t limit) {
  // A third of the letters wrong is still a misspelling; more is another word.
  const std::size_t allowed = name.substr(name.find_last_of(":-") + 1).size() / 3;
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), name.size());
    const std::size_t shorter = std::min(candidate.size(), name.size());
    if (longer - shorter > allowed) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= allowed) near.emplace_back(distance, &candidate);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> found;
  for (const auto& [distance, candidate] : near) {
    if (found.size() == limit) break;
    found.push_back(*candidate);
  }
  return found;
}

}  // namespace pt2onnx
