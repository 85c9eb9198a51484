// The floating-point formats narrower than float32: conversion from and to float32.
#pragma once

#include <cstdint>

namespace pt2onnx {

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // without one, what is too large becomes the largest number (as in torch and ONNX Cast)

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

inline constexpr FloatFormat kFloat16{5, 10, true};
inline constexpr FloatFormat kBFloat16{8, 7, true};
inline constexpr FloatFormat kFloat8E4M3FN{4, 3, false};
inline constexpr FloatFormat kFloat8E5M2{5, 2, true};

/// Rounds to nearest, ties to even; subnormals and signed zeros included.
std::uint32_t encode(float value, const FloatFormat& format);

/// Exact.
float decode(std::uint32_t bits, const FloatFormat& format);

}  // namespace pt2onnx
