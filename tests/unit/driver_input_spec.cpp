#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "pt2onnx/convert.h"

namespace pt2onnx {
namespace {

using ::testing::HasSubstr;
using Size = InputSpec::TensorSpec::Size;

InputSpec::TensorSpec tensor(const InputSpec& spec) { return std::get<InputSpec::TensorSpec>(spec.value); }

TEST(InputSpec, Tensors) {
  const auto full = parse_input_spec("x:float32[N,3, 224 ,?]");
  EXPECT_EQ(full.name, "x");
  EXPECT_EQ(tensor(full).dtype, DType::Float32);
  EXPECT_EQ(tensor(full).dims, (std::vector<Size>{"N", std::int64_t{3}, std::int64_t{224}, "?"}));

  EXPECT_EQ(parse_input_spec("[1,3]").name, "");
  EXPECT_EQ(tensor(parse_input_spec("[1,3]")).dtype, std::nullopt);
  EXPECT_EQ(tensor(parse_input_spec("images.0:[2]")).dims, (std::vector<Size>{std::int64_t{2}}));
  EXPECT_EQ(tensor(parse_input_spec("x:int64[]")).dims, (std::vector<Size>{}));
  EXPECT_EQ(tensor(parse_input_spec("x:float16")).dims, std::nullopt);
  EXPECT_EQ(tensor(parse_input_spec("[-1]")).dims, (std::vector<Size>{"?"}));
}

TEST(InputSpec, Values) {
  EXPECT_EQ(std::get<std::int64_t>(parse_input_spec("k:int=-3").value), -3);
  EXPECT_EQ(std::get<double>(parse_input_spec("s:float=1e-3").value), 1e-3);
  EXPECT_EQ(std::get<bool>(parse_input_spec("flag:bool=true").value), true);
  EXPECT_EQ(std::get<bool>(parse_input_spec("bool=False").value), false);
  EXPECT_EQ(std::get<std::string>(parse_input_spec("mode:str=a:b[0]").value), "a:b[0]");
  EXPECT_TRUE(std::holds_alternative<InputSpec::None>(parse_input_spec("mask:none").value));
}

TEST(InputSpec, ErrorsShowThePlace) {
  const auto error = [](const char* text) {
    try {
      parse_input_spec(text);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(error("x:flaot32[1]"), "--input: no such dtype; `float32` is near\n  x:flaot32[1]\n    ^");
  EXPECT_EQ(
      error("x:float32[1,b-c]"),
      "--input: expected a size, a word for a dynamic dim, or `?`\n  x:float32[1,b-c]\n              ^");
  EXPECT_THAT(error("x:float32[1"), HasSubstr("not closed"));
  EXPECT_THAT(error("[1]f32"), HasSubstr("nothing can follow the shape"));
  EXPECT_THAT(error("[1,]"), HasSubstr("expected a size"));
  EXPECT_THAT(error("[-2]"), HasSubstr("cannot be negative"));
  EXPECT_THAT(error("x:"), HasSubstr("expected a shape"));
  EXPECT_THAT(error(":[1]"), HasSubstr("the name before `:` is missing"));
  EXPECT_THAT(error("k:int=x"), HasSubstr("expected an integer"));
  EXPECT_THAT(error("k:bool=2"), HasSubstr("`true` or `false`"));
  EXPECT_THAT(error("k:long=2"), HasSubstr("int=3"));
}

}  // namespace
}  // namespace pt2onnx
