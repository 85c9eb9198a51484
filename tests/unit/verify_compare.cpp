#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "verify/runtime.h"

namespace pt2onnx {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor floats(std::vector<double> values, DType dtype = DType::Float32) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor::of_doubles(values, {count}, dtype);
}
Tensor ints(std::vector<std::int64_t> values, DType dtype = DType::Int64) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor::of_ints(values, {count}, dtype);
}
OutputDifference difference(const Tensor& expected, const Tensor& actual, Tolerance tolerance = {}) {
  return compare("y", expected, actual, tolerance);
}

TEST(Compare, WithinAndBeyondTheTolerance) {
  const auto close = difference(floats({1, 2}), floats({1.0001, 2}));
  EXPECT_TRUE(close.passed);
  EXPECT_NEAR(close.max_abs, 1e-4, 1e-6);
  EXPECT_NEAR(close.max_rel, 1e-4, 1e-6);

  const auto far = difference(floats({1, 2, 3}), floats({1, 2.1, 3.5}));
  EXPECT_FALSE(far.passed);
  EXPECT_NEAR(far.max_abs, 0.5, 1e-6);
  EXPECT_THAT(far.note, HasSubstr("2 of 3 elements differ"));
  EXPECT_THAT(far.note, HasSubstr("at [2] libtorch has 3, ONNX Runtime 3.5"));  // the worst of them
}

TEST(Compare, AbsoluteToleranceGrowsWithTheOutput) {
  EXPECT_TRUE(difference(floats({1000, 0}), floats({1000, 0.05})).passed);
  EXPECT_FALSE(difference(floats({1, 0}), floats({1, 0.05})).passed);
  EXPECT_FALSE(difference(floats({kInf, 0}), floats({kInf, 0.05})).passed) << "infinity is no scale";
}

TEST(Compare, NanAndInfinityExactly) {
  EXPECT_TRUE(difference(floats({kNan, kInf, -kInf}), floats({kNan, kInf, -kInf})).passed);
  EXPECT_FALSE(difference(floats({kNan}), floats({0})).passed);
  EXPECT_FALSE(difference(floats({0}), floats({kNan})).passed);
  EXPECT_FALSE(difference(floats({kInf}), floats({-kInf})).passed);
  EXPECT_FALSE(difference(floats({kInf}), floats({1e30})).passed);
}

TEST(Compare, IntegersAndBoolExactly) {
  EXPECT_TRUE(difference(ints({1, 2}), ints({1, 2})).passed);
  const auto off = difference(ints({1000000, 2}), ints({1000001, 2}));
  EXPECT_FALSE(off.passed);
  EXPECT_EQ(off.max_abs, 1);
  EXPECT_FALSE(difference(ints({1}, DType::Bool), ints({0}, DType::Bool)).passed);
}

TEST(Compare, DtypeAndShapeExactly) {
  const auto dtype = difference(floats({1}), floats({1}, DType::Float64));
  EXPECT_FALSE(dtype.passed);
  EXPECT_THAT(dtype.note, HasSubstr("libtorch gives float32[1], ONNX Runtime float64[1]"));
  const auto shape =
      difference(Tensor::of_doubles(std::vector<double>{1, 2}, {2, 1}, DType::Float32), floats({1, 2}));
  EXPECT_FALSE(shape.passed);
  EXPECT_THAT(shape.note, HasSubstr("float32[2,1]"));
}

TEST(Compare, HalfPrecisionHasAWiderTolerance) {
  const Tensor a = floats({1, 100}, DType::Float16), b = floats({1.002, 100.1}, DType::Float16);
  EXPECT_TRUE(difference(a, b, default_tolerance(DType::Float16)).passed);
  EXPECT_FALSE(difference(a, b).passed);
}

TEST(Compare, EmptyTensorsAreEqual) { EXPECT_TRUE(difference(floats({}), floats({})).passed); }

TEST(Runtime, SaysHowToGetItOrItsVersion) {
  EXPECT_EQ(has_runtime(), why_no_runtime().empty());
  EXPECT_EQ(has_runtime(), !runtime_version().empty());
}

TEST(Runtime, WhatIsNoModelIsRefusedInOneLine) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  try {
    open_session_bytes("not a model", {});
    FAIL() << "was accepted";
  } catch (const RuntimeFailure& failure) {
    EXPECT_STRNE(failure.what(), "");
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace pt2onnx
