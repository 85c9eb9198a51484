#include "core/float_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace pt2onnx {
namespace {

constexpr int kFloatMantissa = 23;
constexpr int kFloatBias = 127;
constexpr std::uint32_t kFloatSign = 0x80000000U;
constexpr std::uint32_t kFloatInfinity = 0x7F800000U;
constexpr std::uint32_t kFloatHiddenBit = 1U << kFloatMantissa;

struct Codes {
  std::uint32_t sign;
  std::uint32_t infinity;  // or what stands in for it
  std::uint32_t nan;
  std::uint32_t largest;
};

Codes codes_of(const FloatFormat& f) {
  const std::uint32_t sign = 1U << (f.exponent_bits + f.mantissa_bits);
  if (!f.has_infinity) return {sign, sign - 2, sign - 1, sign - 2};
  const std::uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
  return {sign, infinity, infinity | (1U << (f.mantissa_bits - 1)), infinity - 1};
}

std::uint32_t shift_right_to_even(std::uint32_t value, int shift) {
  const std::uint32_t quotient = value >> shift;
  const std::uint32_t rest = value & ((1U << shift) - 1);
  const std::uint32_t half = 1U << (shift - 1);
  const bool up = rest > half || (rest == half && (quotient & 1U) != 0);
  return quotient + (up ? 1 : 0);
}

}  // namespace

std::uint32_t encode(float value, const FloatFormat& format) {
  const Codes codes = codes_of(format);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & kFloatSign) != 0 ? codes.sign : 0;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  if (magnitude > kFloatInfinity) return sign | codes.nan;
  if (magnitude == kFloatInfinity) return sign | codes.infinity;

  const auto field = static_cast<int>(magnitude >> kFloatMantissa);
  const std::uint32_t fraction = magnitude & (kFloatHiddenBit - 1);
  const std::uint32_t significand = field == 0 ? fraction : fraction | kFloatHiddenBit;
  const int exponent = std::max(field, 1) - kFloatBias;

  // Below the smallest normal exponent, bits are lost to keep the exponent there.
  const int smallest = 1 - format.bias();
  const int shift = kFloatMantissa - format.mantissa_bits + std::max(0, smallest - exponent);
  if (shift > kFloatMantissa + 1) return sign;  // less than half of the smallest subnormal

  const std::uint32_t rounded = shift_right_to_even(significand, shift);
  // The hidden bit, and a carry out of the mantissa, add to the exponent field by themselves.
  const auto base = static_cast<std::uint32_t>(std::max(exponent, smallest) - smallest)
                    << format.mantissa_bits;
  const std::uint32_t result = base + rounded;
  return sign | (result > codes.largest ? codes.infinity : result);
}

float decode(std::uint32_t bits, const FloatFormat& format) {
  const Codes codes = codes_of(format);
  const std::uint32_t magnitude = bits & (codes.sign - 1);
  const float sign = (bits & codes.sign) != 0 ? -1.0F : 1.0F;
  if (magnitude > codes.largest) {
    const bool infinite = format.has_infinity && magnitude == codes.infinity;
    return std::copysign(
        infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN(), sign);
  }
  const auto field = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint32_t hidden_bit = 1U << format.mantissa_bits;
  const std::uint32_t fraction = magnitude & (hidden_bit - 1);
  const std::uint32_t significand = field == 0 ? fraction : fraction | hidden_bit;
  const int exponent = std::max(field, 1) - format.bias() - format.mantissa_bits;
  return sign * std::ldexp(static_cast<float>(significand), exponent);
}

}  // namespace pt2onnx
