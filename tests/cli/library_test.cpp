// --load-library, --ort-library and --op-schema: the user's own operator, its kernels, and what is wrong with them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/run_cli.h"
#include "support/torchscript.h"
#include "test_paths.h"
#include "verify/runtime.h"

namespace pt2onnx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string library(const std::string& name) {
  return std::string(kBinaryDir) + "/lib/libtest_" + name + ".so";
}

CliResult export_with(std::vector<std::string> options, const std::string& call = "twice(x, 1.5)") {
  const TemporaryModule module(TorchScriptSnippet{
      "def forward(self, x):\n    return ops.testlib." + call + " + 1\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  options.insert(options.begin(),
                 {"export", module.path(), "-o", folder.file("m.onnx"), "--input", "x:float32[N,3]"});
  return run_cli(options);
}

class LibraryTest : public ::testing::Test {
 protected:
  /// The snippets are compiled in this process, which has to know the operators as well.
  static void SetUpTestSuite() {
    ASSERT_NE(dlopen(library("operators").c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  }
  static std::vector<std::string> with_kernels(const std::string& kind) {
    return {"--load-library", library("operators"), "--unsupported",
            "custom",         "--ort-library",      library("kernels_" + kind)};
  }
};

TEST_F(LibraryTest, TheCustomNodeIsComparedWithTheReference) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  const auto run = export_with(with_kernels("GOOD"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("verify   ok"));
  EXPECT_THAT(run.err, HasSubstr("first half only"));
}

TEST_F(LibraryTest, AKernelWithOtherResultsIsAMismatch) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  const auto run = export_with(with_kernels("WRONG_RESULT"));
  EXPECT_EQ(run.code, 5);
  EXPECT_THAT(run.out, HasSubstr("verify   FAILED"));
}

TEST_F(LibraryTest, AKernelThatFailsIsAMismatch) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  const auto run = export_with(with_kernels("FAILS"));
  EXPECT_EQ(run.code, 5);
  EXPECT_THAT(run.err, HasSubstr("out of ideas"));
}

TEST_F(LibraryTest, KernelsOfOtherOperatorsVerifyNothing) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  const auto run = export_with(with_kernels("OTHER_NAME"));
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, AllOf(HasSubstr("verify   skipped"), HasSubstr("no kernel for `custom::twice`"),
                             HasSubstr("--ort-library")));
}

TEST_F(LibraryTest, WhatIsNoLibraryOfKernelsIsCodeTwo) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  const TemporaryFolder folder;
  std::ofstream(folder.file("text.so")) << "no library";
  for (const auto& [file, words] : std::vector<std::pair<std::string, std::string>>{
           {folder.file("missing.so"), "no such file"},
           {folder.file("text.so"), "no library of ONNX Runtime kernels"},
           {library("operators"), "RegisterCustomOps"}}) {
    const auto run = export_with(
        {"--load-library", library("operators"), "--unsupported", "custom", "--ort-library", file});
    EXPECT_EQ(run.code, 2) << file;
    EXPECT_THAT(run.err, AllOf(HasSubstr("--ort-library " + file), HasSubstr(words)));
  }
}

TEST_F(LibraryTest, AnOperatorMadeOfOthersIsTakenApart) {
  const auto run = export_with({"--load-library", library("operators")}, "thrice(x)");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("custom")));
  const auto explained =
      run_cli({"explain", "testlib::thrice", "--load-library", library("operators"), "--format", "json"});
  EXPECT_EQ(explained.json()["ops"][0]["status"], "decomposed");
}

TEST_F(LibraryTest, WithoutItsLibraryTheOperatorIsCaseThree) {
  const auto run = export_with({"--format", "json"});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.json()["findings"][0]["case"], 3);
}

TEST_F(LibraryTest, WhatDoesNotLoadIsCodeTwo) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text.so")) << "no library";
  for (const auto& [file, words] : std::vector<std::pair<std::string, std::string>>{
           {folder.file("missing.so"), "does not load"},
           {folder.file("text.so"), "does not load"},
           {library("operators_that_throw"), "ends the process"}}) {
    for (const auto& run :
         {export_with({"--load-library", file}), run_cli({"ops", "relu", "--load-library", file})}) {
      EXPECT_EQ(run.code, 2) << file;
      EXPECT_THAT(run.err, AllOf(HasSubstr(file), HasSubstr(words)));
    }
  }
}

TEST_F(LibraryTest, ASignatureIsEnoughForACustomNode) {
  const auto run = export_with({"--op-schema", "testlib::twice(Tensor x, float factor) -> Tensor",
                                "--unsupported", "custom", "--no-verify"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(LibraryTest, AWrongSignatureIsCodeTwo) {
  for (const std::string schema :
       {"testlib::twice(Tensor x", "twice(Tensor x) -> Tensor", "", "testlib::twice(Tensr x) -> Tensor"}) {
    const auto run = export_with({"--op-schema", schema});
    EXPECT_EQ(run.code, 2) << schema;
    EXPECT_THAT(run.err, HasSubstr("--op-schema")) << schema;
  }
}

TEST_F(LibraryTest, SignaturesThatContradictEachOtherAreCodeTwo) {
  for (const std::string second :
       {"testlib::twice(Tensor x, float by) -> Tensor", "testlib::twice(Tensor x) -> Tensor"}) {
    const auto run = export_with(
        {"--op-schema", "testlib::twice(Tensor x, float factor) -> Tensor", "--op-schema", second});
    EXPECT_EQ(run.code, 2) << second;
    EXPECT_THAT(run.err, AllOf(HasSubstr(second), HasSubstr("contradicts"), HasSubstr("float factor")));
  }
}

TEST_F(LibraryTest, ASignatureThatIsGivenTwiceCountsOnce) {
  const std::string schema = "testlib::twice(Tensor x, float factor) -> Tensor";
  const auto run =
      export_with({"--op-schema", schema, "--op-schema", schema, "--unsupported", "custom", "--no-verify"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("is given twice"), Not(HasSubstr("was not used"))));
}

TEST_F(LibraryTest, OverloadsAreNoContradiction) {
  const auto run = export_with({"--op-schema", "testlib::twice.one(Tensor x) -> Tensor", "--op-schema",
                                "testlib::twice.two(Tensor x, float by) -> Tensor", "--unsupported", "custom",
                                "--no-verify", "--format", "json"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("--op-schema")));
}

TEST_F(LibraryTest, ASignatureThatNothingUsesIsToldOf) {
  const auto run = export_with(
      {"--load-library", library("operators"), "--op-schema", "other::op(Tensor x) -> Tensor"}, "thrice(x)");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("--op-schema for `other::op` was not used"));
}

TEST_F(LibraryTest, ASignatureThatIsKnownIsIgnoredWithAWarning) {
  const auto run = export_with(
      {"--op-schema", "aten::relu(Tensor x) -> Tensor", "--load-library", library("operators")}, "thrice(x)");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("`aten::relu` is ignored"));
}

}  // namespace
}  // namespace pt2onnx::testing
