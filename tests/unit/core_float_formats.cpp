#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/float_formats.h"

namespace pt2onnx {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Named {
  const char* name;
  FloatFormat format;
  std::uint32_t largest;  // code of the largest finite number
};

constexpr Named kFormats[] = {{"float16", kFloat16, 0x7BFF},
                              {"bfloat16", kBFloat16, 0x7F7F},
                              {"float8_e4m3fn", kFloat8E4M3FN, 0x7E},
                              {"float8_e5m2", kFloat8E5M2, 0x7B}};

std::uint32_t sign_of(const FloatFormat& f) { return 1U << (f.exponent_bits + f.mantissa_bits); }

TEST(FloatFormats, EveryFiniteCodeSurvivesTheRoundTrip) {
  for (const auto& [name, format, largest] : kFormats) {
    for (std::uint32_t code = 0; code <= largest; ++code) {
      ASSERT_EQ(encode(decode(code, format), format), code) << name;
      const std::uint32_t negative = code | sign_of(format);
      ASSERT_EQ(encode(decode(negative, format), format), negative) << name;
      ASSERT_EQ(decode(negative, format), -decode(code, format)) << name;
    }
  }
}

// Between any two neighbours: the middle goes to the even one, everything else to the nearer one.
TEST(FloatFormats, RoundsToNearestEven) {
  for (const auto& [name, format, largest] : kFormats) {
    for (std::uint32_t code = 0; code < largest; ++code) {
      const float low = decode(code, format);
      const float high = decode(code + 1, format);
      ASSERT_LT(low, high) << name << ' ' << code;
      const float middle = low + (high - low) / 2;
      ASSERT_EQ(encode(middle, format), code + (code & 1U)) << name << ' ' << code;
      ASSERT_EQ(encode(std::nextafter(middle, low), format), code) << name << ' ' << code;
      ASSERT_EQ(encode(std::nextafter(middle, high), format), code + 1) << name << ' ' << code;
      ASSERT_EQ(encode(-middle, format), encode(middle, format) | sign_of(format)) << name << ' ' << code;
    }
  }
}

TEST(FloatFormats, KnowsItsExtremes) {
  EXPECT_EQ(decode(0x7BFF, kFloat16), 65504.0F);
  EXPECT_EQ(decode(0x0001, kFloat16), 0x1p-24F);
  EXPECT_EQ(decode(0x7F7F, kBFloat16), 0x1.FEp127F);
  EXPECT_EQ(decode(0x0001, kBFloat16), 0x1p-133F);
  EXPECT_EQ(decode(0x7E, kFloat8E4M3FN), 448.0F);
  EXPECT_EQ(decode(0x01, kFloat8E4M3FN), 0x1p-9F);
  EXPECT_EQ(decode(0x7B, kFloat8E5M2), 57344.0F);
  EXPECT_EQ(decode(0x01, kFloat8E5M2), 0x1p-16F);
}

TEST(FloatFormats, OverflowGoesToInfinityOrTheLargest) {
  EXPECT_EQ(encode(65519.996F, kFloat16), 0x7BFFU);
  EXPECT_EQ(encode(65520.0F, kFloat16), 0x7C00U);
  EXPECT_EQ(encode(std::numeric_limits<float>::max(), kBFloat16), 0x7F80U);
  EXPECT_EQ(encode(61440.0F, kFloat8E5M2), 0x7CU);
  EXPECT_EQ(encode(464.0F, kFloat8E4M3FN), 0x7EU);  // the tie goes to the even 448
  EXPECT_EQ(encode(465.0F, kFloat8E4M3FN), 0x7EU);
  EXPECT_EQ(encode(-1e30F, kFloat8E4M3FN), 0xFEU);
}

TEST(FloatFormats, KeepsInfinityAndNan) {
  for (const auto& [name, format, largest] : kFormats) {
    EXPECT_TRUE(std::isnan(decode(encode(std::nanf(""), format), format))) << name;
    const float infinite = decode(encode(-kInfinity, format), format);
    if (format.has_infinity) {
      EXPECT_EQ(infinite, -kInfinity) << name;
    } else {
      EXPECT_EQ(infinite, -decode(largest, format)) << name;
    }
    EXPECT_TRUE(std::signbit(decode(encode(-0.0F, format), format))) << name;
  }
}

TEST(FloatFormats, TinyValuesVanish) {
  EXPECT_EQ(encode(0x1p-25F, kFloat16), 0U);  // half of the smallest one: ties to even
  EXPECT_EQ(encode(0x1.000002p-25F, kFloat16), 1U);
  EXPECT_EQ(encode(std::numeric_limits<float>::denorm_min(), kFloat16), 0U);
  EXPECT_EQ(encode(std::numeric_limits<float>::denorm_min(), kBFloat16), 0U);
  EXPECT_EQ(encode(-std::numeric_limits<float>::denorm_min(), kFloat8E5M2), 0x80U);
}

}  // namespace
}  // namespace pt2onnx
