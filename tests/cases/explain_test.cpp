// What `explain` says of an operator and what an export of a model with it then does, for every case.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "driver/operator_guide.h"
#include "interpreter/operator_kind.h"
#include "run_case.h"
#include "test_paths.h"

namespace pt2onnx::testing {
namespace {

std::string qualified(const program::Schema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "." + schema.overload;
}

/// The operators that the interpreter found no rule for, by qualified name, with the opset of a later rule.
std::map<std::string, std::optional<int>> reported_missing(const std::vector<Finding>& findings) {
  std::map<std::string, std::optional<int>> missing;
  for (const Finding& finding : findings)
    if (finding.reason.empty())
      missing[finding.op] = finding.first_opset;  // else a form is refused, with words
  return missing;
}

std::vector<Case> translatable_cases() {
  auto cases = read_all_cases(std::string(kSourceDir) + "/tests/cases");
  std::erase_if(cases, [](const Case& c) { return !c.skip.empty(); });
  return cases;
}

/// What the guide says of every operator of the program must agree with what was reported.
void expect_agreement(const OperatorGuide& guide, const program::Program& program,
                      const std::vector<Finding>& findings, const std::string& where,
                      std::size_t& confirmed) {
  const auto missing = reported_missing(findings);
  for (const auto& op : program.operators) {
    if (!op->schema) continue;
    const auto standing = guide.standing(*op->schema);
    const auto it = missing.find(qualified(*op->schema));
    if (it == missing.end()) continue;  // translated, or not reached
    // Without a tensor among its arguments libtorch computes it, where they are known; in this program they are not.
    const bool conditional =
        std::ranges::none_of(op->schema->arguments, [](const program::SchemaArgument& a) {
          return a.type && a.type->text.find("Tensor") != std::string::npos;
        });
    if (conditional && standing.status == OpStatus::Mapped) continue;
    // An ordinary call of it can be taken apart, and this one cannot.
    if (standing.status == OpStatus::Decomposed) continue;
    ++confirmed;
    EXPECT_NE(standing.status, OpStatus::Mapped) << where << ": " << it->first;
    EXPECT_EQ(standing.since, it->second) << where << ": " << it->first;
  }
}

TEST(Explain, agrees_with_the_export_at_every_opset) {
  const Registry registry = builtin_registry();
  std::size_t confirmed = 0;
  for (const int opset : {9, 13, 17, 20, newest_opset()}) {
    Options options;
    options.opset = opset;
    const OperatorGuide guide(options);
    for (const auto& c : translatable_cases()) {
      const auto module = load_case(c);
      const bool dynamic = c.only_dynamic;
      const auto translation = translate_case(c, *module, opset, dynamic, registry);
      const std::string where = c.file + ".case: " + c.name + " at " + std::to_string(opset);
      expect_agreement(guide, module->program(), translation.findings, where, confirmed);
    }
  }
  EXPECT_GT(confirmed, 20u) << "operators that some opset is too low for";
}

/// Without its rule, an operator that a case reaches is missing in both, and reported with its qualified name; or it is taken
/// apart.
TEST(Explain, a_hidden_operator_is_missing_in_both) {
  const Registry builtin = builtin_registry();
  std::size_t confirmed = 0, hidden = 0, taken_apart = 0;
  for (const auto& c : translatable_cases()) {
    if (c.rejection) continue;
    const auto module = load_case(c);
    // The first operator whose rule the translation runs.
    std::string reached;
    Registry recording;
    for (const auto& name : builtin.names())
      for (const auto* rule : builtin.rules(name))
        recording.add({name, rule->since,
                       [&reached, convert = rule->convert](Call& call) {
                         if (reached.empty()) reached = call.name();
                         return convert(call);
                       },
                       rule->origin, rule->on_complex});
    const int opset = c.opsets.back();
    translate_case(c, *module, opset, c.only_dynamic, recording);
    if (reached.empty()) continue;
    ++hidden;
    Options options;
    options.opset = opset;
    options.without = {reached};
    Registry registry = builtin;
    registry.remove(reached);
    const OperatorGuide guide(options);
    const auto translation = translate_case(c, *module, opset, c.only_dynamic, registry);
    const std::string where = c.file + ".case: " + c.name + " without " + reached;
    expect_agreement(guide, module->program(), translation.findings, where, confirmed);
    if (guide.standing(reached).status == OpStatus::Decomposed && translation.findings.empty()) ++taken_apart;
  }
  EXPECT_GT(hidden, 500u);
  EXPECT_GT(taken_apart, 100u);
  EXPECT_GT(confirmed + taken_apart, hidden * 9 / 10) << confirmed << " of " << hidden;
}

}  // namespace
}  // namespace pt2onnx::testing
