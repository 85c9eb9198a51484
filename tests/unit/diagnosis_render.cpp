#include "diagnosis/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace pt2onnx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finding finding() {
  Finding f;
  f.op = "aten::foo.Tensor";
  f.schema = "aten::foo.Tensor(Tensor self) -> Tensor";
  f.which = Case::OpsetTooLow;
  f.count = 3;
  f.locations = {{"model.py", 41, 0, "y = torch.foo(x)", "layers.3.attn"}};
  f.reason = "it can be expressed from opset 23 on";
  f.advice = {"pass `--opset 23`"};
  f.first_opset = 23;
  return f;
}

TEST(Render, FindingAsText) {
  EXPECT_EQ(text_of(finding(), {}),
            "error[case-4]: `aten::foo.Tensor`: it can be expressed from opset 23 on\n"
            "  --> model.py:41, in layers.3.attn\n"
            "   |  y = torch.foo(x)\n"
            "  note: used 3 times\n"
            "  note: schema: aten::foo.Tensor(Tensor self) -> Tensor\n"
            "  note: the first opset that works is 23\n"
            "  help: pass `--opset 23`\n");
}

TEST(Render, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(text_of(finding(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text_of(finding(), {true, true}), HasSubstr("\x1b[1;31merror[case-4]\x1b[0m"));
}

TEST(Render, FindingAsJson) {
  const auto json = json_of(finding());
  EXPECT_EQ(json["op"], "aten::foo.Tensor");
  EXPECT_EQ(json["case"], 4);
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["first_opset"], 23);
  EXPECT_EQ(json["locations"][0]["file"], "model.py");
  EXPECT_EQ(json["locations"][0]["line"], 41);
  EXPECT_EQ(json["locations"][0]["module"], "layers.3.attn");
  Finding form = finding();
  form.which.reset();
  form.first_opset.reset();
  EXPECT_TRUE(json_of(form)["case"].is_null());
  EXPECT_TRUE(json_of(form)["first_opset"].is_null());
}

TEST(Render, ReportAsJson) {
  Report report;
  report.input = "m.pt";
  report.inputs = {{"x", "float32", {"batch", "3"}}};
  report.load = StageStatus::Ok;
  report.translate = StageStatus::Failed;
  report.findings = {finding()};
  report.verification =
      Verification{false, {{"y", std::numeric_limits<double>::infinity(), 0.5, false, "note"}}, {}, {}};
  const auto json = json_of(report);
  EXPECT_EQ(json["version"], 1);
  EXPECT_TRUE(json["output"].is_null());
  EXPECT_EQ(json["inputs"][0]["shape"], nlohmann::json::parse(R"(["batch", 3])"));
  EXPECT_EQ(json["stages"]["translate"], "failed");
  EXPECT_EQ(json["stages"]["verify"], "not reached");
  EXPECT_EQ(json["findings"].size(), 1u);
  EXPECT_TRUE(json["verify"]["outputs"][0]["max_abs"].is_null()) << "JSON has no infinity";
  EXPECT_EQ(json["verify"]["outputs"][0]["max_rel"], 0.5);
}

TEST(Render, SarifHasOneResultPerPlaceAndTheRules) {
  Report report;
  report.input = "m.pt";
  report.findings = {finding()};
  report.findings[0].locations.push_back({"model.py", 50, 0, "", ""});
  const auto sarif = nlohmann::json::parse(sarif_of({&report, 1}, "0.1.0"));
  const auto run = sarif["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["name"], "pt2onnx");
  EXPECT_EQ(run["tool"]["driver"]["rules"][0]["id"], "case-4");
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"], 50);
}

TEST(Render, HtmlEscapesWhatComesFromTheFile) {
  Report report;
  report.input = "<script>.pt";
  report.findings = {finding()};
  report.operators = {{"Conv", 3}};
  const std::string html = html_of({&report, 1}, "0.1.0");
  EXPECT_THAT(html, Not(HasSubstr("<script>.pt")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;.pt"));
  EXPECT_THAT(html, HasSubstr("<svg"));
}

}  // namespace
}  // namespace pt2onnx
