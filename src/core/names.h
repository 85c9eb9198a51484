// Tables of operator names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace pt2onnx {

template <std::size_t N>
constexpr bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace pt2onnx
