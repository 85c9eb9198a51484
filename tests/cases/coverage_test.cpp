// The dictionary and the cases, against each other: a row that no case reaches must be listed with the reason in
// uncovered.txt, and a name must be one that libtorch (or torchvision) knows.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <set>

#include "run_case.h"
#include "test_paths.h"

namespace pt2onnx::testing {
namespace {

using Row = std::pair<std::string, int>;  // name, since

std::string text_of(const std::vector<Row>& rows) {
  std::string text;
  for (const auto& [name, since] : rows) text += fmt::format("\n  {} {}", name, since);
  return text;
}

/// `aten::conv_depthwise3d 9 reached from CUDA only` -> the row and its reason.
std::map<Row, std::string> excused_rows() {
  std::map<Row, std::string> rows;
  std::ifstream file(std::string(kSourceDir) + "/tests/cases/uncovered.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Row row;
    std::string reason;
    words >> row.first >> row.second;
    std::getline(words, reason);
    EXPECT_GT(reason.size(), 5u) << "uncovered.txt: `" << line << "` has no reason";
    rows[row] = reason;
  }
  return rows;
}

TEST(Coverage, every_row_is_reached_by_a_case) {
  const Registry builtin = builtin_registry();
  std::set<Row> reached, all;
  Registry recording;
  for (const auto& name : builtin.names())
    for (const auto* rule : builtin.rules(name)) {
      const Row row{name, rule->since};
      all.insert(row);
      recording.add({name, rule->since,
                     [row, &reached, convert = rule->convert](Call& c) {
                       reached.insert(row);
                       return convert(c);
                     },
                     rule->origin, rule->on_complex});
    }

  // Forms for complex and quantized values are rows as well: `complex aten::mul`.
  using Form = Registry::Form;
  for (const auto& [form, prefix] :
       {std::pair(Form::Complex, "complex "), std::pair(Form::Quantized, "quantized ")})
    for (const auto* rule : builtin.rules(form)) {
      const Row row{prefix + rule->name, rule->since};
      all.insert(row);
      recording.add(form, Rule{rule->name, rule->since,
                               [row, &reached, convert = rule->convert](Call& c) {
                                 reached.insert(row);
                                 return convert(c);
                               },
                               rule->origin, rule->on_complex});
    }

  for (const auto& c : read_all_cases(std::string(kSourceDir) + "/tests/cases")) {
    if (!c.skip.empty()) continue;
    const auto module = load_case(c);
    for (const int opset : c.opsets) {
      if (!c.only_dynamic) translate_case(c, *module, opset, false, recording);
      if (c.has_dynamic_dims()) translate_case(c, *module, opset, true, recording);
    }
  }

  const auto excused = excused_rows();
  std::vector<Row> missing, needless, stale;
  for (const auto& row : all)
    if (!reached.contains(row) && !excused.contains(row)) missing.push_back(row);
  for (const auto& [row, reason] : excused) {
    if (!all.contains(row)) stale.push_back(row);
    if (reached.contains(row)) needless.push_back(row);
  }
  EXPECT_TRUE(missing.empty()) << missing.size() << " rows that no case reaches:" << text_of(missing);
  EXPECT_TRUE(needless.empty()) << "listed in uncovered.txt, but reached:" << text_of(needless);
  EXPECT_TRUE(stale.empty()) << "listed in uncovered.txt, but no row:" << text_of(stale);
}

TEST(Coverage, every_name_is_an_operator) {
  const auto folder = torch_folder();
  std::vector<std::string> unknown;
  for (const auto& name : builtin_registry().names()) {
    const auto dot = name.find('.');
    const auto base = name.substr(0, dot);
    const auto overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    const auto exists = [&](const std::string& op) {
      return overload.empty() ? folder->schema(op, "") != nullptr : folder->exists(op, overload);
    };
    if (name.starts_with("aten::") && !exists(base) && !exists(base + "_")) unknown.push_back(name);
  }
  EXPECT_TRUE(unknown.empty()) << fmt::format("{}", fmt::join(unknown, "\n"));
}

}  // namespace
}  // namespace pt2onnx::testing
