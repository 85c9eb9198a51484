// check, inspect, ops, schema, explain, onnx-ops and show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cli/run_cli.h"
#include "support/torchscript.h"

namespace pt2onnx::testing {
namespace {

using ::testing::HasSubstr;

const TorchScriptSnippet kGrid{
    "def forward(self, x):\n    return torch.grid_sampler(x, x[:, :2].permute(0, 2, 3, 1), 0, 0, False)\n",
    {},
    {},
    {},
    {},
    {},
    false};

TEST(Check, SaysTheLowestOpset) {
  const TemporaryModule module(kGrid);
  const auto run = run_cli({"check", module.path(), "--input", "[1,2,4,4]", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto file = run.json()["files"][0];
  EXPECT_EQ(file["file"], module.path());
  EXPECT_EQ(file["exportable"], true);
  EXPECT_EQ(file["opset"], 20);
  EXPECT_EQ(file["lowest_opset"], 16);

  const auto low = run_cli({"check", module.path(), "--input", "[1,2,4,4]", "--opset", "13"});
  EXPECT_EQ(low.code, 3);
  EXPECT_THAT(low.out, HasSubstr("error[case-4]"));
  EXPECT_THAT(low.out, HasSubstr("not exportable at opset 13 (lowest opset 16)"));

  const auto matrix = run_cli({"check", module.path(), "--input", "[1,2,4,4]", "--opset", "14-17"});
  EXPECT_THAT(matrix.out, HasSubstr(" 14 15 16 17\n"));
  EXPECT_THAT(matrix.out, HasSubstr("  .  .  +  +\n"));

  const auto range =
      run_cli({"check", module.path(), "--input", "[1,2,4,4]", "--opset", "14-17", "--format", "json"});
  EXPECT_EQ(range.code, 0);
  EXPECT_EQ(range.json()["files"][0]["opset"], 16);
  EXPECT_EQ(range.json()["files"][0]["opsets"].size(), 4u);
}

TEST(Check, SeveralFilesTheWorstCounts) {
  const TemporaryModule good({"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false});
  const TemporaryModule bad(
      {"def forward(self, x):\n    return torch._dirichlet_grad(x, x, x)\n", {}, {}, {}, {}, {}, false});
  const auto run = run_cli({"check", good.path(), bad.path(), "--input", "[3]", "--format", "json"});
  EXPECT_EQ(run.code, 3) << run.err;
  ASSERT_EQ(run.json()["files"].size(), 2u);
  EXPECT_EQ(run.json()["files"][0]["exportable"], true);
  EXPECT_EQ(run.json()["files"][1]["exportable"], false);
  EXPECT_TRUE(run.json()["files"][1]["lowest_opset"].is_null());
  EXPECT_EQ(run.json()["files"][1]["findings"][0]["op"], "aten::_dirichlet_grad");
}

TEST(Inspect, CountsPerCall) {
  TorchScriptSnippet snippet{
      "def forward(self, x: Tensor, k: int = 3):\n    return self.helper(x) + self.helper(x) * k\n"
      "def helper(self, x: Tensor):\n    return torch.relu(x) + self.w\n",
      {},
      {},
      {},
      {},
      {},
      false};
  snippet.parameters.emplace_back("w", Tensor::of_doubles(std::vector<double>{1, 2, 3}, {3}, DType::Float32));
  const TemporaryModule module(snippet);
  const auto run = run_cli({"inspect", module.path(), "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.err;
  const auto document = run.json();
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["kind"], "torchscript");
  EXPECT_EQ(document["ops"]["aten::relu"], 2);
  EXPECT_EQ(document["ops"]["aten::add"], 3);
  EXPECT_EQ(document["parameters"], 3);
  EXPECT_GT(document["bytes"], 0);
  EXPECT_EQ(document["inputs"][0]["name"], "x");
  EXPECT_EQ(document["inputs"][0]["type"], "Tensor");
  EXPECT_TRUE(document["inputs"][0]["shape"].is_null());
  EXPECT_EQ(document["inputs"][1]["type"], "int");
  EXPECT_EQ(document["inputs"][1]["default"], "3");
}

TEST(Ops, ReadsTheRegistry) {
  const auto run = run_cli({"ops", "aten::asinh", "--format", "json"});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.json()["ops"],
            nlohmann::json::parse(R"([{"op":"aten::asinh","status":"mapped","since":9}])"));
  const auto low = run_cli({"ops", "aten::scatter_reduce", "--opset", "13", "--format", "json"});
  const auto document = low.json();
  ASSERT_FALSE(document["ops"].empty());
  for (const auto& op : document["ops"]) EXPECT_EQ(op["status"], "later-opset") << op;
}

TEST(Ops, FiltersAndNearNames) {
  const auto names = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ops");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto run = run_cli(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    std::vector<std::string> found;
    const auto document = run.json();
    for (const auto& op : document["ops"]) found.push_back(op["op"]);
    return found;
  };
  using ::testing::Contains;
  using ::testing::Each;
  using ::testing::Not;
  EXPECT_THAT(names({"nms"}), Contains("torchvision::nms"));
  EXPECT_THAT(names({"--status", "missing"}), Not(Contains("aten::asinh")));
  EXPECT_THAT(names({"asinh", "--status", "missing", "--without", "aten::asinh"}), Contains("aten::asinh"));
  EXPECT_THAT(names({"--namespace", "torchvision"}), Each(::testing::StartsWith("torchvision::")));
  EXPECT_THAT(names({"grid_samplr"}), Contains("aten::grid_sampler"));
  EXPECT_THAT(names({"grid*"}), Each(::testing::StartsWith("aten::grid")));
  EXPECT_THAT(names({"grid*"}), Contains("aten::grid_sampler_2d"));
  EXPECT_THAT(names({"relu"}), Not(Contains("aten::relu_")));
  EXPECT_THAT(names({"relu", "--all"}), Contains("aten::relu_"));
  EXPECT_THAT(names({"sigmoid"}), Not(Contains("aten::sigmoid_backward")));
  EXPECT_THAT(names({"sigmoid_backward"}), Contains("aten::sigmoid_backward"));
}

TEST(Ops, CountsPerStatus) {
  const auto document = run_cli({"ops", "--format", "json", "--status"}).json();
  std::map<std::string, int> seen;
  for (const auto& op : document["ops"]) ++seen[op["status"]];
  ASSERT_GT(seen["mapped"], 500);
  ASSERT_GT(seen["missing"], 0);
  int total = 0;
  for (const auto& [status, count] : document["counts"].items()) {
    EXPECT_EQ(count, seen[status]) << status;
    total += count.get<int>();
  }
  EXPECT_EQ(total, document["ops"].size());

  const auto text = run_cli({"ops", "--status"});
  EXPECT_THAT(text.out, ::testing::ContainsRegex("mapped +" + std::to_string(seen["mapped"]) + " "));
  EXPECT_THAT(text.out, ::testing::ContainsRegex("total +" + std::to_string(total) + "\n"));

  // Hiding an operator moves it from one count to the other; a status that is named picks, and leaves the counts.
  const auto hidden =
      run_cli({"ops", "--status", "missing", "asinh", "--without", "aten::asinh", "--format", "json"}).json();
  EXPECT_EQ(hidden["counts"]["missing"], 1);
  EXPECT_EQ(hidden["counts"]["mapped"].get<int>() + 1,
            run_cli({"ops", "asinh", "--status", "--format", "json"}).json()["ops"].size());
  EXPECT_EQ(hidden["ops"].size(), 1u);
  EXPECT_EQ(run_cli({"ops", "--status", "good"}).code, 2);
}

TEST(Explain, EachStatus) {
  const auto explained = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "explain");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto run = run_cli(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.json()["ops"][0];
  };
  const auto mapped = explained({"asinh"});
  EXPECT_EQ(mapped["op"], "aten::asinh");
  EXPECT_EQ(mapped["status"], "mapped");
  EXPECT_TRUE(mapped["case"].is_null());
  EXPECT_EQ(mapped["since"], 9);
  EXPECT_EQ(mapped["onnx"], nlohmann::json::parse(R"([{"domain":"","name":"Asinh","since":9}])"));

  const auto gap = explained({"aten::asinh", "--without", "aten::asinh"});
  EXPECT_EQ(gap["status"], "missing");
  EXPECT_EQ(gap["case"], 1);

  const auto taken_apart = explained({"aten::gradient"});
  EXPECT_EQ(taken_apart["status"], "decomposed");
  EXPECT_TRUE(taken_apart["case"].is_null());
  EXPECT_THAT(taken_apart["steps"], ::testing::Contains("aten::sub.Tensor"));

  const auto later = explained({"aten::grid_sampler", "--opset", "15"});
  EXPECT_EQ(later["status"], "later-opset");
  EXPECT_EQ(later["case"], 4);
  EXPECT_EQ(later["since"], 16);

  const auto none = explained({"aten::_dirichlet_grad"});
  EXPECT_EQ(none["status"], "missing");
  EXPECT_EQ(none["case"], 2);

  const auto user = explained({"mylib::foo"});
  EXPECT_EQ(user["status"], "unknown");
  EXPECT_EQ(user["case"], 3);
  EXPECT_TRUE(user["custom_node"].is_null());

  const auto known =
      explained({"my::op", "--op-schema", "my::op(Tensor x, Tensor? m, float[] s, bool k=False) -> Tensor"});
  EXPECT_EQ(known["status"], "missing");
  EXPECT_EQ(known["case"], 3);
  EXPECT_EQ(known["custom_node"]["domain"], "custom");
  EXPECT_EQ(known["custom_node"]["inputs"][1],
            nlohmann::json::parse(R"({"name":"m","optional":true,"list":false})"));
  EXPECT_EQ(
      known["custom_node"]["attributes"][0],
      nlohmann::json::parse(R"({"name":"s","kind":"floats","optional":false,"plugin_field":"FLOAT32"})"));

  const auto misspelt = explained({"grid_samplr"});
  EXPECT_EQ(misspelt["status"], "unknown");
  EXPECT_EQ(misspelt["near"][0], "aten::grid_sampler");
}

TEST(Schema, AllOverloadsOrTheNearNames) {
  const auto run = run_cli({"schema", "asinh"});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("aten::asinh(Tensor self) -> Tensor\n"));
  const auto misspelt = run_cli({"schema", "asihn"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.err, HasSubstr("aten::asinh"));
}

TEST(OnnxOps, VersionsAndSignature) {
  const auto run = run_cli({"onnx-ops", "GridSample", "--format", "json"});
  EXPECT_EQ(run.code, 0);
  const auto op = run.json()["ops"][0];
  EXPECT_EQ(op["name"], "GridSample");
  EXPECT_EQ(op["since"], 16);
  EXPECT_EQ(op["inputs"], nlohmann::json::parse(R"(["X","grid"])"));
}

TEST(OnnxOps, HistoryDomainAndOpset) {
  const auto squeeze = run_cli({"onnx-ops", "Squeeze", "--history", "--format", "json"}).json()["ops"];
  const auto is_squeeze = [](const auto& op) { return op["name"] == "Squeeze"; };
  const auto op = std::find_if(squeeze.begin(), squeeze.end(), is_squeeze);
  ASSERT_NE(op, squeeze.end());
  EXPECT_EQ((*op)["versions"][2], 13);
  EXPECT_EQ((*op)["history"][0]["changes"].size(), 0u);
  EXPECT_THAT((*op)["history"][2]["changes"].dump(), HasSubstr("`axes` is an input instead of an attribute"));

  const auto old = run_cli({"onnx-ops", "Squeeze", "--opset", "11", "--format", "json"}).json()["ops"][0];
  EXPECT_EQ(old["inputs"], nlohmann::json::parse(R"(["data"])"));
  EXPECT_EQ(old["signature"]["attributes"][0]["kind"], "ints");
  const auto ml = run_cli({"onnx-ops", "--domain", "ai.onnx.ml", "--format", "json"}).json()["ops"];
  ASSERT_FALSE(ml.empty());
  for (const auto& one : ml) EXPECT_EQ(one["domain"], "ai.onnx.ml");
  EXPECT_THAT(run_cli({"onnx-ops", "LeakyRelu"}).out, HasSubstr("attribute alpha: float = 0.01"));
}

TEST(Show, BothKindsOfFiles) {
  const TemporaryModule module(
      {"def forward(self, x):\n    return torch.relu(x)\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  const auto program = run_cli({"show", module.path()});
  EXPECT_EQ(program.code, 0);
  EXPECT_THAT(program.out, HasSubstr("aten::relu("));
  ASSERT_EQ(run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[2]"}).code, 0);
  const auto graph = run_cli({"show", folder.file("m.onnx")});
  EXPECT_EQ(graph.code, 0);
  EXPECT_THAT(graph.out, HasSubstr("= Relu"));
  EXPECT_EQ(run_cli({"show", folder.file("none.onnx")}).code, 4);

  for (const std::string& file : {module.path(), folder.file("m.onnx")}) {
    const auto dot = run_cli({"show", file, "--format", "dot"});
    EXPECT_EQ(dot.code, 0) << dot.err;
    EXPECT_THAT(dot.out, ::testing::StartsWith("digraph"));
    EXPECT_THAT(dot.out, ::testing::ContainsRegex("label=\"(aten::relu|Relu)"));
    EXPECT_THAT(dot.out, ::testing::ContainsRegex("n1 -> n2"));
    const auto svg = run_cli({"show", file, "--format", "svg"});
    if (svg.code == 0) {
      EXPECT_THAT(svg.out, HasSubstr("</svg>"));
    } else {
      EXPECT_THAT(svg.err, HasSubstr("apt-get install graphviz"));
    }
  }
}

}  // namespace
}  // namespace pt2onnx::testing
