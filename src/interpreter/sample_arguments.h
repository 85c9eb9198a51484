// Arguments made up for one run of a libtorch kernel, where the graph will compute the real ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pt2onnx/call.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

/// One choice of the dynamic sizes: in the first turn those of the examples, in the next ones larger, each by an amount of
/// its own, so that what follows one of them is told from what follows another.
class SampleArguments {
 public:
  enum class Elements { None, Zeros, Varied };  // Varied: others in each turn, small and not negative

  /// Symbols that `leaders` gives the same leader have the same size.
  using Leaders = std::map<std::string, std::string>;

  SampleArguments(const std::map<std::string, std::int64_t>& example_sizes, int turn, Elements elements,
                  Leaders leaders = {})
      : examples_(example_sizes), leaders_(std::move(leaders)), turn_(turn), elements_(elements) {}

  /// Nullopt for what cannot be made up: a number that the graph computes, a tensor of unknown rank, complex or quantized
  /// values, elements for a tensor that is too large.
  std::optional<program::Literal> literal(const Argument& argument);

  std::optional<std::int64_t> size_of(const Dim& dim);
  std::int64_t size_of(const std::string& symbol);
  std::int64_t example_of(const std::string& symbol) const;
  /// The dynamic sizes met so far.
  const std::map<std::string, std::int64_t>& symbols() const { return steps_; }

 private:
  std::optional<program::Literal> tensor(Value v);

  const std::map<std::string, std::int64_t>& examples_;
  Leaders leaders_;
  int turn_;
  Elements elements_;
  std::map<std::string, std::int64_t> steps_;
};

}  // namespace pt2onnx
