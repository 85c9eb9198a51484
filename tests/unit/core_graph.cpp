#include <gtest/gtest.h>

#include "pt2onnx/graph.h"

namespace pt2onnx {
namespace {

/// nullopt also for an attribute of another kind.
template <typename T>
std::optional<T> get(const Attributes& attributes, std::string_view name) {
  const Attribute* attribute = attributes.find(name);
  const T* value = attribute == nullptr ? nullptr : std::get_if<T>(attribute);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

TEST(Attributes, HoldsEachKind) {
  const Attributes a{{"axis", 1},
                     {"keep", true},
                     {"alpha", 0.5F},
                     {"mode", "constant"},
                     {"pads", std::vector<std::int64_t>{1, 2}},
                     {"value", Tensor::scalar(2.0, DType::Float32)},
                     {"body", std::make_shared<Graph>()}};
  EXPECT_EQ(get<std::int64_t>(a, "axis"), 1);
  EXPECT_EQ(get<std::int64_t>(a, "keep"), 1);
  EXPECT_EQ(get<double>(a, "alpha"), 0.5);
  EXPECT_EQ(get<std::string>(a, "mode"), "constant");
  EXPECT_EQ(get<std::vector<std::int64_t>>(a, "pads"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_TRUE(get<Tensor>(a, "value"));
  EXPECT_TRUE(get<std::shared_ptr<Graph>>(a, "body"));
  EXPECT_EQ(a.find("none"), nullptr);
}

TEST(Attributes, LeavesOutWhatHasNoValue) {
  const std::optional<std::vector<std::int64_t>> none;
  const std::optional<std::int64_t> some = 3;
  const Attributes a{{"kernel_shape", none}, {"group", some}};
  EXPECT_EQ(a.find("kernel_shape"), nullptr);
  EXPECT_EQ(get<std::int64_t>(a, "group"), 3);
  EXPECT_TRUE(Attributes{}.empty());
  EXPECT_TRUE((Attributes{{"kernel_shape", none}}).empty());
}

TEST(Attributes, SetReplacesInPlaceAndKeepsTheOrder) {
  Attributes a{{"x", 1}, {"y", 2}};
  a.set({"x", "one"});
  a.set({"z", 3});
  std::vector<std::string> names;
  for (const auto& [name, value] : a) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_TRUE(get<std::string>(a, "x"));
  a.set({"y", std::optional<std::int64_t>()});
  EXPECT_EQ(a.find("y"), nullptr);
}

TEST(Value, RankIsKnownWhenTheShapeIs) {
  ValueInfo info;
  const Value value(&info);
  EXPECT_EQ(value.rank(), std::nullopt);
  info.type.shape = Shape{Dim::symbol("n"), 3};
  EXPECT_EQ(value.rank(), 2U);
  info.type.shape = Shape{};
  EXPECT_EQ(value.rank(), 0U);
}

TEST(Value, IsAbsentByDefault) {
  EXPECT_FALSE(Value());
  ValueInfo info;
  EXPECT_TRUE(Value(&info));
  EXPECT_EQ(Value(&info), Value(&info));
  EXPECT_EQ(Value(&info).constant(), nullptr);
  info.constant = Tensor::scalar(1.0, DType::Float32);
  EXPECT_EQ(Value(&info).constant(), &*info.constant);
}

}  // namespace
}  // namespace pt2onnx
