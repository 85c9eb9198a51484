#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <stdexcept>

#include "pt2onnx/tensor.h"

namespace pt2onnx {
namespace {

constexpr DType kNumeric[] = {
    DType::Float32, DType::Float64, DType::Float16, DType::BFloat16,     DType::Int8,      DType::Int16,
    DType::Int32,   DType::Int64,   DType::UInt8,   DType::UInt16,       DType::UInt32,    DType::UInt64,
    DType::QInt8,   DType::QUInt8,  DType::QInt32,  DType::Float8E4M3FN, DType::Float8E5M2};

std::vector<std::int64_t> ints(std::initializer_list<std::int64_t> values) { return values; }
std::vector<double> doubles(std::initializer_list<double> values) { return values; }

TEST(Tensor, CountsItsElements) {
  Tensor t;
  EXPECT_EQ(t.numel(), 1);  // 0-d
  t.dims = {2, 3, 4};
  EXPECT_EQ(t.numel(), 24);
  t.dims = {1LL << 40, 1LL << 40, 0};
  EXPECT_EQ(t.numel(), 0);
  t.dims = {1LL << 40, 1LL << 40};
  EXPECT_THROW(t.numel(), std::overflow_error);
  t.dims = {0, -1};
  EXPECT_THROW(t.numel(), std::invalid_argument);
}

TEST(Tensor, SmallNumbersGoThroughEveryNumericDtype) {
  for (const DType dtype : kNumeric) {
    const auto values = ints({0, 1, 2, 3, 4, 7});
    const Tensor a = Tensor::of_ints(values, {2, 3}, dtype);
    EXPECT_EQ(a.bytes.size(), 6 * size_of(dtype)) << to_string(dtype);
    EXPECT_EQ(a.to_ints(), values) << to_string(dtype);
    EXPECT_EQ(a.to_doubles(), doubles({0, 1, 2, 3, 4, 7})) << to_string(dtype);
    EXPECT_TRUE(identical(a, Tensor::of_doubles(a.to_doubles(), {2, 3}, dtype))) << to_string(dtype);
    if (!is_unsigned(dtype)) {
      EXPECT_EQ(Tensor::scalar(std::int64_t{-3}, dtype).to_ints(), ints({-3})) << to_string(dtype);
      EXPECT_EQ(Tensor::scalar(-3.0, dtype).to_doubles(), doubles({-3})) << to_string(dtype);
    }
  }
}

TEST(Tensor, IntegersWrapAsInTorch) {
  EXPECT_EQ(Tensor::scalar(std::int64_t{300}, DType::Int8).to_ints(), ints({44}));
  EXPECT_EQ(Tensor::scalar(std::int64_t{-1}, DType::UInt8).to_ints(), ints({255}));
  EXPECT_EQ(Tensor::scalar(std::int64_t{1} << 40, DType::Int32).to_ints(), ints({0}));
  EXPECT_EQ(Tensor::scalar(2.9, DType::Int64).to_ints(), ints({2}));
  EXPECT_EQ(Tensor::scalar(-2.9, DType::Int64).to_ints(), ints({-2}));
}

TEST(Tensor, BoolIsWhetherItIsZero) {
  const Tensor t = Tensor::of_doubles(doubles({0, 0.25, -1, 300}), {4}, DType::Bool);
  EXPECT_EQ(t.to_ints(), ints({0, 1, 1, 1}));
  EXPECT_EQ(t.bytes[3], std::byte{1});
  const Tensor odd = Tensor::of_bytes({std::byte{0x80}, std::byte{0}}, {2}, DType::Bool);
  EXPECT_EQ(odd.to_doubles(), doubles({1, 0}));
}

TEST(Tensor, FloatsRoundToNearestEven) {
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float64).to_doubles(), doubles({0.1}));
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float32).to_doubles(), doubles({0.10000000149011612}));
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float16).to_doubles(), doubles({0.0999755859375}));
  EXPECT_EQ(Tensor::scalar(0.1, DType::BFloat16).to_doubles(), doubles({0.10009765625}));
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float8E4M3FN).to_doubles(), doubles({0.1015625}));
  EXPECT_EQ(Tensor::scalar(0.1, DType::Float8E5M2).to_doubles(), doubles({0.09375}));
  // By way of float32, as torch: rounded at once, this would be 1 + 2^-10.
  EXPECT_EQ(Tensor::scalar(1 + 0x1p-11 + 0x1p-40, DType::Float16).to_doubles(), doubles({1}));
  EXPECT_EQ(Tensor::scalar((std::int64_t{1} << 53) + 1, DType::Float64).to_doubles(), doubles({0x1p53}));
}

TEST(Tensor, ToIntsKeepsAllOfInt64AndRefusesTheRest) {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Tensor::of_ints(ints({low, high}), {2}).to_ints(), ints({low, high}));
  EXPECT_EQ(Tensor::scalar(-0x1p63, DType::Float64).to_ints(), ints({low}));
  EXPECT_THROW(Tensor::scalar(0x1p63, DType::Float64).to_ints(), std::out_of_range);
  EXPECT_THROW(Tensor::scalar(std::numeric_limits<double>::quiet_NaN(), DType::Float32).to_ints(),
               std::out_of_range);
  EXPECT_THROW(Tensor::scalar(std::numeric_limits<double>::infinity(), DType::Int64), std::out_of_range);
  const Tensor large = Tensor::scalar(0x1p63, DType::UInt64);
  EXPECT_EQ(large.to_doubles(), doubles({0x1p63}));
  EXPECT_THROW(large.to_ints(), std::out_of_range);
}

TEST(Tensor, ComplexIsMadeOfRealNumbersButNotReadAsOne) {
  const Tensor t = Tensor::scalar(1.5, DType::Complex64);
  float parts[2] = {};
  ASSERT_EQ(t.bytes.size(), sizeof parts);
  std::memcpy(parts, t.bytes.data(), sizeof parts);
  EXPECT_EQ(parts[0], 1.5F);
  EXPECT_EQ(parts[1], 0.0F);
  EXPECT_THROW(t.to_doubles(), std::invalid_argument);
  EXPECT_THROW(t.to_ints(), std::invalid_argument);
  EXPECT_THROW(Tensor::scalar(1.0, DType::String), std::invalid_argument);
}

TEST(Tensor, BytesMustMatchTheDims) {
  EXPECT_THROW(Tensor::of_ints(ints({1, 2}), {3}), std::invalid_argument);
  EXPECT_THROW(Tensor::of_bytes(std::vector<std::byte>(7), {2}, DType::Float32), std::invalid_argument);
  EXPECT_EQ(Tensor::of_bytes({}, {0, 5}, DType::Float32).to_doubles(), doubles({}));
  EXPECT_EQ(Tensor::of_ints(ints({}), {0}).numel(), 0);
}

TEST(Tensor, ACopySharesTheBytesAndKeepsThemAlive) {
  Tensor copy;
  {
    const Tensor original = Tensor::of_ints(ints({1, 2, 3}), {3});
    copy = original;
    EXPECT_EQ(copy.bytes.data(), original.bytes.data());
  }
  EXPECT_EQ(copy.to_ints(), ints({1, 2, 3}));
}

TEST(Tensor, IdenticalIsBitwise) {
  const Tensor a = Tensor::of_ints(ints({1, 2}), {2});
  EXPECT_TRUE(identical(a, Tensor::of_ints(ints({1, 2}), {2})));
  EXPECT_FALSE(identical(a, Tensor::of_ints(ints({1, 3}), {2})));
  EXPECT_FALSE(identical(a, Tensor::of_ints(ints({1, 2}), {1, 2})));
  EXPECT_FALSE(identical(a, Tensor::of_ints(ints({1, 2}), {2}, DType::UInt64)));
  EXPECT_FALSE(identical(Tensor::scalar(0.0, DType::Float32), Tensor::scalar(-0.0, DType::Float32)));
  const Tensor nan = Tensor::scalar(std::numeric_limits<double>::quiet_NaN(), DType::Float32);
  EXPECT_TRUE(identical(nan, nan));
}

}  // namespace
}  // namespace pt2onnx
