// --state: what modules keep in their attributes, carried from call to call and compared with libtorch call by call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_cli.h"
#include "support/torchscript.h"

namespace pt2onnx::testing {
namespace {

using program::Literal;
using ::testing::HasSubstr;

Tensor zeros(std::vector<std::int64_t> dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return Tensor::of_doubles(std::vector<double>(count, 0.0), std::move(dims), DType::Float32);
}

struct StateCase {
  const char* name;
  TorchScriptSnippet snippet;
  const char* input;
  std::vector<std::string> state;  // "input/shape/initial"
};

class State : public ::testing::TestWithParam<StateCase> {};

TEST_P(State, IsCarriedAsLibtorchDoes) {
  const StateCase& c = GetParam();
  const TemporaryModule module(c.snippet);
  const TemporaryFolder folder;
  const auto run = run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--state", "--input",
                            c.input, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err << run.out;
  const auto json = run.json();
  EXPECT_EQ(json["stages"]["verify"], "ok");
  EXPECT_THAT(json["verify"]["runs"][0].get<std::string>(), HasSubstr("calls in a row"));
  std::vector<std::string> state;
  for (const auto& item : json.value("state", nlohmann::json::array())) {
    std::string shape;
    for (const auto& input : json["inputs"])
      if (input["name"] == item["input"]) shape = input["shape"].dump();
    EXPECT_EQ(item["output"], item["input"].get<std::string>() + "_out");
    state.push_back(item["input"].get<std::string>() + " " + shape + " " +
                    item["initial"].get<std::string>());
  }
  EXPECT_EQ(state, c.state);
}

TorchScriptSnippet with_buffers(std::string source, std::vector<std::pair<std::string, Tensor>> buffers) {
  TorchScriptSnippet snippet{std::move(source), {}, {}, {}, {}, {}, false};
  snippet.buffers = std::move(buffers);
  return snippet;
}

TorchScriptSnippet with_attributes(std::string source,
                                   std::vector<std::pair<std::string, Literal>> attributes) {
  TorchScriptSnippet snippet{std::move(source), {}, {}, {}, {}, {}, false};
  snippet.attributes = std::move(attributes);
  return snippet;
}

TorchScriptSnippet nested() {
  TorchScriptSnippet snippet{
      "def forward(self, x):\n    return self.a.forward(x) + self.b.forward(x)\n", {}, {}, {}, {}, {}, false};
  const auto part = with_buffers("def forward(self, x):\n    self.h = self.h * 0.5 + x\n    return self.h\n",
                                 {{"h", zeros({2, 3})}});
  snippet.modules = {{"a", part}, {"b", part}};
  return snippet;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, State,
    ::testing::Values(
        StateCase{
            "assigned",
            with_buffers("def forward(self, x):\n    self.h = self.h * 0.5 + x\n    return self.h * 2\n",
                         {{"h", zeros({2, 3})}}),
            "[2,3]",
            {"h [2,3] zeros"}},
        StateCase{"written_in_place",
                  with_buffers("def forward(self, x):\n    self.h[0].add_(x.sum())\n    return self.h + x\n",
                               {{"h", zeros({2, 3})}}),
                  "[2,3]",
                  {"h [2,3] zeros"}},
        StateCase{"starts_with_a_value",
                  with_buffers("def forward(self, x):\n    self.h = self.h + x\n    return self.h\n",
                               {{"h", Tensor::of_doubles(std::vector<double>{1, 2}, {2}, DType::Float32)}}),
                  "[2]",
                  {"h [2] the value in the file"}},
        StateCase{"set_up_by_the_first_call",
                  with_buffers("def forward(self, x):\n"
                               "    if self.h.numel() == 0:\n"
                               "        self.h = torch.zeros([x.size(0), 4])\n"
                               "    self.h = self.h + x.sum(1, keepdim=True)\n"
                               "    return self.h\n",
                               {{"h", zeros({0})}}),
                  "[N,3]",
                  {"h [\"N\",4] zeros"}},
        StateCase{"a_cache_that_grows",
                  with_buffers("def forward(self, x):\n"
                               "    self.seen = torch.cat([self.seen, x], 1)\n"
                               "    return self.seen.cumsum(1)[:, -1]\n",
                               {{"seen", zeros({2, 0})}}),
                  "[2,3]",
                  {"seen [2,\"seen_1\"] empty"}},
        StateCase{"a_counter",
                  with_attributes("def forward(self, x):\n    self.n = self.n + 1\n    return x * self.n\n",
                                  {{"n", Literal{std::int64_t{0}}}}),
                  "[2,3]",
                  {"n [] zeros"}},
        StateCase{"two_modules_alike", nested(), "[2,3]", {"h [2,3] zeros", "b_h [2,3] zeros"}}),
    [](const auto& c) { return std::string(c.param.name); });

CliResult export_with_state(const TorchScriptSnippet& snippet) {
  const TemporaryModule module(snippet);
  const TemporaryFolder folder;
  return run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--state", "--input", "[2]"});
}

TEST(StateErrors, ModulesWithoutStateAreTold) {
  const auto run =
      export_with_state({"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("keeps nothing from call to call"));
}

TEST(StateErrors, TextThatChangesIsNoState) {
  const auto run = export_with_state(
      with_attributes("def forward(self, x):\n    self.log = self.log + 'x'\n    return x + 1\n",
                      {{"log", Literal{std::string()}}}));
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("`log` changes from call to call and is neither a tensor nor a number"));
}

TEST(StateErrors, ModulesThatFailAreNamed) {
  const auto run =
      export_with_state({"def forward(self, x):\n    return x.view(7, 7)\n", {}, {}, {}, {}, {}, false});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("--input-data"));
}

}  // namespace
}  // namespace pt2onnx::testing
