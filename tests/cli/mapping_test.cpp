// --map: mappings of the user's, whole runs with libtorch and ONNX Runtime as judges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/run_cli.h"
#include "support/torchscript.h"

namespace pt2onnx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Strings = std::vector<std::string>;

TorchScriptSnippet forward(const std::string& source) {
  return {"def forward(self, x):\n    " + source + "\n", {}, {}, {}, {}, {}, false};
}

struct MapRun {
  CliResult export_;
  std::string shown;  // the model as text
};

MapRun run_map(const std::string& source, const std::string& mapping, Strings more = {}) {
  const TemporaryModule module(forward(source));
  const TemporaryFolder folder;
  const std::string map = folder.file("my.onnxtxt"), onnx = folder.file("m.onnx");
  std::ofstream(map) << mapping;
  Strings arguments{"export", module.path(), "-o", onnx, "--input", "x:float32[N,3]", "--map", map};
  arguments.insert(arguments.end(), more.begin(), more.end());
  MapRun run{run_cli(arguments), {}};
  if (run.export_.code == 0) run.shown = run_cli({"show", onnx}).out;
  return run;
}

const std::string kAdd =
    "<domain: \"aten\">\nadd <alpha> (self, other) => (y) {\n  a = Constant <value_float = @alpha> ()\n"
    "  scaled = Mul (other, a)\n  y = Add (self, scaled)\n}\n";

TEST(Map, OverridesABuiltInEntryAndIsVerified) {
  const auto run = run_map("return torch.add(x, x.exp(), alpha=3)", kAdd);
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.shown, AllOf(HasSubstr("Mul"), HasSubstr("{3}")));
}

TEST(Map, InPlaceFormsAndNumbersGoTheSameWay) {
  const auto run = run_map("y = x.clone()\n    y.add_(2, alpha=3)\n    return y", kAdd);
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.shown, HasSubstr("Mul"));
}

TEST(Map, ReplacesTheFormForComplexValuesToo) {
  const std::string source = "z = torch.complex(x, x)\n    return torch.view_as_real(z.exp())";
  const auto run = run_map(source, "<domain: \"aten\"> exp (x) => (y) { y = Exp (x) }");
  EXPECT_EQ(run.export_.code, 3) << "the built-in form must not pass for the user's";
  EXPECT_THAT(run.export_.out + run.export_.err, HasSubstr("takes or gives complex values"));
}

TEST(Map, OfTwoFilesTheLaterOneCounts) {
  const TemporaryFolder folder;
  const std::string later = folder.file("later.onnxtxt");
  std::ofstream(later) << "<domain: \"aten\", opset_import: [\"\" : 9]> exp (x) => (y) { y = Sin (x) }";
  const auto run = run_map("return x.exp()",
                           "<domain: \"aten\", opset_import: [\"\" : 11]> exp (x) => (y) { y = Cos (x) }",
                           {"--map", later, "--no-verify"});
  EXPECT_THAT(run.shown, HasSubstr("Sin"));
  const auto wrong = run_map("return x.exp()", "<domain: \"aten\"> exp (x) => (y) { y = Sin (x) }");
  EXPECT_EQ(wrong.export_.code, 5) << "a wrong mapping is found by verification";
}

TEST(Map, AnArgumentThatIsLeftOutMustHaveItsDefault) {
  const std::string map = "<domain: \"aten\"> add (self, other) => (y) { y = Add (self, other) }";
  EXPECT_EQ(run_map("return x + x.exp()", map).export_.code, 0);
  const auto run = run_map("return torch.add(x, x, alpha=3)", map);
  EXPECT_EQ(run.export_.code, 3);
  EXPECT_THAT(run.export_.out + run.export_.err, HasSubstr("the mapping leaves out `alpha`"));
}

TEST(Map, KeptFunctionsRunInOnnxRuntime) {
  const auto run = run_map("return torch.add(x, x.exp(), alpha=3) + x.sin()", kAdd, {"--keep-functions"});
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.shown,
              AllOf(HasSubstr("aten.add <alpha: float = 3> (x, "), HasSubstr("scaled = Mul (other, a)")));
}

TEST(Map, KeptFunctionsNeedAnOpsetThatCanSayThem) {
  const auto run =
      run_map("return torch.add(x, x.exp(), alpha=3)", kAdd, {"--keep-functions", "--opset", "11"});
  EXPECT_EQ(run.export_.code, 3);
  EXPECT_THAT(run.export_.out + run.export_.err, HasSubstr("--opset 12"));
}

TEST(Map, TheHighestOpsetThatFitsCounts) {
  const std::string map =
      "<domain: \"aten\", opset_import: [\"\" : 9]> gelu (x) => (y) { y = Relu (x) }\n"
      "<domain: \"aten\", opset_import: [\"\" : 14]> gelu (x) => (y) { y = Sigmoid (x) }\n"
      "<domain: \"aten\", opset_import: [\"\" : 20, \"pt2onnx.until\" : 20]> gelu (x) => (y) { y = Gelu (x) "
      "}\n";
  const auto at = [&](const std::string& opset) {
    return run_map("return torch.gelu(x)", map, {"--opset", opset, "--no-verify"});
  };
  EXPECT_THAT(at("13").shown, HasSubstr("Relu"));
  EXPECT_THAT(at("19").shown, HasSubstr("Sigmoid"));
  EXPECT_THAT(at("20").shown, HasSubstr("= Gelu"));
  EXPECT_THAT(at("21").shown, HasSubstr("Sigmoid")) << "the last one is for opset 20 alone";
  EXPECT_EQ(at("13").export_.err, "") << "functions for other opsets are no reason for a warning";
}

TEST(Map, AfterItsLastOpsetTheBuiltInEntryCounts) {
  const auto run = run_map("return torch.gelu(x)",
                           "<domain: \"aten\", opset_import: [\"\" : 9, \"pt2onnx.until\" : 19]> gelu (x) => "
                           "(y) { y = Relu (x) }");
  EXPECT_EQ(run.export_.code, 0);
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.export_.err, HasSubstr("it is for opset 9 to 19, the target is 20"));
}

TEST(Map, ABodyThatALaterOpsetRefusesIsRefusedInWords) {
  const auto run = run_map("return x.sum(1)",
                           "<domain: \"aten\", opset_import: [\"\" : 11], overload: \"dim_IntList\">\n"
                           "sum <dim, keepdim: int = 0> (self) => (y) {\n  y = ReduceSum <axes = @dim, "
                           "keepdims = @keepdim> (self) }");
  EXPECT_EQ(run.export_.code, 3);
  EXPECT_THAT(run.export_.out + run.export_.err,
              AllOf(HasSubstr("my.onnxtxt:3:7: `ReduceSum` has no attribute `axes` at opset 20"),
                    HasSubstr("add a function for opset 20")));
}

TEST(Map, ListsOfTensorsNumbersAndListsOfInts) {
  const std::string map =
      "<domain: \"aten\"> cat <dim> (tensors) => (y) { y = Concat <axis = @dim> (tensors) }\n"
      "<domain: \"aten\"> reshape (self, shape) => (y) { y = Reshape (self, shape) }\n"
      "<domain: \"aten\", overload: \"Scalar\"> mul (self, other) => (y) { y = Mul (other, self) }\n";
  const auto run =
      run_map("return torch.reshape(torch.cat([x, x.exp(), x], 1), [x.size(0), 3, -1]) * 2", map);
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_EQ(run.export_.err, "");
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
}

TEST(Map, WhatOnnxRefusesInTheEndIsNoDefect) {
  const auto recursive = run_map(
      "return x.exp()",
      "<domain: \"aten\", opset_import: [\"\" : 9, \"aten\" : 1]> exp (x) => (y) { y = aten.exp (x) }",
      {"--keep-functions"});
  EXPECT_EQ(recursive.export_.code, 2);
  EXPECT_THAT(recursive.export_.err,
              AllOf(HasSubstr("mapping"), HasSubstr("recursive"), Not(HasSubstr("defect"))));
  const auto unknown = run_map(
      "return x.exp()",
      "<domain: \"aten\", opset_import: [\"ai.onnx.ml\" : 3]> exp (x) => (y) { y = ai.onnx.ml.Scalerr (x) }");
  EXPECT_EQ(unknown.export_.code, 2);
  EXPECT_THAT(unknown.export_.err, HasSubstr("Scalerr"));
  const auto through =
      run_map("return x.exp()", "<domain: \"aten\"> exp (x) => (x) { }", {"--keep-functions"});
  EXPECT_EQ(through.export_.code, 3);
  EXPECT_THAT(through.export_.out + through.export_.err, HasSubstr("gives its input `x` as an output"));
}

TEST(Map, IntsAreSizesAndNoOperands) {
  const auto run = run_map("return torch.split(x, 2, 1)[0]",
                           "<domain: \"aten\", opset_import: [\"\" : 13], overload: \"Tensor\">\nsplit <dim: "
                           "int = 0> (self, split_size) => (y, z) {\n"
                           "  one = Constant <value_ints = [1]> ()\n  zero = Constant <value_ints = [0]> ()\n"
                           "  n = Unsqueeze (split_size, zero)\n  sizes = Concat <axis = 0> (n, one)\n"
                           "  y, z = Split <axis = @dim> (self, sizes)\n}");
  EXPECT_EQ(run.export_.code, 0) << run.export_.out << run.export_.err;
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
}

TEST(Map, ElementTypesAreGivenAsOnnxNumbersThem) {
  const auto run = run_map("return x.to(4)",
                           "<domain: \"aten\", overload: \"dtype\"> to <dtype, non_blocking: int = 0, copy: "
                           "int = 0> (self) => (y) "
                           "{ y = Cast <to = @dtype> (self) }");
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.out, AllOf(HasSubstr("verify   ok"), HasSubstr("output int64[N, 3]")));
}

TEST(Map, SeveralOutputsAndSubgraphs) {
  const auto run = run_map("v, i = torch.topk(x, 2)\n    return v, i, x.exp()",
                           "<domain: \"aten\", opset_import: [\"\" : 11]>\ntopk <k, dim: int = -1, largest: "
                           "int = 1, sorted: int = 1> (self) => (values, indices) {\n"
                           "  n = Constant <value_ints = [2]> ()\n  values, indices = TopK <axis = @dim, "
                           "largest = @largest, sorted = @sorted> (self, n)\n}\n"
                           "<domain: \"aten\", opset_import: [\"\" : 13]>\nexp (x) => (y) {\n"
                           "  yes = Constant <value = bool {1}> ()\n"
                           "  y = If (yes) <then_branch = t () => (float[N,3] a) { a = Exp (x) }, "
                           "else_branch = e () => (float[N,3] b) { b = Neg (x) }>\n}\n");
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.shown, HasSubstr("TopK"));
}

TEST(Map, AnOperatorOfOnnxRuntimeIsVerified) {
  const auto run = run_map("return torch.gelu(x) + 1",
                           "<domain: \"aten\", opset_import: [\"\" : 9, \"com.microsoft\" : 1]>\n"
                           "gelu (float[N, M] x) => (float[N, M] y) { y = com.microsoft.Gelu (x) }");
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_EQ(run.export_.err, "");
  EXPECT_THAT(run.export_.out, AllOf(HasSubstr("verify   ok"), HasSubstr("output float32[N, 3]")));
  EXPECT_THAT(run.shown, HasSubstr("com.microsoft.Gelu"));
}

TEST(Map, WithoutADeclarationTheTypeOfAnotherLibrarysOperatorIsAssumedAndSaid) {
  const auto run = run_map("return torch.gelu(x)",
                           "<domain: \"aten\", opset_import: [\"com.microsoft\" : 1]> gelu (x) => (y) { y = "
                           "com.microsoft.Gelu (x) }");
  EXPECT_EQ(run.export_.code, 0) << run.export_.err;
  EXPECT_THAT(run.export_.err, HasSubstr("nothing tells the type of `y` in the mapping"));
  EXPECT_THAT(run.export_.out, HasSubstr("verify   ok"));
}

TEST(Map, ADeclaredTypeHoldsForTheCall) {
  const auto run = run_map("return torch.gelu(x.double())",
                           "<domain: \"aten\"> gelu (float[N, M] x) => (y) { y = Relu (x) }");
  EXPECT_EQ(run.export_.code, 3);
  EXPECT_THAT(run.export_.out + run.export_.err,
              HasSubstr("declares `x` as float32, and it is float64 here"));
}

TEST(Map, AMappingThatNeverFiresIsSaid) {
  const auto run = run_map("return x + 1", "<domain: \"aten\"> exp (x) => (y) { y = Exp (x) }");
  EXPECT_EQ(run.export_.code, 0);
  EXPECT_THAT(run.export_.err, AllOf(HasSubstr("warning: "),
                                     HasSubstr("my.onnxtxt:1:1: the mapping of `aten::exp` was not used")));
}

TEST(Map, WhatIsWrongInTheFileIsAUsageError) {
  const std::pair<const char*, const char*> cases[] = {
      {"<domain: \"aten\"> exp (x) => (y) { y = Exp (x }", "my.onnxtxt:1:46: syntax error"},
      {"<domain: \"aten\"> expp (x) => (y) { y = Exp (x) }",
       "my.onnxtxt:1:1: libtorch has no operator `aten::expp`"},
      {"<domain: \"aten\"> exp (x, z) => (y) { y = Exp (x) }",
       "my.onnxtxt:1:1: the function does not fit `aten::exp(Tensor self) -> Tensor`: it has 1 tensor "
       "arguments, the function 2 inputs"},
      {"<domain: \"aten\", overload: \"Tensr\"> add (a, b) => (y) { y = Add (a, b) }",
       "`aten::add` has no overload `Tensr`; it has "},
      {"<domain: \"aten\"> elu <alpha: string = \"x\", scale, input_scale> (x) => (y) { y = Elu (x) }",
       "cannot be an attribute of type string"},
  };
  for (const auto& [mapping, words] : cases) {
    const auto run = run_map("return x.exp()", mapping).export_;
    EXPECT_EQ(run.code, 2) << mapping;
    EXPECT_THAT(run.err, AllOf(StartsWith("error: "), HasSubstr(words)));
    EXPECT_THAT(run.err, Not(HasSubstr("defect")));
  }
}

TEST(Map, AFileThatIsNotThereIsAUsageError) {
  for (const Strings& arguments : {Strings{"explain", "exp", "--map", "/nowhere.onnxtxt"},
                                   Strings{"ops", "--map", "/nowhere.onnxtxt"}}) {
    const auto run = run_cli(arguments);
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr("--map /nowhere.onnxtxt: no such file"));
  }
}

TEST(Map, LookupsKnowTheMapping) {
  const TemporaryFolder folder;
  const std::string map = folder.file("my.onnxtxt");
  std::ofstream(map) << "<domain: \"mylib\", opset_import: [\"\" : 18]> my_swish (x) => (y) { y = Relu (x) }";
  EXPECT_THAT(run_cli({"explain", "mylib::my_swish", "--map", map}).out,
              AllOf(HasSubstr("mapped"), HasSubstr(map)));
  EXPECT_THAT(run_cli({"explain", "mylib::my_swish", "--map", map, "--opset", "17"}).out,
              HasSubstr("later-opset"));
  EXPECT_THAT(run_cli({"ops", "swish", "--map", map}).out, HasSubstr("mylib::my_swish"));
}

}  // namespace
}  // namespace pt2onnx::testing
