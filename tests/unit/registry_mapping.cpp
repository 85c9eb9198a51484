// Mapping files: what is read, and what is refused with which words at which place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/mapping_text.h"
#include "emitter/emitter.h"
#include "emitter/mapping_file.h"
#include "frontend/frontend.h"
#include "registry/mapping.h"

namespace pt2onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<Mapping> read(std::string_view text) {
  auto mappings = parse_mappings(text, "my.onnxtxt");
  for (Mapping& mapping : mappings) check_mapping(mapping, onnx_catalog());
  return mappings;
}

/// What is said of a wrong text; empty when it is read.
std::string refusal(std::string_view text) {
  try {
    read(text);
    return {};
  } catch (const MappingError& e) {
    return e.what();
  }
}

/// Whether the only mapping of a text fits an operator of libtorch, else why not.
std::string misfit(std::string_view text, std::string_view op, std::string_view overload = {}) {
  const auto mappings = read(text);
  const auto schema = torch_folder()->schema(op, overload);
  std::string why;
  return bind_mapping(mappings.at(0), *schema, why) ? std::string() : why;
}

constexpr std::string_view kWhole = R"(# two functions
<domain: "mylib", opset_import: ["" : 13, "com.microsoft" : 1, "pt2onnx.until" : 19], overload: "Tensor">
first <alpha: float = 0.5, mode: string = "a\"b", dims: ints = [1, 2], k> (float[N, 3] x, "odd name") => (float[N, 3] y, z)
<int64[2] shape>
{
  shape = Constant <value = int64[2] {3, -1}> ()
  a = LeakyRelu <alpha: float = @alpha> (x)
  c = Cast <to = 1> (a)
  flat = Reshape (c, shape)
  y = com.microsoft.Gelu (a)
  s = ReduceSum <keepdims = @k> (flat)
  z = If ("odd name") <
    then_branch = g1 () => (float w) <float one = {1.0}> { w = Add (s, one) },
    else_branch = g2 () => (float w) { w = Identity (s) }
  >
}
<domain: "mylib"> second (x) => (y) { y = Identity(x) }
)";

TEST(MappingFile, ReadsAllPartsOfAFunction) {
  const auto mappings = read(kWhole);
  ASSERT_EQ(mappings.size(), 2U);
  const Mapping& first = mappings[0];
  EXPECT_EQ(first.name(), "mylib::first.Tensor");
  EXPECT_EQ(first.since, 13);
  EXPECT_EQ(first.until, 19);
  EXPECT_THAT(first.domains, ElementsAre(std::pair<const std::string, int>{"com.microsoft", 1}));
  EXPECT_EQ(first.place.str(), "my.onnxtxt:2:1");
  EXPECT_THAT(first.body.inputs, ElementsAre("x", "odd name"));
  EXPECT_THAT(first.body.outputs, ElementsAre("y", "z"));
  ASSERT_EQ(first.attributes.size(), 4U);
  EXPECT_EQ(first.attributes[0].name, "k");
  EXPECT_EQ(first.attributes[0].kind, OpAttribute::Kind::Int) << "from its use";
  EXPECT_FALSE(first.attributes[0].value);
  EXPECT_EQ(std::get<double>(*first.attributes[1].value), 0.5);
  EXPECT_EQ(std::get<std::string>(*first.attributes[2].value), "a\"b");
  EXPECT_EQ(first.body.types.at("x").dtype, DType::Float32);
  EXPECT_EQ(to_string(*first.body.types.at("x").shape), "[N, 3]");
  ASSERT_EQ(first.body.nodes.size(), 7U);
  EXPECT_EQ(first.body.nodes[4].domain, "com.microsoft");
  EXPECT_EQ(first.body.nodes[4].place.str(), "my.onnxtxt:10:7");
  EXPECT_EQ(first.body.nodes[6].place.str(), "my.onnxtxt:12:7");
  const auto& shape = std::get<Tensor>(*first.body.nodes[0].attributes[0].value);
  EXPECT_THAT(shape.to_ints(), ElementsAre(3, -1));
  const MappingBody& then_branch = *first.body.nodes[6].attributes[0].body;
  EXPECT_EQ(then_branch.constants.at(0).second.to_doubles(), std::vector<double>{1.0});

  EXPECT_EQ(mappings[1].name(), "mylib::second");
  EXPECT_EQ(mappings[1].since, kMinOpset);
  EXPECT_FALSE(mappings[1].until);
}

TEST(MappingFile, ConstantsOfEveryType) {
  const auto constant = [](const std::string& text) {
    const auto mappings = read("<domain: \"d\"> f (x) => (y) { y = Constant <value = " + text + "> () }");
    return std::get<Tensor>(*mappings.at(0).body.nodes.at(0).attributes.at(0).value);
  };
  EXPECT_EQ(constant("double[2] {1.5, -2}").to_doubles(), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(constant("int32[1,2] {1, -2}").dims, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(constant("uint8[2] {1, 255}").to_ints(), (std::vector<std::int64_t>{1, 255}));
  EXPECT_EQ(constant("bool[2] {1, 0}").to_ints(), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(constant("float16[1] {15360}").to_doubles(), std::vector<double>{1.0}) << "the parser takes bits";
  EXPECT_EQ(constant("uint64[1] {7}").to_ints(), std::vector<std::int64_t>{7});
  EXPECT_EQ(constant("string[2] {\"a\", \"bc\"}").dtype, DType::String);
  EXPECT_EQ(constant("float {2.0}").dims, std::vector<std::int64_t>{});
}

struct Wrong {
  const char* text;
  const char* place;
  const char* words;
};

TEST(MappingFile, SaysWhatIsWrongAndWhere) {
  const Wrong cases[] = {
      {"", "my.onnxtxt:1:1: ", "no function"},
      {"# only a comment", "my.onnxtxt:1:17: ", "no function"},
      {"<domain: \"d\">\nf (x) => (y) {\n  y = Relu(x\n}",
       "my.onnxtxt:4:1: ", "syntax error: Expected character )"},
      {"f (x) => (y) { y = Relu(x) }", "my.onnxtxt:1:1: ", "no domain"},
      {"<domain: \"d\", ir_version: 8> f (x) => (y) { y = Relu(x) }", "my.onnxtxt:1:", "syntax error"},
      {"<domain: \"d\"> f (x) => (y) {\n y = Sigmod(x) }",
       "my.onnxtxt:2:6: ", "ONNX has no operator `Sigmod`; near: Sigmoid"},
      {"<domain: \"d\", opset_import: [\"\" : 13]> f (x) => (y) {\n\n y = Gelu(x) }",
       "my.onnxtxt:3:6: ", "ONNX has `Gelu` from opset 20 on, not at 13"},
      {"<domain: \"d\"> f (x) => (y) { y = Relu(x, x) }",
       "my.onnxtxt:1:34: ", "`Relu` takes 1 inputs, not 2"},
      {"<domain: \"d\"> f (x) => (y, z) { y, z = Relu(x) }",
       "my.onnxtxt:1:40: ", "`Relu` gives 1 outputs, not 2"},
      {"<domain: \"d\"> f (x) => (y) { y = Elu <alfa = 1.0> (x) }",
       "my.onnxtxt:1:34: ", "`Elu` has no attribute `alfa` at opset 9; it has alpha"},
      {"<domain: \"d\"> f (x) => (y) { y = Elu <alpha = 1> (x) }",
       "my.onnxtxt:1:34: ", "the attribute `alpha` of Elu is a float, not an int"},
      {"<domain: \"d\"> f (x) => (y) { y = Cast (x) }",
       "my.onnxtxt:1:34: ", "`Cast` needs the attribute `to`"},
      {"<domain: \"d\"> f (x) => (y) { y = Relu (z) }", "my.onnxtxt:1:34: ", "`z` is used before"},
      {"<domain: \"d\"> f (x) => (y) { z = Relu (x) }", "my.onnxtxt:1:1: ", "nothing defines the output `y`"},
      {"<domain: \"d\"> f (x) => (y) { y = Relu (x) y = Relu (x) }",
       "my.onnxtxt:1:47: ", "`y` is defined twice"},
      {"<domain: \"d\"> f (x, x) => (y) { y = Relu (x) }", "my.onnxtxt:1:1: ", "`x` is defined twice"},
      {"<domain: \"d\"> f (x) => () { y = Relu (x) }", "my.onnxtxt:1:1: ", "no output"},
      {"<domain: \"d\"> f <a> (x) => (y) { y = Elu <alpha = @b> (x) }",
       "my.onnxtxt:1:38: ", "`@b` is no attribute"},
      {"<domain: \"d\"> f <a: int = 1> (x) => (y) { y = Elu <alpha = @a> (x) }",
       "my.onnxtxt:1:47: ", "`@a` is an int, but the attribute `alpha` of Elu is a float"},
      {"<domain: \"d\"> f <a: int = 1.5> (x) => (y) { y = Elu (x) }",
       "my.onnxtxt:1:30: ", "syntax error: Mismatch between expected type"},
      {"<domain: \"d\"> f <a: floaty = 1.5> (x) => (y) { y = Elu (x) }", "my.onnxtxt:1:28: ", "syntax error"},
      {"<domain: \"d\"> f (x) => (y) { y = com.microsoft.Gelu (x) }", "my.onnxtxt:1:34: ",
       "the domain `com.microsoft` is not imported; write opset_import: [\"\" : 9, \"com.microsoft\" : 1]"},
      {"<domain: \"d\", opset_import: [\"\" : 999]> f (x) => (y) { y = Relu (x) }",
       "my.onnxtxt:1:1: ", "for opset 999 on"},
      {"<domain: \"d\", opset_import: [\"\" : 0]> f (x) => (y) { y = Relu (x) }",
       "my.onnxtxt:1:1: ", "out of range"},
      {"<domain: \"d\", opset_import: [\"\" : 9, \"ai.onnx\" : 9]> f (x) => (y) { y = Relu (x) }",
       "my.onnxtxt:1:1: ", "twice"},
      {"<domain: \"d\", opset_import: [\"\" : 13, \"pt2onnx.until\" : 12]> f (x) => (y) { y = Relu (x) }",
       "my.onnxtxt:1:1: ", "before its first"},
      {"<domain: \"d\"> f (x) => (y) { y = Relu (x) }\n<domain: \"d\"> f (x) => (y) { y = Elu (x) }",
       "my.onnxtxt:2:1: ", "for the second time; the first is at my.onnxtxt:1:1"},
      {"<domain: \"d\"> f (x) => (y) { y = Constant <value_int = 99999999999999999999> () }",
       "my.onnxtxt:1:", "out of range"},
      {"<domain: \"d\"> f (x) => (y) { y = Constant <value = float[2] {1.0}> () }",
       "my.onnxtxt:1:34: ", "of 2 elements is given 1"},
      {"<domain: \"d\"> f (x) => (y) { y = Constant <value = float[-2] {1.0}> () }",
       "my.onnxtxt:1:", "out of range"},
      {"<domain: \"d\"> f (x) => (y) { y = Constant <value = complex64[1] {1.0, 2.0}> () }",
       "my.onnxtxt:1:", ""},
      {"<domain: \"d\"> f (x) => (y) { y = Constant () }", "my.onnxtxt:1:34: ", "exactly one attribute"},
      {"<domain: \"d\"> f (map(int64, float) x) => (y) { y = Relu (x) }", "my.onnxtxt:1:1: ", "only tensors"},
  };
  for (const Wrong& wrong : cases) {
    const std::string said = refusal(wrong.text);
    EXPECT_THAT(said, StartsWith(wrong.place)) << wrong.text;
    EXPECT_THAT(said, HasSubstr(wrong.words)) << wrong.text;
  }
}

TEST(MappingFile, TextThatIsCutOrChangedAnywhereIsReadOrRefused) {
  const std::string text(kWhole);
  int refused = 0;
  for (std::size_t length = 0; length < text.size(); ++length)
    refused += !refusal(text.substr(0, length)).empty();
  EXPECT_GT(refused, static_cast<int>(text.size() / 2));
  const std::string marks = "<>(){}[]=@:,\"#.-9a\n";
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = marks[at % marks.size()];
    refusal(changed);
    changed.erase(at, 1);
    refusal(changed);
  }
}

TEST(MappingFile, DeepNestingIsRefused) {
  std::string type = "float";
  for (int i = 0; i < 100000; ++i) type = "seq(" + type;
  EXPECT_THAT(refusal("<domain: \"d\"> f (" + type), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(std::string("<domain: \"d\">\0 f", 16)), HasSubstr("no text file"));
}

TEST(MappingBindings, ByNameOrInOrder) {
  EXPECT_EQ(misfit("<domain: \"aten\"> add (a, b) => (y) { y = Add(a, b) }", "aten::add", "Tensor"), "");
  EXPECT_EQ(
      misfit("<domain: \"aten\"> add (other, self) => (y) { y = Add(other, self) }", "aten::add", "Tensor"),
      "");
  EXPECT_EQ(
      misfit("<domain: \"aten\"> add (self, other) => (y) { y = Add(self, other) }", "aten::add", "Scalar"),
      "")
      << "a number as input";
  EXPECT_EQ(
      misfit("<domain: \"aten\"> cat <dim: int = 0> (tensors) => (y) { y = Concat <axis = @dim> (tensors) }",
             "aten::cat"),
      "");
  EXPECT_EQ(misfit("<domain: \"aten\"> reshape (self, shape) => (y) { y = Reshape (self, shape) }",
                   "aten::reshape"),
            "");
}

TEST(MappingBindings, WhatDoesNotFitIsSaid) {
  const auto add = [](const std::string& rest) {
    return misfit("<domain: \"aten\"> add " + rest, "aten::add", "Tensor");
  };
  EXPECT_EQ(add("(a) => (y) { y = Relu(a) }"), "it has 2 tensor arguments, the function 1 inputs");
  EXPECT_EQ(add("(a, b, c) => (y) { y = Sum(a, b, c) }"), "it has 2 tensor arguments, the function 3 inputs");
  EXPECT_THAT(add("(self, b) => (y) { y = Add(self, b) }"), HasSubstr("and `b` has not"));
  EXPECT_EQ(add("(self) => (y) { y = Relu(self) }"),
            "the function leaves out its argument `other`; take it as an input");
  EXPECT_EQ(add("<alhpa: float = 1.0> (a, b) => (y) { y = Add(a, b) }"),
            "it has no argument `alhpa` (near: alpha)");
  EXPECT_THAT(add("<alpha: string = \"x\"> (a, b) => (y) { y = Add(a, b) }"),
              HasSubstr("cannot be an attribute of type string"));
  EXPECT_THAT(add("<alpha: floats = [1.0]> (a, b) => (y) { y = Add(a, b) }"),
              HasSubstr("cannot be an attribute of type floats"));
  EXPECT_EQ(add("(a, b) => (y, z) { y = Add(a, b) z = Relu(y) }"),
            "it gives 1 results, the function has 2 outputs");
  EXPECT_EQ(add("<other: float = 1.0> (self, other) => (y) { y = Add(self, other) }"),
            "its argument `other` is bound twice");
  EXPECT_EQ(misfit("<domain: \"aten\"> cumsum (x) => (y) { y = Identity(x) }", "aten::cumsum"),
            "the function leaves out its argument `dim`; take it as an attribute (or an input of that name)");
}

TEST(MappingAdvice, WhatADiagnosisPrintsIsReadAndFits) {
  const auto folder = torch_folder();
  const Registry empty;
  const AdviceContext context{empty, onnx_catalog(), kDefaultOpset, "custom"};
  int one_to_one = 0;
  for (const std::string op :
       {"aten::asinh", "aten::elu", "aten::gelu", "aten::softmax", "aten::matmul", "aten::det",
        "aten::cumsum", "aten::hardswish", "aten::round", "aten::log_softmax", "aten::argmax"}) {
    const auto schema = folder->schema(op, "");
    ASSERT_TRUE(schema) << op;
    const auto words = onnx_words_for(op, *schema, onnx_catalog());
    ASSERT_FALSE(words.empty()) << op;
    if (!words.front().one_to_one) continue;
    ++one_to_one;
    const std::string text = mapping_text(op, schema.get(), &words.front(), context);
    EXPECT_EQ(refusal(text), "") << text;
    EXPECT_EQ(misfit(text, op), "") << text;
  }
  EXPECT_GT(one_to_one, 4);
}

}  // namespace
}  // namespace pt2onnx
