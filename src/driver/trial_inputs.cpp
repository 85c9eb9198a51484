#include "driver/trial_inputs.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <utility>

#include "driver/reference.h"

namespace pt2onnx {
namespace {

constexpr int kLargestRank = 5;
constexpr std::size_t kMostInputs = 3;  // combinations grow with a power of it
constexpr std::chrono::seconds kPatience{5};

struct Candidate {
  DType dtype = DType::Float32;
  int rank = 0;
};
using Candidates = std::vector<Candidate>;  // one per missing input

/// All ranks of `count` inputs, small ones first; equal sums with the first inputs larger first.
std::vector<std::vector<int>> rank_combinations(std::size_t count) {
  std::vector<std::vector<int>> all{{}};
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::vector<int>> longer;
    for (const auto& ranks : all)
      for (int rank = kLargestRank; rank >= 0; --rank) {
        longer.push_back(ranks);
        longer.back().push_back(rank);
      }
    all = std::move(longer);
  }
  const auto sum = [](const std::vector<int>& ranks) {
    return std::accumulate(ranks.begin(), ranks.end(), 0);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return sum(a) < sum(b); });
  return all;
}

/// All dtypes of `count` inputs, those with few indices first.
std::vector<std::vector<DType>> dtype_combinations(std::size_t count) {
  std::vector<std::vector<DType>> all;
  for (std::size_t bits = 0; bits < (std::size_t{1} << count); ++bits) {
    std::vector<DType> dtypes(count);
    for (std::size_t i = 0; i < count; ++i) dtypes[i] = bits >> i & 1 ? DType::Int64 : DType::Float32;
    all.push_back(std::move(dtypes));
  }
  return all;
}

void collect_sizes(const program::Object& object, int depth, std::set<std::int64_t>& sizes) {
  constexpr int kDeepest = 16;
  constexpr std::int64_t kLargest = 4096;
  if (depth == kDeepest) return;
  for (const auto& [name, value] : object.attributes) {
    if (const auto* child = std::get_if<program::ObjectRef>(&value.data); child && *child)
      collect_sizes(**child, depth + 1, sizes);
    if (const auto* tensor = std::get_if<Tensor>(&value.data))
      for (const std::int64_t size : tensor->dims)
        if (size > 1 && size <= kLargest) sizes.insert(size);
  }
}

class Trials {
 public:
  Trials(TorchModule& module, const Options& options, const InputData& data,
         const std::vector<std::string>& missing)
      : module_(module), options_(options), data_(data), missing_(missing) {
    std::set<std::int64_t> sizes;
    if (module.program().root) collect_sizes(*module.program().root, 0, sizes);
    constexpr std::size_t kMost = 12;
    for (const std::int64_t size : sizes)
      if (weight_sizes_.size() < kMost) weight_sizes_.push_back(size);
  }

  std::optional<Assumptions> search() {
    for (const auto& dtypes : dtype_combinations(missing_.size()))
      for (const auto& ranks : rank_combinations(missing_.size())) {
        Candidates candidates;
        for (std::size_t i = 0; i < missing_.size(); ++i) candidates.push_back({dtypes[i], ranks[i]});
        auto accepted = accepted_sizes(candidates);
        if (late()) return std::nullopt;
        if (!accepted) continue;
        return is_evident(candidates) ? std::move(accepted) : std::nullopt;
      }
    return std::nullopt;
  }

 private:
  bool late() const { return std::chrono::steady_clock::now() - start_ > kPatience; }

  /// A rank of one or none says no more than that the code would take anything.
  static bool is_evident(const Candidates& candidates) {
    return std::all_of(candidates.begin(), candidates.end(), [](const Candidate& c) {
      return c.rank >= 2 || (c.rank == 1 && c.dtype == DType::Int64);
    });
  }

  /// The first sizes that the module accepts for these ranks: all equal, then with a last axis or an axis of channels
  /// that fits a weight.
  std::optional<Assumptions> accepted_sizes(const Candidates& candidates) {
    constexpr std::int64_t kSmall[] = {4, 8, 3};
    for (const std::int64_t size : kSmall)
      if (auto accepted = attempt(candidates, {size, size, size})) return accepted;
    for (const std::int64_t size : weight_sizes_) {
      for (const Pattern& pattern : {Pattern{4, 4, size}, Pattern{4, size, 4}})
        if (auto accepted = attempt(candidates, pattern)) return accepted;
      if (late()) break;
    }
    return std::nullopt;
  }

  struct Pattern {
    std::int64_t others, channels, last;
  };

  std::optional<Assumptions> attempt(const Candidates& candidates, const Pattern& pattern) {
    Assumptions assumptions;
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      const auto rank = static_cast<std::size_t>(candidates[i].rank);
      Sizes sizes(rank, pattern.others);
      if (rank > 1) sizes[1] = pattern.channels;
      if (rank > 0 && (rank != 2 || pattern.last != pattern.others)) sizes.back() = pattern.last;
      assumptions[missing_[i]] = {
          candidates[i].dtype, {std::move(sizes)}, "the module itself, which refuses smaller ranks"};
    }
    std::string refusal;
    const BoundInputs bound = bind_inputs(module_.program(), options_, data_, 0, assumptions);
    if (!run_reference(module_, bound, bound.example_sizes, refusal)) return std::nullopt;
    return assumptions;
  }

  TorchModule& module_;
  const Options& options_;
  const InputData& data_;
  const std::vector<std::string>& missing_;
  Sizes weight_sizes_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::optional<Assumptions> try_inputs(TorchModule& module, const Options& options, const InputData& data,
                                      const std::vector<std::string>& missing) {
  if (missing.empty() || missing.size() > kMostInputs) return std::nullopt;
  return Trials(module, options, data, missing).search();
}

}  // namespace pt2onnx
