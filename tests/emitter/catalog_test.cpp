#include <gmock/gmock.h>

#include <algorithm>

#include "emitter/emitter.h"

namespace pt2onnx {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Catalog, FindsTheFormOfAnOpset) {
  const OpCatalog& catalog = onnx_catalog();
  const OpSignature* at12 = catalog.find("", "Squeeze", 12);
  const OpSignature* at13 = catalog.find("", "Squeeze", 13);
  ASSERT_NE(at12, nullptr);
  ASSERT_NE(at13, nullptr);
  EXPECT_EQ(at12->since, 11);
  EXPECT_EQ(at12->inputs.size(), 1u);
  EXPECT_EQ(at13->since, 13);
  ASSERT_EQ(at13->inputs.size(), 2u);
  EXPECT_EQ(at13->inputs[1].name, "axes");
  EXPECT_TRUE(at13->inputs[1].optional);
  EXPECT_THAT(at13->inputs[1].dtypes, ElementsAre(DType::Int64));
  EXPECT_EQ(at13->inputs[1].type_variable, "");
  EXPECT_EQ(catalog.find("", "Squeeze", 12), at12);  // found once, kept
}

TEST(Catalog, KnowsTypesAndAttributes) {
  const OpSignature* conv = onnx_catalog().find("", "Conv", 18);
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->inputs[0].type_variable, "T");
  EXPECT_EQ(conv->outputs[0].type_variable, "T");
  EXPECT_THAT(conv->inputs[0].dtypes, ElementsAre(DType::Float32, DType::Float64, DType::Float16));
  EXPECT_TRUE(conv->inputs[2].optional);

  const auto group = std::ranges::find(conv->attributes, "group", &OpAttribute::name);
  ASSERT_NE(group, conv->attributes.end());
  EXPECT_EQ(group->kind, OpAttribute::Kind::Int);
  EXPECT_FALSE(group->required);

  const OpSignature* concat = onnx_catalog().find("", "Concat", 13);
  ASSERT_NE(concat, nullptr);
  EXPECT_TRUE(concat->inputs[0].variadic);
  EXPECT_TRUE(concat->attributes[0].required);
  EXPECT_THAT(concat->inputs[0].dtypes, Contains(DType::Complex64));

  const OpSignature* loop = onnx_catalog().find("", "Loop", 16);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->inputs[2].type_variable, "");  // what a loop carries may be of many types
  EXPECT_EQ(loop->attributes[0].kind, OpAttribute::Kind::Graph);
}

TEST(Catalog, AnswersNullForWhatIsNotThere) {
  const OpCatalog& catalog = onnx_catalog();
  EXPECT_EQ(catalog.find("", "NoSuchThing", 20), nullptr);
  EXPECT_EQ(catalog.find("", "Gelu", 19), nullptr);
  EXPECT_NE(catalog.find("", "Gelu", 20), nullptr);
  EXPECT_NE(catalog.find("", "Upsample", 9), nullptr);
  EXPECT_EQ(catalog.find("", "Upsample", 10), nullptr);  // deprecated
  EXPECT_EQ(catalog.find("custom", "Conv", 20), nullptr);
  EXPECT_NE(catalog.find("ai.onnx.ml", "Scaler", 1), nullptr);
}

TEST(Catalog, KnowsWhenAnOperatorCame) {
  EXPECT_EQ(onnx_catalog().since("Gelu"), 20);
  EXPECT_EQ(onnx_catalog().since("Attention"), 23);
  EXPECT_EQ(onnx_catalog().since("Conv"), 1);
  EXPECT_EQ(onnx_catalog().since("NoSuchThing"), std::nullopt);
  EXPECT_GE(onnx_catalog().newest_opset(), 28);
}

}  // namespace
}  // namespace pt2onnx
