#include "diagnosis/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "diagnosis/kernel_contract.h"

namespace pt2onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A handful of operators in place of the onnx library.
class SmallCatalog final : public OpCatalog {
 public:
  SmallCatalog() {
    add("Asinh", 9, {"input"});
    add("Gelu", 20, {"X"});
    add("Det", 11, {"X"});
    add("GroupNormalization", 18, {"X", "scale", "bias"}, {{"num_groups", OpAttribute::Kind::Int, true}});
    add("Attention", 23, {"Q", "K", "V"});
    add("LinearAttention", 27, {"Q", "K", "V"});
    add("AveragePool", 7, {"X"}, {{"kernel_shape", OpAttribute::Kind::Ints, true}});
    add("NonMaxSuppression", 10, {"boxes", "scores"});
  }
  const OpSignature* find(std::string_view, std::string_view op, int opset) const override {
    const auto it = ops_.find(std::string(op));
    return it == ops_.end() || it->second.since > opset ? nullptr : &it->second;
  }
  std::optional<int> since(std::string_view op) const override {
    const auto it = ops_.find(std::string(op));
    return it == ops_.end() ? std::nullopt : std::optional(it->second.since);
  }
  const std::vector<std::string>& names() const override { return names_; }
  int newest_opset() const override { return 28; }
  std::vector<Inferred> infer(const Node&, int) const override { return {}; }

 private:
  void add(const std::string& name, int since, std::vector<std::string> inputs,
           std::vector<OpAttribute> attributes = {}) {
    OpSignature op;
    op.name = name;
    op.since = since;
    for (auto& input : inputs) op.inputs.push_back({std::move(input), {}, "T", false, false});
    op.outputs.push_back({"Y", {}, "T", false, false});
    op.attributes = std::move(attributes);
    ops_[name] = std::move(op);
    names_.push_back(name);
  }
  std::map<std::string, OpSignature> ops_;
  std::vector<std::string> names_;
};

program::TypeRef type(program::TypeKind kind) {
  auto t = std::make_shared<program::Type>();
  t->kind = kind;
  return t;
}

/// Tensors by name, then ints by name, one tensor as result.
program::Schema schema(const std::string& name, const std::vector<std::string>& tensors,
                       const std::vector<std::string>& ints = {}) {
  program::Schema s;
  s.name = name;
  for (const auto& tensor : tensors)
    s.arguments.push_back({tensor, type(program::TypeKind::Tensor), {}, false, false, {}});
  for (const auto& i : ints) s.arguments.push_back({i, type(program::TypeKind::Int), {}, false, false, {}});
  s.returns.push_back({"", type(program::TypeKind::Tensor), {}, false, false, {}});
  s.text = name + "(...) -> Tensor";
  return s;
}

Results nothing(Call&) { throw Rejection("not called here"); }

class AdviceTest : public ::testing::Test {
 protected:
  Advice advise(const program::Schema* s, const std::string& name, int opset = 20) {
    return advise_unmapped(name, "", s, {registry_, catalog_, opset, "custom"});
  }
  SmallCatalog catalog_;
  Registry registry_;
};

TEST_F(AdviceTest, CaseOneNamesTheOperatorAndPrintsTheMapping) {
  const auto s = schema("aten::asinh", {"self"});
  const Advice advice = advise(&s, "aten::asinh");
  EXPECT_EQ(advice.which, Case::DictionaryGap);
  EXPECT_THAT(advice.reason, HasSubstr("`Asinh` since opset 9"));
  EXPECT_THAT(
      advice.advice.front(),
      HasSubstr(R"(`<domain: "aten", opset_import: ["" : 9]> asinh (self) => (y) { y = Asinh (self) }`)"));
  EXPECT_THAT(advice.advice.back(), HasSubstr("`custom::asinh(self) -> Tensor`"));
}

TEST_F(AdviceTest, NamesAreComparedWithoutFamilyAndDims) {
  const auto det = schema("aten::linalg_det", {"A"});
  EXPECT_EQ(onnx_words_for("aten::linalg_det", det, catalog_).at(0).name, "Det");
  const auto norm = schema("aten::group_norm", {"input", "weight", "bias"}, {"num_groups"});
  EXPECT_EQ(onnx_words_for("aten::group_norm", norm, catalog_).at(0).name, "GroupNormalization");
  const auto pool = schema("aten::avg_pool2d", {"self"}, {"kernel_size"});
  EXPECT_EQ(onnx_words_for("aten::avg_pool2d", pool, catalog_).at(0).name, "AveragePool");
  const auto nms = schema("torchvision::nms", {"dets", "scores"});
  EXPECT_EQ(onnx_words_for("torchvision::nms", nms, catalog_).at(0).name, "NonMaxSuppression");
  const auto attention = schema("aten::scaled_dot_product_attention", {"query", "key", "value"});
  EXPECT_EQ(onnx_words_for("aten::scaled_dot_product_attention", attention, catalog_).at(0).name,
            "Attention");
}

TEST_F(AdviceTest, ASimilarNameIsNotEnough) {
  const auto linear = schema("quantized::linear", {"x"});
  EXPECT_THAT(onnx_words_for("quantized::linear", linear, catalog_), IsEmpty());
  const auto s = schema("aten::asinh", {"a", "b", "c"});  // more tensors than Asinh takes
  EXPECT_THAT(onnx_words_for("aten::asinh", s, catalog_), IsEmpty());
  EXPECT_EQ(advise(&s, "aten::asinh").which, Case::NoSuchWord);
}

TEST_F(AdviceTest, CaseTwoKeepsToWhatIsTrue) {
  const auto s = schema("aten::special_bessel_j0", {"self"});
  const Advice advice = advise(&s, "aten::special_bessel_j0");
  EXPECT_EQ(advice.which, Case::NoSuchWord);
  EXPECT_THAT(advice.reason, HasSubstr("up to opset 28"));
  EXPECT_THAT(advice.advice.back(), HasSubstr("--unsupported custom"));
}

TEST_F(AdviceTest, CaseThreeForOtherLibraries) {
  const auto s = schema("mylib::foo", {"x"}, {"k"});
  EXPECT_EQ(advise(&s, "mylib::foo").which, Case::UserOp);
  EXPECT_EQ(text_of(kernel_contract(s, "custom")), "custom::foo(x; k: int) -> Tensor");
  const Advice unknown = advise(nullptr, "mylib::foo");
  EXPECT_EQ(unknown.which, Case::UserOp);
  EXPECT_THAT(unknown.advice.front(), HasSubstr("--op-schema 'mylib::foo("));
}

TEST_F(AdviceTest, CaseFourFromTheRegistryOrFromOnnx) {
  registry_.add(Rule{"aten::foo", 18, nothing, "built-in"});
  const auto foo = schema("aten::foo", {"self"});
  const Advice mapped = advise(&foo, "aten::foo", 13);
  EXPECT_EQ(mapped.which, Case::OpsetTooLow);
  EXPECT_EQ(mapped.first_opset, 18);
  EXPECT_THAT(mapped.advice, ElementsAre(HasSubstr("--opset 18")));

  const auto gelu = schema("aten::gelu", {"self"});
  const Advice unmapped = advise(&gelu, "aten::gelu", 13);
  EXPECT_EQ(unmapped.which, Case::OpsetTooLow);
  EXPECT_EQ(unmapped.first_opset, 20);
}

}  // namespace
}  // namespace pt2onnx
