// Running the loaded module as the reference.
#include <gmock/gmock.h>

#include "frontend/frontend.h"
#include "support/torchscript.h"

namespace pt2onnx::testing {
namespace {

using program::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor floats(const std::vector<double>& values, std::vector<std::int64_t> dims) {
  return Tensor::of_doubles(values, std::move(dims), DType::Float32);
}

std::vector<double> numbers(const Literal& literal) { return std::get<Tensor>(literal.data).to_doubles(); }

const Tensor& buffer(const TorchModule& module, const std::string& name) {
  for (const auto& [key, value] : module.program().root->attributes)
    if (key == name) return std::get<Tensor>(value.data);
  throw std::out_of_range(name);
}

TEST(Run, StateIsAsAfterLoadingEachTime) {
  TorchScriptSnippet snippet;
  snippet.source =
      "def forward(self, x: Tensor):\n"
      "    self.count.add_(1)\n"         // in place
      "    self.last = self.last + x\n"  // by assignment
      "    self.log.append(3)\n"         // in a list
      "    return self.count + self.last + len(self.log)\n";
  snippet.buffers.emplace_back("count", floats({0}, {1}));
  snippet.buffers.emplace_back("last", floats({0}, {1}));
  auto type = std::make_shared<program::Type>();
  type->kind = program::TypeKind::Int;
  snippet.attributes.emplace_back(
      "log",
      Literal{std::make_shared<program::ListLiteral>(program::ListLiteral{type, {{std::int64_t{1}}}})});
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const std::vector<Literal> inputs{{floats({10}, {1})}};
  EXPECT_THAT(numbers(module->run(inputs)), ElementsAre(1 + 10 + 2));
  EXPECT_THAT(numbers(module->run(inputs)), ElementsAre(1 + 10 + 2));
  // The program shares the weights' memory with the module, and sees nothing of it either.
  EXPECT_THAT(buffer(*module, "count").to_doubles(), ElementsAre(0));
}

TEST(Run, ViewsOfOneStorageStayViews) {
  TorchScriptSnippet snippet;
  snippet.source = "def forward(self, x: Tensor):\n    self.a.add_(1)\n    return self.b + x\n";
  snippet.buffers.emplace_back("a", floats({1, 2}, {2}));
  snippet.ties.emplace_back("b", "a");
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const std::vector<Literal> inputs{{floats({0, 0}, {2})}};
  EXPECT_THAT(numbers(module->run(inputs)), ElementsAre(2, 3));
  EXPECT_THAT(numbers(module->run(inputs)), ElementsAre(2, 3));
}

TEST(Run, InputsStayAsTheyAre) {
  TorchScriptSnippet snippet;
  snippet.source = "def forward(self, x: Tensor):\n    return x.add_(1)\n";
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const Tensor x = floats({1, 2}, {2});
  EXPECT_THAT(numbers(module->run(std::vector<Literal>{{x}})), ElementsAre(2, 3));
  EXPECT_THAT(x.to_doubles(), ElementsAre(1, 2));
}

TEST(Run, NestedInputsAndOutputs) {
  TorchScriptSnippet snippet;
  snippet.source =
      "def forward(self, xs: List[Tensor], scale: float, more: Dict[str, Tensor], none: "
      "Optional[Tensor]=None):\n"
      "    if none is not None:\n"
      "        return xs, {'sum': none}\n"
      "    return [x * scale for x in xs], {'sum': xs[0] + more['y']}\n";
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const Literal list{std::make_shared<program::ListLiteral>(
      program::ListLiteral{nullptr, {{floats({1}, {1})}, {floats({2}, {1})}}})};
  const Literal dict{std::make_shared<program::DictLiteral>(
      program::DictLiteral{nullptr, nullptr, {{Literal{std::string("y")}, Literal{floats({5}, {1})}}}})};
  const std::vector<Literal> inputs{list, {std::int64_t{3}}, dict};  // an int where a float is asked for
  const Literal result = module->run(inputs);
  const auto& tuple = std::get<std::shared_ptr<program::TupleLiteral>>(result.data);
  const auto& scaled = std::get<std::shared_ptr<program::ListLiteral>>(tuple->items[0].data);
  EXPECT_THAT(numbers(scaled->items[1]), ElementsAre(6));
  const auto& sums = std::get<std::shared_ptr<program::DictLiteral>>(tuple->items[1].data);
  EXPECT_EQ(std::get<std::string>(sums->items[0].first.data), "sum");
  EXPECT_THAT(numbers(sums->items[0].second), ElementsAre(6));
}

TEST(Run, FailuresAreInTheWordsOfTheCulprit) {
  TorchScriptSnippet snippet;
  snippet.source =
      "def forward(self, x: Tensor):\n"
      "    assert x.size(0) <= 2, 'too long: {}'.format(x.size(0))\n"
      "    return torch.mm(x, x)\n";
  const TemporaryModule file(snippet);
  const auto module = load_torchscript(file.path(), {});
  const auto run = [&](Tensor x) { return [&module, x] { module->run(std::vector<Literal>{{x}}); }; };
  EXPECT_THAT(run(floats({1, 2, 3}, {3})),
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("too long: 3")));
  EXPECT_THAT(run(floats({1, 2}, {2})),
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("must be a matrix")));
  EXPECT_THAT([&] { module->run(std::vector<Literal>{}); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("'x'")));
  EXPECT_THAT([&] { module->run(std::vector<Literal>{{}, {}, {}}); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("more inputs than")));
}

// ---- torchvision's operators, without torchvision -----------------------------------------------------------------

TEST(VisionOperators, SuppressionKeepsTheBestOfOverlappingBoxes) {
  const auto folder = torch_folder();
  const auto schema = folder->schema("torchvision::nms", "");
  ASSERT_NE(schema, nullptr);
  const Literal boxes{floats({0, 0, 10, 10, 1, 1, 10, 10, 20, 20, 30, 30}, {3, 4})};
  const Literal scores{floats({0.5, 0.9, 0.1}, {3})};
  const auto kept = folder->evaluate(*schema, std::vector<Literal>{boxes, scores, {0.5}});
  ASSERT_TRUE(kept.ok()) << kept.error;
  EXPECT_THAT(std::get<Tensor>(kept.values[0].data).to_ints(), ElementsAre(1, 2));
  const auto all = folder->evaluate(*schema, std::vector<Literal>{boxes, scores, {0.9}});
  EXPECT_THAT(std::get<Tensor>(all.values[0].data).to_ints(), ElementsAre(1, 0, 2));
}

TEST(VisionOperators, RegionsOfAnImage) {
  const auto folder = torch_folder();
  const Literal image{floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 1, 4, 4})};
  const Literal roi{floats({0, 0, 0, 3, 3}, {1, 5})};
  const std::vector<Literal> common{image, roi, {1.0}, {std::int64_t{2}}, {std::int64_t{2}}};

  const auto pooled = folder->evaluate(*folder->schema("torchvision::roi_pool", ""), common);
  ASSERT_TRUE(pooled.ok()) << pooled.error;
  EXPECT_THAT(numbers(pooled.values[0]), ElementsAre(5, 7, 13, 15));
  EXPECT_THAT(std::get<Tensor>(pooled.values[1].data).to_ints(), ElementsAre(5, 7, 13, 15));

  std::vector<Literal> with_ratio = common;
  with_ratio.emplace_back(Literal{std::int64_t{1}});
  with_ratio.emplace_back(Literal{false});
  const auto aligned = folder->evaluate(*folder->schema("torchvision::roi_align", ""), with_ratio);
  ASSERT_TRUE(aligned.ok()) << aligned.error;
  EXPECT_THAT(numbers(aligned.values[0]),
              ElementsAre(3.75, 5.25, 9.75, 11.25));  // the value at each bin's middle
}

TEST(VisionOperators, DeformedConvolutionWithoutOffsetsIsAConvolution) {
  const auto folder = torch_folder();
  const Literal x{floats({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3})};
  const Literal w{floats({1, 0, 0, 1}, {1, 1, 2, 2})};
  const Literal offset{floats(std::vector<double>(32, 0.0), {1, 8, 2, 2})};
  const Literal mask{floats(std::vector<double>(16, 0.5), {1, 4, 2, 2})};
  const Literal one{std::int64_t{1}}, zero{std::int64_t{0}};
  const auto result = folder->evaluate(
      *folder->schema("torchvision::deform_conv2d", ""),
      std::vector<Literal>{
          x, w, offset, mask, {floats({10}, {1})}, one, one, zero, zero, one, one, one, one, {true}});
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_THAT(numbers(result.values[0]), ElementsAre(13, 14, 16, 17));  // 10 + half of (1 + 5), ...
}

}  // namespace
}  // namespace pt2onnx::testing
