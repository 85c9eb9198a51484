// Operators evaluated on known values by libtorch's kernels.
#include <gmock/gmock.h>

#include "frontend/frontend.h"

namespace pt2onnx::testing {
namespace {

using program::Literal;
using program::TypeKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FolderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { folder_ = torch_folder(); }
  static void TearDownTestSuite() { folder_.reset(); }

  static Folder::Result run(const std::string& name, const std::string& overload,
                            const std::vector<Literal>& arguments) {
    const auto schema = folder_->schema(name, overload);
    if (!schema) return {{}, "no schema"};
    return folder_->evaluate(*schema, arguments);
  }
  static Folder::Result types(const std::string& name, const std::string& overload,
                              const std::vector<Literal>& arguments) {
    const auto schema = folder_->schema(name, overload);
    if (!schema) return {{}, "no schema"};
    return folder_->evaluate_types(*schema, arguments);
  }

  static Literal list(TypeKind kind, std::vector<Literal> items) {
    auto type = std::make_shared<program::Type>();
    type->kind = kind;
    return {std::make_shared<program::ListLiteral>(program::ListLiteral{std::move(type), std::move(items)})};
  }
  static Literal ints(const std::vector<std::int64_t>& values) {
    std::vector<Literal> items;
    for (const std::int64_t value : values) items.push_back({value});
    return list(TypeKind::Int, std::move(items));
  }
  static Literal floats(const std::vector<double>& values, std::vector<std::int64_t> dims) {
    return {Tensor::of_doubles(values, std::move(dims), DType::Float32)};
  }
  static Literal integer(std::int64_t value) { return {value}; }

  static inline std::unique_ptr<Folder> folder_;
};

const Tensor& tensor(const Folder::Result& result, std::size_t index = 0) {
  EXPECT_TRUE(result.ok()) << result.error;
  return std::get<Tensor>(result.values.at(index).data);
}

TEST_F(FolderTest, PythonsOwnOperators) {
  EXPECT_EQ(std::get<std::int64_t>(run("aten::add", "int", {integer(2), integer(3)}).values.at(0).data), 5);
  EXPECT_EQ(std::get<std::int64_t>(run("aten::floordiv", "int", {integer(-7), integer(2)}).values.at(0).data),
            -4);
  EXPECT_EQ(std::get<double>(run("aten::div", "int", {integer(7), integer(2)}).values.at(0).data), 3.5);
  EXPECT_EQ(std::get<std::int64_t>(run("aten::len", "t", {ints({1, 2, 3})}).values.at(0).data), 3);
  EXPECT_EQ(
      std::get<bool>(run("aten::__contains__", "int_list", {ints({1, 2}), integer(2)}).values.at(0).data),
      true);
  EXPECT_EQ(std::get<std::string>(run("aten::upper", "", {{std::string("ab")}}).values.at(0).data), "AB");
}

TEST_F(FolderTest, VariadicOperators) {
  const auto result = run("aten::format", "", {{std::string("{} of {}")}, integer(2), {std::string("x")}});
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(std::get<std::string>(result.values.at(0).data), "2 of x");
}

TEST_F(FolderTest, TensorsAndDefaults) {
  const Literal x = floats({1, 2, 3, 4}, {2, 2});
  const Tensor sum = tensor(run("aten::add", "Tensor", {x, x}));  // alpha is left out
  EXPECT_THAT(sum.to_doubles(), ElementsAre(2, 4, 6, 8));
  // The result owns its memory, and is in row-major order however torch computed it.
  EXPECT_THAT(tensor(run("aten::t", "", {x})).to_doubles(), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(tensor(run("aten::expand", "", {floats({7}, {1, 1}), ints({2, 2})})).to_doubles(),
              ElementsAre(7, 7, 7, 7));
}

TEST_F(FolderTest, OneNumberStandsForAList) {
  const Literal x = floats({1, 2, 3, 4}, {1, 1, 2, 2});
  EXPECT_THAT(tensor(run("aten::max_pool2d", "", {x, integer(2)})).to_doubles(), ElementsAre(4));
}

TEST_F(FolderTest, SeveralResultsAndLists) {
  const auto result = run("aten::max", "dim", {floats({1, 5, 3}, {3}), integer(0)});
  EXPECT_THAT(tensor(result, 0).to_doubles(), ElementsAre(5));
  EXPECT_THAT(tensor(result, 1).to_ints(), ElementsAre(1));
  const auto parts = run("aten::split", "Tensor", {floats({1, 2, 3}, {3}), integer(2)});
  ASSERT_TRUE(parts.ok()) << parts.error;
  EXPECT_EQ(std::get<std::shared_ptr<program::ListLiteral>>(parts.values.at(0).data)->items.size(), 2U);
}

TEST_F(FolderTest, OptionalTensorsAndGenericLists) {
  const Literal index{Tensor::of_ints(std::vector<std::int64_t>{2, 0}, {2})};
  const Literal picked = list(TypeKind::Optional, {{}, index});
  EXPECT_THAT(tensor(run("aten::index", "Tensor", {floats({1, 2, 3}, {1, 3}), picked})).to_doubles(),
              ElementsAre(3, 1));
  EXPECT_THAT(tensor(run("aten::cat", "", {list(TypeKind::Tensor, {floats({1}, {1}), floats({2}, {1})})}))
                  .to_doubles(),
              ElementsAre(1, 2));
  const auto reversed = run("aten::list", "t", {ints({4, 5})});
  ASSERT_TRUE(reversed.ok()) << reversed.error;
  EXPECT_EQ(std::get<std::shared_ptr<program::ListLiteral>>(reversed.values.at(0).data)->element->kind,
            TypeKind::Int);
}

TEST_F(FolderTest, DevicesElsewhereAreTheCpu) {
  const Literal cuda{program::DeviceLiteral{"cuda:0"}};
  const Tensor made = tensor(run("aten::full", "", {ints({2}), integer(3), {}, {}, cuda}));
  EXPECT_THAT(made.to_doubles(), ElementsAre(3, 3));
}

TEST_F(FolderTest, WhatIsRefusedSaysWhy) {
  const Literal x = floats({1, 2}, {2});
  EXPECT_THAT(run("aten::relu_", "", {x}).error, HasSubstr("writes into its arguments"));
  EXPECT_THAT(run("aten::add", "out", {x, x, integer(1), x}).error, HasSubstr("writes into its arguments"));
  EXPECT_THAT(run("aten::add", "Tensor", {x}).error, HasSubstr("`other` is missing"));
  EXPECT_THAT(run("aten::add", "Tensor", {x, floats({1, 2, 3}, {3})}).error, HasSubstr("must match"));
  const Literal object{std::make_shared<program::Object>(program::Object{"Net", "", true, {}})};
  EXPECT_THAT(run("aten::relu", "", {object}).error, HasSubstr("object of class `Net`"));
  Tensor unknown;
  unknown.dims = {2};
  EXPECT_THAT(run("aten::relu", "", {{unknown}}).error, HasSubstr("not known"));
}

TEST_F(FolderTest, ArgumentsStayAsTheyAre) {
  const Literal mean = floats({0}, {1}), variance = floats({1}, {1}), x = floats({4, 8}, {2, 1});
  // In training mode torch updates the running statistics in place.
  const auto result =
      run("aten::batch_norm", "", {x, {}, {}, mean, variance, {true}, {0.1}, {1e-5}, {false}});
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_THAT(std::get<Tensor>(mean.data).to_doubles(), ElementsAre(0));
  EXPECT_THAT(std::get<Tensor>(variance.data).to_doubles(), ElementsAre(1));
}

TEST_F(FolderTest, TypesWithoutComputing) {
  Tensor image;
  image.dims = {1 << 20, 1 << 20};  // far too large to compute with
  Tensor column;
  column.dims = {1 << 20, 1};
  const Tensor out = tensor(types("aten::mm", "", {{image}, {column}}));
  EXPECT_THAT(out.dims, ElementsAre(1 << 20, 1));
  EXPECT_TRUE(out.bytes.empty());
  EXPECT_EQ(tensor(types("aten::gt", "Scalar", {{image}, integer(0)})).dtype, DType::Bool);
  EXPECT_THAT(tensor(types("aten::zeros", "", {ints({2, 3})})).dims, ElementsAre(2, 3));
  EXPECT_FALSE(types("aten::nonzero", "", {{image}}).ok());  // its size depends on the elements
}

TEST_F(FolderTest, TakesCompositeOperatorsApart) {
  const auto schema = folder_->schema("aten::hinge_embedding_loss", "");
  EXPECT_TRUE(folder_->is_composite(*schema));
  EXPECT_FALSE(folder_->is_composite(*folder_->schema("aten::convolution", "")));
  EXPECT_FALSE(folder_->is_composite(*folder_->schema("torchvision::nms", "")));
  const std::vector<Literal> arguments{floats({1, 2}, {2}), floats({1, -1}, {2})};
  const auto steps = folder_->decompose(*schema, arguments);
  ASSERT_NE(steps.steps, nullptr) << steps.error;
  EXPECT_EQ(steps.steps->entry->parameters.size(), 2u);
  std::vector<std::string> names;
  for (const auto& op : steps.steps->operators) names.push_back(op->name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"aten::where", "aten::mean"}));
}

TEST_F(FolderTest, WhatLooksAtElementsIsNotTakenApart) {
  const auto schema = folder_->schema("aten::cov", "");
  const std::vector<Literal> arguments{floats({1, 2, 3, 4}, {2, 2})};
  EXPECT_THAT(folder_->decompose(*schema, arguments).error, HasSubstr("depends on elements"));
  EXPECT_THAT(folder_->decompose(*folder_->schema("aten::convolution", ""), arguments).error,
              HasSubstr("not compute it by other operators"));
}

TEST_F(FolderTest, Schemas) {
  const auto conv = folder_->schema("aten::conv2d", "");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->arguments[2].type->kind, TypeKind::Optional);
  ASSERT_TRUE(conv->arguments[6].default_value);
  EXPECT_EQ(std::get<std::int64_t>(conv->arguments[6].default_value->data), 1);

  const auto relu = folder_->schema("aten::relu_", "");
  ASSERT_TRUE(relu->arguments[0].alias);
  EXPECT_TRUE(relu->arguments[0].alias->is_write);
  EXPECT_THAT(relu->arguments[0].alias->sets, ElementsAre("a"));
  EXPECT_TRUE(folder_->schema("aten::add", "out")->arguments.back().is_out);
  EXPECT_TRUE(folder_->schema("aten::rand", "")->is_nondeterministic);
  EXPECT_FALSE(folder_->schema("aten::relu", "")->is_nondeterministic);

  EXPECT_TRUE(folder_->exists("aten::add", "Tensor"));
  EXPECT_FALSE(folder_->exists("aten::unbind", ""));
  ASSERT_NE(folder_->schema("aten::unbind", ""), nullptr);  // the first overload
  EXPECT_EQ(folder_->schema("aten::unbind", "NoSuch"), nullptr);
  EXPECT_EQ(folder_->schema("aten::no_such_operator", ""), nullptr);
  EXPECT_EQ(folder_->schema("nonsense", ""), nullptr);
  EXPECT_GT(folder_->overloads("aten::add").size(), 5U);
  EXPECT_NE(folder_->schema("torchvision::nms", ""), nullptr);  // known without torchvision
}

}  // namespace
}  // namespace pt2onnx::testing
