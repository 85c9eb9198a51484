// pt2onnx export and verify, as transcripts and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/run_cli.h"
#include "support/torchscript.h"
#include "support/zip_archive.h"

namespace pt2onnx::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Strings = std::vector<std::string>;

const TorchScriptSnippet kAddOne{"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false};

/// Three operators that no version of ONNX has and that nothing composes.
const TorchScriptSnippet kUnmapped{
    "def forward(self, x):\n"
    "    a = torch._standard_gamma_grad(x, x)\n"
    "    b = torch._standard_gamma_grad(x, x)\n"
    "    c = torch._dirichlet_grad(x, x, x)\n"
    "    d = torch.hardswish_backward(x, x)\n"
    "    return a, b, c, d\n",
    {},
    {},
    {},
    {},
    {},
    false};

Tensor floats(std::vector<double> values, std::vector<std::int64_t> dims) {
  return Tensor::of_doubles(values, std::move(dims), DType::Float32);
}

TEST(Export, TranscriptOfAnOrdinaryRun) {
  const TemporaryModule module(kAddOne);
  const TemporaryFolder folder;
  const auto run =
      run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "x:float32[N,3]"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, module.path() + " -> " + folder.file("m.onnx") +
                         "\n"
                         "  opset    20, 1 node\n"
                         "  inputs   x float32[N, 3]\n"
                         "  outputs  output float32[N, 3]\n"
                         "  check    ok\n"
                         "  verify   ok: ONNX Runtime agrees with libtorch\n"
                         "    output               max abs 0, max rel 0\n"
                         "    run with x float32[2,3]\n"
                         "    run with x float32[3,3]\n");
  EXPECT_TRUE(std::filesystem::exists(folder.file("m.onnx")));
}

TEST(Export, DefaultOutputIsBesideTheInput) {
  const TemporaryModule module(kAddOne);
  const std::string expected = std::filesystem::path(module.path()).replace_extension(".onnx").string();
  const auto run = run_cli({"export", module.path(), "--input", "[2]", "-q"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(std::filesystem::exists(expected));
  std::filesystem::remove(expected);
}

TEST(Export, JsonIsOneDocumentWithTheDocumentedMembers) {
  const TemporaryModule module(kAddOne);
  const TemporaryFolder folder;
  const auto run =
      run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[N,3]", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto document = run.json();
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["input"], module.path());
  EXPECT_EQ(document["output"], folder.file("m.onnx"));
  EXPECT_EQ(document["opset"], 20);
  EXPECT_EQ(document["nodes"], 1);
  EXPECT_EQ(document["inputs"], nlohmann::json::parse(R"([{"name":"x","dtype":"float32","shape":["N",3]}])"));
  EXPECT_EQ(document["outputs"][0]["shape"], nlohmann::json::parse(R"(["N",3])"));
  EXPECT_EQ(document["stages"],
            nlohmann::json::parse(R"({"load":"ok","translate":"ok","check":"ok","verify":"ok"})"));
  EXPECT_EQ(document["findings"], nlohmann::json::array());
  EXPECT_EQ(document["verify"]["passed"], true);
  EXPECT_EQ(document["verify"]["outputs"][0]["name"], "output");
  EXPECT_EQ(document["verify"]["outputs"][0]["max_abs"], 0.0);
}

TEST(Export, EveryUnmappedOperatorIsReportedInOneRun) {
  const TemporaryModule module(kUnmapped);
  const TemporaryFolder folder;
  const Strings arguments{"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[3]"};
  auto with_json = arguments;
  with_json.insert(with_json.end(), {"--format", "json"});

  const auto run = run_cli(with_json);
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder.file("m.onnx")));
  const auto findings = run.json()["findings"];
  ASSERT_EQ(findings.size(), 3u);
  // The most frequent one first.
  EXPECT_EQ(findings[0]["op"], "aten::_standard_gamma_grad");
  EXPECT_EQ(findings[0]["count"], 2);
  EXPECT_EQ(findings[0]["locations"].size(), 2u);
  for (const auto& finding : findings) {
    EXPECT_EQ(finding["case"], 2);
    EXPECT_GT(finding["locations"][0]["line"], 0);
    EXPECT_FALSE(finding["advice"].empty());
    EXPECT_NE(finding["reason"], "");
    EXPECT_TRUE(finding["first_opset"].is_null());
  }
  EXPECT_EQ(run.json()["stages"]["translate"], "failed");
  EXPECT_EQ(run.json()["stages"]["check"], "not reached");

  const auto text = run_cli(arguments);
  EXPECT_EQ(text.code, 3);
  EXPECT_THAT(text.out, HasSubstr("error[case-2]: `aten::_standard_gamma_grad`: "));
  EXPECT_THAT(text.out, HasSubstr("\n  --> "));
  EXPECT_THAT(text.out, HasSubstr("\n  help: "));
  EXPECT_THAT(text.out, HasSubstr("3 operators cannot be exported at opset 20\n"));
}

TEST(Export, HiddenMappingIsCaseOneWithTheMappingToPaste) {
  const TemporaryModule module(
      {"def forward(self, x):\n    return torch.asinh(x)\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[3]",
                            "--without", "aten::asinh", "--format", "json"});
  EXPECT_EQ(run.code, 3) << run.err;
  const auto finding = run.json()["findings"][0];
  EXPECT_EQ(finding["case"], 1);
  EXPECT_THAT(finding["reason"].get<std::string>(), HasSubstr("`Asinh` since opset 9"));
  EXPECT_THAT(finding["advice"][0].get<std::string>(), HasSubstr("asinh (self) => (y) { y = Asinh (self) }"));
}

TEST(Export, OpsetTooLowIsCaseFourWithTheFirstOpsetThatWorks) {
  const TemporaryModule module(
      {"def forward(self, x, g):\n    return torch.grid_sampler(x, g, 0, 0, False)\n",
       {},
       {},
       {},
       {},
       {},
       false});
  const TemporaryFolder folder;
  const Strings arguments{"export",   module.path(), "-o",      folder.file("m.onnx"),
                          "--input",  "[1,2,4,4]",   "--input", "[1,3,3,2]",
                          "--format", "json"};
  auto low = arguments, high = arguments;
  low.insert(low.end(), {"--opset", "15"});
  high.insert(high.end(), {"--opset", "16"});
  const auto run = run_cli(low);
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(run.json()["findings"][0]["case"], 4);
  EXPECT_EQ(run.json()["findings"][0]["first_opset"], 16);
  EXPECT_EQ(run_cli(high).code, 0);
}

TEST(Export, UnsupportedCustomWritesTheModel) {
  const TemporaryModule module(kUnmapped);
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[3]",
                            "--unsupported", "custom", "--custom-domain", "mine", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["operators"]["mine::_standard_gamma_grad"], 2);
  EXPECT_EQ(run.json()["stages"]["verify"], "skipped");
  EXPECT_THAT(run.json()["verify_note"].get<std::string>(), HasSubstr("--ort-library"));
  EXPECT_THAT(run.err, HasSubstr("first half only"));
}

TEST(Export, CustomNodesHaveTheTypesOfTheKernel) {
  const TemporaryModule module(
      {"def forward(self, x):\n"
       "    i = torch.argmax(x, 1)\n"
       "    a, b, c = torch.unbind(x, 1)\n"
       "    return i + 1, torch.flatten(torch.stack([a, c], 1), 0, 1)\n",
       {},
       {},
       {},
       {},
       {},
       false});
  const TemporaryFolder folder;
  for (const std::string kind : {"custom", "aten"}) {
    const auto run = run_cli({"export", module.path(), "-o", folder.file(kind + ".onnx"), "--input",
                              "[N,3,4]", "--without", "aten::argmax", "--without", "aten::unbind",
                              "--unsupported", kind, "--format", "json"});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto document = run.json();
    const bool aten = kind == "aten";
    EXPECT_EQ(document["operators"][aten ? "org.pytorch.aten::ATen" : "custom::argmax"], aten ? 2 : 1);
    EXPECT_EQ(document["outputs"][0]["dtype"], "int64");
    EXPECT_EQ(document["outputs"][0]["shape"], nlohmann::json::parse(R"(["N", 4])"));
    EXPECT_EQ(document["outputs"][1]["dtype"], "float32");
    EXPECT_EQ(document["outputs"][1]["shape"], nlohmann::json::parse(R"(["2*N", 4])"));
  }
  const std::string shown = run_cli({"show", folder.file("aten.onnx")}).out;
  EXPECT_THAT(shown, HasSubstr("operator: string = \"argmax\""));
  EXPECT_THAT(run_cli({"show", folder.file("custom.onnx")}).out, HasSubstr("custom.argmax"));
}

TEST(Export, ReportsInEveryFormat) {
  const TemporaryModule module(kUnmapped);
  const TemporaryFolder folder;
  const auto report = [&](const std::string& name) {
    const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[3]",
                              "--report", folder.file(name)});
    EXPECT_EQ(run.code, 3) << run.err;
    return read_file(folder.file(name));
  };
  EXPECT_THAT(report("r.txt"), HasSubstr("error[case-2]"));
  EXPECT_EQ(nlohmann::json::parse(report("r.json"))["findings"].size(), 3u);
  const auto sarif = nlohmann::json::parse(report("r.sarif"));
  EXPECT_EQ(sarif["version"], "2.1.0");
  EXPECT_EQ(sarif["runs"][0]["results"].size(), 4u);  // one per place
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "case-2");
  const std::string html = report("r.html");
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(html, HasSubstr("aten::_dirichlet_grad"));
  EXPECT_THAT(html, Not(HasSubstr("http")));  // needs no other file
}

TEST(Export, NoVerifySkipsTheRuntime) {
  const TemporaryModule module(kAddOne);
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[2]",
                            "--no-verify", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["stages"]["verify"], "skipped");
  EXPECT_TRUE(run.json()["verify"].is_null());
}

TEST(Export, NamesOfInputsAndOutputs) {
  const TemporaryModule module(
      {"def forward(self, x, y):\n    return x + y, x - y\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto run =
      run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[2]", "--input", "[2]",
               "--input-names", "left,right", "--output-names", "sum,difference", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"][1]["name"], "right");
  EXPECT_EQ(run.json()["outputs"][0]["name"], "sum");
  EXPECT_EQ(run.json()["outputs"][1]["name"], "difference");
}

TEST(Export, WhatIsTakenForGrantedIsSaidOrAnError) {
  const TemporaryModule module(
      {"def forward(self, x):\n    return x.squeeze(0).sum(0)\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const Strings arguments{"export",   module.path(), "-o",        folder.file("m.onnx"),
                          "--input",  "[1,3,4]",     "--dynamic", "all",
                          "--format", "json"};
  const auto run = run_cli(arguments);
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.json()["warnings"].dump(), HasSubstr("as being 1, as in the example inputs"));

  Strings strict = arguments;
  strict.emplace_back("--strict");
  const auto refused = run_cli(strict);
  EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
  EXPECT_THAT(refused.json()["findings"].dump(), HasSubstr("as being 1, as in the example inputs"));
  EXPECT_THAT(refused.json()["findings"][0]["locations"].dump(), HasSubstr("line"));
}

TEST(Export, RandomModuleIsNotCompared) {
  const TemporaryModule module(
      {"def forward(self, x):\n    return x + torch.rand_like(x)\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto run =
      run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[64]", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["stages"]["verify"], "skipped");
  EXPECT_THAT(run.json()["verify_note"].get<std::string>(), HasSubstr("random"));
}

TEST(Export, WhatCannotBeWrittenIsCodeSix) {
  const TemporaryModule module(kAddOne);
  const auto run = run_cli({"export", module.path(), "-o", "/no/such/folder/m.onnx", "--input", "[2]"});
  EXPECT_EQ(run.code, 6);
  EXPECT_THAT(run.err, HasSubstr("/no/such/folder/m.onnx"));
}

TEST(Verify, AgreesOrDiffers) {
  const TemporaryModule one(kAddOne),
      two({"def forward(self, x):\n    return x + 2\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const std::string onnx = folder.file("m.onnx");
  ASSERT_EQ(run_cli({"export", one.path(), "-o", onnx, "--input", "[2,3]"}).code, 0);

  const auto good = run_cli({"verify", one.path(), onnx, "--input", "[2,3]"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("ONNX Runtime agrees with libtorch"));

  const auto bad = run_cli({"verify", two.path(), onnx, "--input", "[2,3]", "--format", "json"});
  EXPECT_EQ(bad.code, 5) << bad.err;
  EXPECT_EQ(bad.json()["verify"]["passed"], false);
  EXPECT_NEAR(bad.json()["verify"]["outputs"][0]["max_abs"].get<double>(), 1.0, 1e-5);
  EXPECT_EQ(bad.json()["stages"]["verify"], "failed");
  const auto text = run_cli({"verify", two.path(), onnx, "--input", "[2,3]"});
  EXPECT_THAT(text.out, HasSubstr("6 of 6 elements differ"));

  const auto tolerant = run_cli({"verify", two.path(), onnx, "--input", "[2,3]", "--atol", "2"});
  EXPECT_EQ(tolerant.code, 0) << tolerant.err;

  EXPECT_EQ(run_cli({"verify", one.path(), folder.file("none.onnx"), "--input", "[2,3]"}).code, 4);
}

// ---- how inputs are told -----------------------------------------------------------------------------------------------

TEST(Inputs, ShapeFromTheWeightThatConsumesIt) {
  TorchScriptSnippet snippet{
      "def forward(self, x):\n    return torch.conv2d(x * 2.0, self.w)\n", {}, {}, {}, {}, {}, false};
  snippet.parameters.emplace_back("w", floats(std::vector<double>(2 * 3 * 3 * 3, 0.1), {2, 3, 3, 3}));
  const TemporaryModule module(snippet);
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"][0]["shape"], nlohmann::json::parse("[1,3,64,64]"));
  EXPECT_THAT(run.err, HasSubstr("guessed"));
}

TEST(Inputs, RanksThatTheModuleInsistsOnAreFoundByRunningIt) {
  // Smaller ranks of x fail in select, an index that is not an integer fails too.
  const TemporaryModule module(
      {"def forward(self, x, at):\n    return x[:, :, at[0, 0]]\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto run =
      run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--dynamic", "all", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"][0]["shape"].size(), 3u);
  EXPECT_EQ(run.json()["inputs"][1]["shape"].size(), 2u);
  EXPECT_EQ(run.json()["inputs"][1]["dtype"], "int64");
  EXPECT_THAT(run.err, HasSubstr("refuses smaller ranks"));
}

TEST(Inputs, ChannelsAreFoundThroughTheWeightsBehindOtherOperators) {
  TorchScriptSnippet snippet{
      "def forward(self, x):\n    return torch.linear(torch.cat([x, x[:, :, 0:2]], -1), self.w)\n",
      {},
      {},
      {},
      {},
      {},
      false};
  snippet.parameters.emplace_back("w", floats(std::vector<double>(5 * 16, 0.1), {5, 16}));
  const TemporaryModule module(snippet);
  const TemporaryFolder folder;
  // 14 channels make 16; no weight has that size, and nothing that is tried does.
  EXPECT_EQ(run_cli({"export", module.path(), "-o", folder.file("m.onnx")}).code, 2);
  snippet.parameters.back().second = floats(std::vector<double>(5 * 6, 0.1), {5, 6});
  const TemporaryModule fits(snippet);
  const auto run = run_cli({"export", fits.path(), "-o", folder.file("m.onnx"), "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"][0]["shape"][2], 4);
}

TEST(Inputs, WithoutAnythingToGoByTheLineToWriteIsShown) {
  const TemporaryModule module(
      {"def forward(self, x, k: int, on: bool, names: List[Tensor]):\n"
       "    return x * k + names[0]\n",
       {},
       {},
       {},
       {},
       {},
       false});
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx")});
  EXPECT_EQ(run.code, 2);
  for (const char* line :
       {"--input 'x:float32[1,3,224,224]'", "--input on:bool=true", "--input 'names.0:float32[1,3,224,224]'"})
    EXPECT_THAT(run.err, HasSubstr(line));
}

TEST(Inputs, NestedAndBakedOnes) {
  const TemporaryModule module(
      {"def forward(self, xs: List[Tensor], d: Dict[str, Tensor], t: Tuple[Tensor, float],\n"
       "            mask: Optional[Tensor] = None, k: int = 2):\n"
       "    y = xs[0] + xs[1] * k + d[\"a\"] * t[1] + t[0]\n"
       "    if mask is not None:\n"
       "        y = y * mask\n"
       "    return y\n",
       {},
       {},
       {},
       {},
       {},
       false});
  const TemporaryFolder folder;
  const Strings common{"export",  module.path(),       "-o",       folder.file("m.onnx"),
                       "--input", "xs.0:float32[N,3]", "--input",  "xs.1:float32[N,3]",
                       "--input", "d.a:float32[3]",    "--input",  "t.0:float32[1]",
                       "--input", "t.1:float=0.5",     "--format", "json"};
  const auto plain = run_cli(common);
  EXPECT_EQ(plain.code, 0) << plain.err;
  Strings names;
  const auto document = plain.json();
  for (const auto& input : document["inputs"]) names.push_back(input["name"]);
  EXPECT_EQ(names, (Strings{"xs_0", "xs_1", "d_a", "t_0"}));

  auto masked = common;
  masked.insert(masked.end(), {"--input", "mask:float32[3]", "--input", "k:int=5"});
  const auto run = run_cli(masked);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"].size(), 5u);
}

TEST(Inputs, NumbersThatNothingBakesInAreInputsOfTheGraph) {
  const TemporaryModule module(
      {"def forward(self, x, k: int, gain: float):\n"
       "    return x[:, :k] * gain, x.size(0) * k\n",
       {},
       {},
       {},
       {},
       {},
       false});
  const TemporaryFolder folder;
  const Strings common{"export",    module.path(), "-o",      folder.file("m.onnx"),
                       "--format",  "json",        "--input", "x:float32[3,16]",
                       "--dynamic", "all"};
  const auto run = run_cli(common);
  EXPECT_EQ(run.code, 0) << run.err;
  const auto document = run.json();
  ASSERT_EQ(document["inputs"].size(), 3u);
  EXPECT_EQ(document["inputs"][1]["dtype"], "int64");
  EXPECT_EQ(document["inputs"][2]["dtype"], "float64");
  EXPECT_EQ(document["stages"]["verify"], "ok");

  auto baked = common;
  baked.insert(baked.end(), {"--input", "k:int=5", "--input", "gain:float64[]"});
  const auto second = run_cli(baked);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.json()["inputs"].size(), 2u);

  auto wrong = common;
  wrong.insert(wrong.end(), {"--input", "k:float32[2]"});
  EXPECT_EQ(run_cli(wrong).code, 2);
}

TEST(Inputs, DynamicDims) {
  const TemporaryModule module(
      {"def forward(self, x, y):\n    return torch.matmul(x, y)\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto shapes = [&](Strings options) {
    Strings arguments{"export", module.path(), "-o",  folder.file("m.onnx"), "--input", "[2,3]", "--input",
                      "[3,4]",  "--format",    "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto run = run_cli(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json()["inputs"][0]["shape"].dump() + run.json()["inputs"][1]["shape"].dump();
  };
  EXPECT_EQ(shapes({}), "[2,3][3,4]");
  EXPECT_EQ(shapes({"--dynamic", "batch"}), R"(["batch",3]["y_batch",4])");
  EXPECT_EQ(shapes({"--dynamic", "x:0=rows", "--dynamic", "y:-1=columns"}), R"(["rows",3][3,"columns"])");
  EXPECT_EQ(shapes({"--dynamic", "all"}), R"(["x_0","x_1"]["y_0","y_1"])");
  EXPECT_EQ(shapes({"--dynamic", "all", "--dynamic", "x:0=rows"}), R"(["rows","x_1"]["y_0","y_1"])");
}

TEST(Inputs, IntegersThatTheModuleAccepts) {
  TorchScriptSnippet snippet{
      "def forward(self, i):\n    return torch.embedding(self.w, i)\n", {}, {}, {}, {}, {}, false};
  snippet.parameters.emplace_back(
      "w", floats({1, 2, 3, 4}, {2, 2}));  // a table of two rows: 0 and 1 are all there is
  const TemporaryModule module(snippet);
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.json()["inputs"][0]["dtype"], "int64");
  EXPECT_EQ(run.json()["stages"]["verify"], "ok");
}

}  // namespace
}  // namespace pt2onnx::testing
