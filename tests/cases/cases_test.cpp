// Each case at each of its opsets; with dynamic dims once more.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "run_case.h"
#include "test_paths.h"
#include "verify/runtime.h"

namespace pt2onnx::testing {
namespace {

struct Run {
  const Case* c = nullptr;
  int opset = 0;
  bool dynamic = false;
};

void PrintTo(const Run& run, std::ostream* out) { *out << run.c->file << ".case:" << run.c->line; }

/// What is wrong with a case file; the cases are listed before a test could report it.
std::string& reading_error() {
  static std::string error;
  return error;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    try {
      return read_all_cases(std::string(kSourceDir) + "/tests/cases");
    } catch (const std::exception& e) {
      reading_error() = e.what();
      return std::vector<Case>();
    }
  }();
  return all;
}

TEST(CaseFiles, are_well_formed) {
  EXPECT_FALSE(cases().empty());
  EXPECT_EQ(reading_error(), "");
}

std::vector<Run> runs() {
  std::vector<Run> all;
  for (const auto& c : cases())
    for (const int opset : c.opsets) {
      if (!c.only_dynamic) all.push_back({&c, opset, false});
      if (c.has_dynamic_dims()) all.push_back({&c, opset, true});
    }
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Run>& info) {
  std::string name = fmt::format("{}_{}", info.param.c->file, info.param.c->name);
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return fmt::format("{}_opset{}{}", name, info.param.opset, info.param.dynamic ? "_dynamic" : "");
}

class Cases : public ::testing::TestWithParam<Run> {};

TEST_P(Cases, agrees_with_torch) {
  const auto& [c, opset, dynamic] = GetParam();
  if (!c->skip.empty()) GTEST_SKIP() << c->skip;
  const auto words = run_case(*c, opset, dynamic);
  if (!words.empty())
    ADD_FAILURE_AT(fmt::format("tests/cases/{}.case", c->file).c_str(), c->line)
        << c->name << " at opset " << opset << (dynamic ? ", dynamic" : "") << "\n"
        << words;
  if (!has_runtime()) GTEST_SKIP() << "numbers were not compared: " << why_no_runtime();
}

INSTANTIATE_TEST_SUITE_P(all, Cases, ::testing::ValuesIn(runs()), name_of);

}  // namespace
}  // namespace pt2onnx::testing
