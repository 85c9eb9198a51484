// --plugin: what is wrong with one is said, with exit code 2; a good one is used. examples/plugin is built against an
// installed pt2onnx and has the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/run_cli.h"
#include "support/torchscript.h"
#include "test_paths.h"

namespace pt2onnx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string plugin_file(const std::string& kind) {
  return std::string(kBinaryDir) + "/lib/libtest_plugin_" + kind + ".so";
}

CliResult export_with(const std::string& plugin, const std::string& expression = "x.erf()") {
  const TemporaryModule module(TorchScriptSnippet{
      "def forward(self, x):\n    return " + expression + "\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  return run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "x:float32[2,3]",
                  "--plugin", plugin});
}

struct Mistake {
  std::string kind, words;
};

class PluginMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(PluginMistake, IsToldWithExitCodeTwo) {
  const CliResult result = export_with(plugin_file(GetParam().kind));
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("--plugin"), HasSubstr(GetParam().words)));
}

INSTANTIATE_TEST_SUITE_P(All, PluginMistake,
                         ::testing::Values(Mistake{"NO_ENTRY", "no PT2ONNX_PLUGIN(plugin) { ... } block"},
                                           Mistake{"OTHER_INTERFACE", "of the plugin interface"},
                                           Mistake{"OTHER_VERSION", "was built for pt2onnx 9.9"},
                                           Mistake{"OTHER_LAYOUT", "was built with other headers"},
                                           Mistake{"THROWS", "threw an error while registering: no licence"},
                                           Mistake{"EMPTY", "registers nothing"},
                                           Mistake{"NO_NAMESPACE", "namespace::name"},
                                           Mistake{"UNKNOWN_OP", "libtorch has no operator `aten::erff`"},
                                           Mistake{"MISSING", "no such file"}),
                         [](const auto& test) { return test.param.kind; });

TEST(Plugin, AFileThatIsNoLibraryIsToldWithExitCodeTwo) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text.so")) << "no library";
  const CliResult result = export_with(folder.file("text.so"));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("does not load"), HasSubstr("find_package(pt2onnx)")));
}

TEST(Plugin, LookUpsTellItsMistakesToo) {
  const CliResult result = run_cli({"explain", "aten::erf", "--plugin", plugin_file("THROWS")});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("no licence"));
}

TEST(Plugin, IsUsedAndNamedAndVerified) {
  const CliResult result = export_with(plugin_file("GOOD"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("verify   ok"));
  EXPECT_THAT(result.err, Not(HasSubstr("was used")));
  EXPECT_THAT(run_cli({"explain", "aten::erf", "--plugin", plugin_file("GOOD")}).out,
              HasSubstr("libtest_plugin_GOOD.so"));
}

TEST(Plugin, OneThatNothingUsesIsToldOf) {
  EXPECT_THAT(export_with(plugin_file("GOOD"), "x.tanh()").err,
              HasSubstr("none of its functions was used (aten::erf, aten::erfinv)"));
}

TEST(Plugin, AFunctionThatFailsIsAFindingAndNoDefect) {
  const CliResult result = export_with(plugin_file("FAILS_LATER"));
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("FAILS_LATER.so failed: out of ideas for aten::erf")));
}

TEST(Plugin, AFunctionWithoutResultsIsAFinding) {
  const CliResult result = export_with(plugin_file("GOOD"), "x.erfinv()");
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("it gives 0 results, the operator has 1"));
}

}  // namespace
}  // namespace pt2onnx::testing
