#include <gtest/gtest.h>

#include <set>
#include <string>

#include "pt2onnx/dtype.h"

namespace pt2onnx {
namespace {

constexpr int kCount = static_cast<int>(DType::Float8E5M2) + 1;

TEST(DType, NamesAreDifferentAndReadBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_TRUE(names.insert(to_string(dtype)).second) << to_string(dtype);
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype) << to_string(dtype);
    EXPECT_EQ(dtype_from_string("torch." + std::string(to_string(dtype))), dtype) << to_string(dtype);
  }
}

TEST(DType, ReadsTorchsOtherNames) {
  const std::pair<std::string_view, DType> rows[] = {
      {"float", DType::Float32},    {"double", DType::Float64},  {"half", DType::Float16},
      {"bf16", DType::BFloat16},    {"long", DType::Int64},      {"int", DType::Int32},
      {"short", DType::Int16},      {"char", DType::Int8},       {"byte", DType::UInt8},
      {"f32", DType::Float32},      {"i64", DType::Int64},       {"u8", DType::UInt8},
      {"cfloat", DType::Complex64}, {"c128", DType::Complex128}, {"torch.long", DType::Int64},
  };
  for (const auto& [text, dtype] : rows) EXPECT_EQ(dtype_from_string(text), dtype) << text;
}

TEST(DType, RefusesWhatIsNoName) {
  for (const std::string_view text : {"", "torch.", "float31", "Float32", "floats", " float", "complex"}) {
    EXPECT_EQ(dtype_from_string(text), std::nullopt) << text;
  }
}

TEST(DType, BelongsToAtMostOneKind) {
  for (int i = 0; i < kCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_LE(int{is_floating(dtype)} + int{is_complex(dtype)} + int{is_integral(dtype)}, 1)
        << to_string(dtype);
    if (is_unsigned(dtype)) {
      EXPECT_TRUE(is_integral(dtype)) << to_string(dtype);
    }
  }
  EXPECT_FALSE(is_integral(DType::Bool));
  EXPECT_TRUE(is_unsigned(DType::UInt8));
  EXPECT_FALSE(is_unsigned(DType::Int8));
  EXPECT_TRUE(is_floating(DType::Float8E4M3FN));
  EXPECT_TRUE(is_complex(DType::Complex64));
}

TEST(DType, HasASize) {
  EXPECT_EQ(size_of(DType::Float32), 4U);
  EXPECT_EQ(size_of(DType::BFloat16), 2U);
  EXPECT_EQ(size_of(DType::Bool), 1U);
  EXPECT_EQ(size_of(DType::Complex128), 16U);
  EXPECT_EQ(size_of(DType::Float8E5M2), 1U);
  EXPECT_EQ(size_of(DType::String), 0U);
}

TEST(DType, ComplexHasARealCounterpart) {
  EXPECT_EQ(real_of(DType::Complex64), DType::Float32);
  EXPECT_EQ(real_of(DType::Complex128), DType::Float64);
  EXPECT_EQ(real_of(DType::Int8), DType::Int8);
}

}  // namespace
}  // namespace pt2onnx
