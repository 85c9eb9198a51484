// Every case once more without the rules of the operators that libtorch computes by others: what their kernels call is
// then translated instead. It may be refused, and must not be wrong.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emitter/emitter.h"
#include "run_case.h"
#include "test_paths.h"
#include "verify/runtime.h"

namespace pt2onnx::testing {
namespace {

constexpr int kOpset = 20;

/// Composite operators that have a rule; those are hidden that the case's own program calls.
bool hide_composites(const program::Block& block, Folder& folder, Registry& registry) {
  bool any = false;
  for (const program::Node& node : block.nodes) {
    for (const program::Block& inner : node.blocks) any |= hide_composites(inner, folder, registry);
    const auto& schema = node.op->schema;
    if (!schema || !registry.find(schema->name, schema->overload, kOpset).rule) continue;
    // `mul.Scalar` calls `mul.Tensor`, which the rule is for as well.
    const auto overloads = folder.overloads(schema->name);
    if (!std::ranges::all_of(overloads, [&](const auto& one) { return folder.is_composite(*one); })) continue;
    registry.remove(schema->name);
    any = true;
  }
  return any;
}

struct Tally {
  std::size_t translated = 0;
  std::vector<std::string> refused, wrong;
};

Tally run_all(bool dynamic) {
  static const Registry full = builtin_registry();
  Tally tally;
  for (const Case& c : read_all_cases(std::string(kSourceDir) + "/tests/cases")) {
    if (!c.skip.empty() || c.rejection || (dynamic ? !c.has_dynamic_dims() : c.only_dynamic)) continue;
    const auto module = load_case(c);
    Registry registry = full;
    if (!hide_composites(module->program().entry->body, module->folder(), registry)) continue;
    const CaseRun run = run_case(c, *module, kOpset, dynamic, registry, Expect::Numbers);
    if (!run.translated)
      tally.refused.push_back(run.words);
    else if (run.words.empty())
      ++tally.translated;
    else
      tally.wrong.push_back(fmt::format("{}.case:{} {}: {}", c.file, c.line, c.name, run.words));
  }
  return tally;
}

/// None is wrong, and of the others at least `share` are translated.
void check(const Tally& tally, double share) {
  EXPECT_EQ(fmt::format("{}", fmt::join(tally.wrong, "\n")), "");
  const auto all = static_cast<double>(tally.translated + tally.refused.size());
  EXPECT_GT(static_cast<double>(tally.translated), share * all)
      << tally.translated << " of " << all << fmt::format("{}", fmt::join(tally.refused, "\n"));
}

TEST(Decomposition, is_right_or_refused) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  check(run_all(false), 0.6);
}

TEST(Decomposition, keeps_dynamic_dims_or_refuses) {
  if (!has_runtime()) GTEST_SKIP() << why_no_runtime();
  check(run_all(true), 0.5);
}

}  // namespace
}  // namespace pt2onnx::testing
