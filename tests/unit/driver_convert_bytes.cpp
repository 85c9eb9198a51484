// From the bytes of a TorchScript file to those of an ONNX file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "pt2onnx/convert.h"
#include "support/torchscript.h"
#include "verify/runtime.h"

namespace pt2onnx::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string file_bytes() {
  const TemporaryModule module(
      TorchScriptSnippet{"def forward(self, x):\n    return torch.relu(x) + 1\n", {}, {}, {}, {}, {}, false});
  std::ifstream file(module.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Options with_input() {
  Options options;
  options.inputs = {parse_input_spec("x:float32[N,3]")};
  return options;
}

InMemory converted(const std::string& bytes, const Options& options = with_input()) {
  return convert(std::as_bytes(std::span(bytes)), options);
}

TEST(ConvertBytes, GivesAModelThatIsVerified) {
  const auto [outcome, model] = converted(file_bytes());
  EXPECT_EQ(outcome.status, Status::Ok) << outcome.report.error;
  EXPECT_EQ(outcome.report.check, StageStatus::Ok);
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  EXPECT_EQ(outcome.report.verify, StageStatus::Ok);
  EXPECT_EQ(open_session_bytes(model, {})->input_names(), std::vector<std::string>{"x"});
}

TEST(ConvertBytes, WhatIsNoModelIsBadInput) {
  const std::string whole = file_bytes();
  for (const std::string& bytes : {std::string(), std::string("import torch\n"), std::string(100, '\0'),
                                   whole.substr(0, whole.size() / 2), whole.substr(1)}) {
    const auto [outcome, model] = converted(bytes);
    EXPECT_EQ(outcome.status, Status::BadInput) << bytes.size() << " bytes";
    EXPECT_THAT(outcome.report.error, AllOf(HasSubstr("the bytes"), Not(HasSubstr("/proc/"))));
    EXPECT_EQ(model, "");
  }
}

TEST(ConvertBytes, WhatCannotBeExportedIsReported) {
  Options options = with_input();
  options.without = {"aten::relu"};
  const auto [outcome, model] = converted(file_bytes(), options);
  EXPECT_EQ(outcome.status, Status::Unsupported);
  ASSERT_EQ(outcome.report.findings.size(), 1u);
  EXPECT_EQ(outcome.report.findings[0].op, "aten::relu");
  EXPECT_EQ(model, "");
}

}  // namespace
}  // namespace pt2onnx::testing
