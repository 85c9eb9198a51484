// Interval arithmetic on Dims.
#pragma once

#include <cstdint>
#include <optional>

#include "pt2onnx/dim.h"

namespace pt2onnx::detail {

/// All values from `lower` to `upper`; without one, endless on that side.
struct Interval {
  std::optional<std::int64_t> lower, upper;
};

/// Where the value lies for all values of the symbols.
Interval range_of(const Dim& dim);
bool never_negative(const Dim& dim);

/// Of floor(a / b), where it is known that b is not 0.
Interval floor_div(const Interval& a, const Interval& b);

}  // namespace pt2onnx::detail
