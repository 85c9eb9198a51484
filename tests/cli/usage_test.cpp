// What the command line refuses, and with which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run_cli.h"
#include "support/torchscript.h"
#include "support/zip_archive.h"

namespace pt2onnx::testing {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;  // MODEL stands for a file
  const char* words;
};

class Usage : public ::testing::TestWithParam<Refusal> {};

TEST_P(Usage, IsCodeTwoAndSaysWhy) {
  const TemporaryModule module({"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false});
  auto arguments = GetParam().arguments;
  for (std::string& word : arguments)
    if (word == "MODEL") word = module.path();
  const auto run = run_cli(arguments);
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, Usage,
    ::testing::Values(
        Refusal{"no_command", {}, "Usage: pt2onnx"},
        Refusal{"misspelt_command", {"exprt"}, "there is no command `exprt`; `export` is near"},
        Refusal{"misspelt_option",
                {"export", "MODEL", "--opst", "3"},
                "there is no option `--opst`; `--opset` is near"},
        Refusal{"no_model", {"export"}, "model is required"},
        Refusal{"too_many", {"export", "MODEL", "b"}, "too many arguments: b"},
        Refusal{"opset_too_high",
                {"export", "MODEL", "--input", "[2]", "--opset", "99"},
                "--opset 99: out of range; 9 to "},
        Refusal{"opset_too_low",
                {"export", "MODEL", "--input", "[2]", "--opset", "8"},
                "--opset 8: out of range; 9 to "},
        Refusal{"opset_range", {"check", "MODEL", "--opset", "12-9"}, "expected `20`, `9-28` or `all`"},
        Refusal{"method", {"export", "MODEL", "--method", "fwd"}, "no method `fwd`"},
        Refusal{"format", {"export", "MODEL", "--format", "xml"}, "--format"},
        Refusal{
            "report", {"export", "MODEL", "--report", "a.pdf"}, ".txt, .json, .sarif, .html are possible"},
        Refusal{"dtype",
                {"export", "MODEL", "--input", "x:flaot32[1]"},
                "no such dtype; `float32` is near\n  x:flaot32[1]\n    ^"},
        Refusal{"unclosed", {"export", "MODEL", "--input", "x:float32[1"}, "the `[` is not closed"},
        Refusal{"negative_size", {"export", "MODEL", "--input", "[-3]"}, "a size cannot be negative"},
        Refusal{"unknown_input",
                {"export", "MODEL", "--input", "image:float32[1]"},
                "the method has no argument `image`"},
        Refusal{"too_many_inputs",
                {"export", "MODEL", "--input", "[1]", "--input", "[1]"},
                "--input: 1 more than"},
        Refusal{"input_twice", {"export", "MODEL", "--input", "x:[1]", "--input", "x:[2]"}, "given twice"},
        Refusal{"nothing_told", {"export", "MODEL"}, "--input 'x:float32[1,3,224,224]'"},
        Refusal{"dynamic_name",
                {"export", "MODEL", "--input", "[2]", "--dynamic", "zzz:0=b"},
                "there is no tensor input `zzz`"},
        Refusal{"dynamic_axis",
                {"export", "MODEL", "--input", "[2]", "--dynamic", "x:3=b"},
                "there is no axis 3"},
        Refusal{
            "dynamic_word", {"export", "MODEL", "--input", "[2]", "--dynamic", "some"}, "`batch` or `all`"},
        Refusal{"input_data", {"export", "MODEL", "--input-data", "/no/such.npz"}, "/no/such.npz"},
        Refusal{"input_names",
                {"export", "MODEL", "--input", "[2]", "--input-names", "a,b"},
                "2 names were given"},
        Refusal{"output_names",
                {"export", "MODEL", "--input", "[2]", "--output-names", "a,b"},
                "2 names were given"},
        Refusal{
            "over_input", {"export", "MODEL", "--input", "[2]", "-o", "MODEL"}, "would replace the input"}),
    [](const auto& refusal) { return refusal.param.name; });

TEST(Usage2, JsonModeStillGivesOneDocument) {
  const auto run = run_cli({"export", "m.pt", "--opst", "3", "--format", "json"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.json()["version"], 1);
  EXPECT_THAT(run.json()["error"].get<std::string>(), HasSubstr("--opst"));
}

TEST(Help, EveryCommandHasAnExample) {
  for (const char* command :
       {"export", "check", "verify", "inspect", "show", "explain", "ops", "schema", "onnx-ops"}) {
    const auto run = run_cli({command, "--help"});
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_THAT(run.out, HasSubstr(std::string("\n  pt2onnx ") + command)) << command;
  }
}

TEST(Help, VersionNamesTheLibraries) {
  const auto run = run_cli({"--version"});
  EXPECT_EQ(run.code, 0);
  for (const char* name : {"pt2onnx ", "libtorch ", "onnx ", "ONNX Runtime "})
    EXPECT_THAT(run.out, HasSubstr(name));
}

// ---- files that are no TorchScript -----------------------------------------------------------------------------------

void expect_refused(const std::string& path, const char* words) {
  for (const char* command : {"export", "inspect", "check"}) {
    const auto run = run_cli({command, path, "--format", "json"});
    EXPECT_EQ(run.code, 4) << command << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr(words)) << command;
    EXPECT_EQ(run.json()["version"], 1) << command;
  }
}

TEST(WrongFile, Missing) { expect_refused("/no/such/model.pt", "does not exist"); }

TEST(WrongFile, Folder) {
  const TemporaryFolder folder;
  expect_refused(folder.path(), folder.path().c_str());
}

TEST(WrongFile, Empty) {
  const TemporaryFile file("empty.pt", "");
  expect_refused(file.path(), "empty");
}

TEST(WrongFile, Text) {
  const TemporaryFile file("text.pt", "import torch\n");
  expect_refused(file.path(), "text file");
}

TEST(WrongFile, Random) {
  const TemporaryFile file("random.pt", std::string("\x01\x02\xff\xfe\x00\x17", 6));
  expect_refused(file.path(), "random.pt");
}

TEST(WrongFile, Truncated) {
  const TemporaryModule module({"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false});
  std::string bytes = read_file(module.path());
  bytes.resize(bytes.size() / 2);
  const TemporaryFile file("truncated.pt", bytes);
  expect_refused(file.path(), "truncated");
}

TEST(WrongFile, OtherArchive) {
  const TemporaryFile file("other.pt", zip_bytes({{"readme.txt", "hello"}}));
  expect_refused(file.path(), "other.pt");
}

TEST(WrongFile, Onnx) {
  const TemporaryModule module({"def forward(self, x):\n    return x + 1\n", {}, {}, {}, {}, {}, false});
  const TemporaryFolder folder;
  ASSERT_EQ(run_cli({"export", module.path(), "-o", folder.file("m.onnx"), "--input", "[2]"}).code, 0);
  expect_refused(folder.file("m.onnx"), "ONNX");
}

}  // namespace
}  // namespace pt2onnx::testing
