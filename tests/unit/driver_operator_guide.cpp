// The guide over the whole catalogue: it never contradicts the registry.
#include "driver/operator_guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/child_process.h"
#include "driver/findings.h"
#include "interpreter/functional_form.h"
#include "interpreter/machine.h"
#include "interpreter/operator_kind.h"
#include "registry/trial.h"

namespace pt2onnx {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

bool is_public(const std::string& name) {
  return (name.starts_with("aten::") || name.starts_with("torchvision::")) &&
         name.find("::_") == std::string::npos;
}

Options at(int opset) {
  Options options;
  options.opset = opset;
  return options;
}

std::string qualified(const program::Schema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "." + schema.overload;
}

class Catalogue : public ::testing::TestWithParam<int> {};

TEST_P(Catalogue, agrees_with_the_registry) {
  const int opset = GetParam();
  const Options options = at(opset);
  const OperatorGuide guide(options);
  const Registry registry = builtin_registry();
  std::size_t asked = 0, mapped = 0, later = 0;
  for (const auto& name : guide.names()) {
    if (!is_public(name)) continue;
    for (const auto& schema : guide.folder().overloads(name)) {
      const std::string op = qualified(*schema);
      const auto standing = guide.standing(*schema);
      const auto functional = functional_form(*schema, guide.folder());
      const auto& form = functional ? *functional : *schema;
      const auto found = registry.find(form.name, form.overload, opset);
      ++asked;
      if (found.rule) {
        ++mapped;
        EXPECT_EQ(standing.status, OpStatus::Mapped) << op;
        EXPECT_EQ(standing.rule->name, found.rule->name);
        EXPECT_LE(*standing.since, opset) << op;
      } else if (standing.status == OpStatus::LaterOpset) {
        ++later;
        EXPECT_EQ(standing.since, found.later) << op;
        EXPECT_GT(*standing.since, opset) << op;
      } else if (standing.status == OpStatus::Mapped) {
        // Without a rule, only what the interpreter itself computes.
        EXPECT_FALSE(standing.how.empty()) << op;
      } else if (standing.status == OpStatus::Decomposed) {
        EXPECT_TRUE(guide.folder().is_composite(*schema)) << op;
        for (const auto& step : standing.steps)
          EXPECT_LE(guide.standing(step).status, OpStatus::Decomposed) << op << " by " << step;
      } else {
        EXPECT_EQ(standing.status, OpStatus::Missing) << op;
        EXPECT_FALSE(found.later) << op;
      }
    }
  }
  EXPECT_GT(asked, 2000u);
  EXPECT_GT(mapped, 800u);
  if (opset < 16) {
    EXPECT_GT(later, 0u);
  }
}

TEST_P(Catalogue, explains_every_operator_in_a_few_milliseconds) {
  const Options options = at(GetParam());
  const OperatorGuide guide(options);
  std::size_t asked = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& name : guide.names()) {
    if (!is_public(name)) continue;
    ++asked;
    const Explanation e = guide.explain(name);
    EXPECT_EQ(e.op, name);
    EXPECT_FALSE(e.reason.empty()) << name;
    const bool exports = e.status == OpStatus::Mapped || e.status == OpStatus::Decomposed;
    EXPECT_EQ(e.which.has_value(), !exports) << name;
    if (e.status == OpStatus::Decomposed) {
      EXPECT_THAT(e.steps, Not(IsEmpty())) << name;
    }
    EXPECT_EQ(e.since.has_value(), e.status != OpStatus::Missing) << name;
    if (e.status == OpStatus::LaterOpset) {
      EXPECT_EQ(e.which, Case::OpsetTooLow) << name;
    }
    if (!exports) {
      EXPECT_FALSE(e.advice.empty()) << name;
      if (!guide.folder().schema(name, "")->is_variadic) {
        EXPECT_NE(e.which, Case::UserOp) << name;
      }
    }
    // What the standard has at this opset is a gap of the dictionary; what it has later is a matter of the opset.
    if (e.which == Case::DictionaryGap) {
      EXPECT_LE(e.onnx.at(0).since, GetParam()) << name;
    }
    if (e.which == Case::NoSuchWord) {
      EXPECT_THAT(e.onnx, IsEmpty()) << name;
    }
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(asked, 1000u);
  EXPECT_LT(took.count() / static_cast<double>(asked), 100) << "ms per operator; some 5 on a quiet machine";
}

INSTANTIATE_TEST_SUITE_P(opsets, Catalogue, ::testing::Values(9, 13, 17, 20, newest_opset()));

TEST(OperatorGuide, SaysWhatAMappedOperatorBecomes) {
  const auto words = [](int opset, const std::string& name) {
    const Options options = at(opset);
    std::vector<std::string> names;
    for (const auto& word : OperatorGuide(options).explain(name).onnx) names.push_back(word.name);
    return names;
  };
  EXPECT_EQ(words(9, "aten::asinh"), std::vector<std::string>{"Asinh"});
  EXPECT_THAT(words(16, "aten::layer_norm"), Contains("ReduceMean"));
  EXPECT_EQ(words(17, "aten::layer_norm"), std::vector<std::string>{"LayerNormalization"});
}

/// An export runs these kernels in its own process.
TEST(OperatorGuide, NoKernelCrashesWhenItIsTakenApart) {
  const Options options;
  const OperatorGuide guide(options);
  std::size_t asked = 0;
  for (const auto& name : guide.names())
    for (const auto& schema : guide.folder().overloads(name)) {
      if (!guide.folder().is_composite(*schema)) continue;
      ++asked;
      constexpr unsigned kSeconds = 20;
      EXPECT_TRUE(in_child_process([&] { return try_steps(*schema, guide.folder()).empty() ? "" : "steps"; },
                                   kSeconds))
          << schema->text;
    }
  EXPECT_GT(asked, 500u);
}

TEST(OperatorGuide, KnowsTheNamespacesOfTorch) {
  const Options options;
  const OperatorGuide guide(options);
  for (const auto& name : guide.names())
    EXPECT_TRUE(is_torch_namespace(name.substr(0, name.find("::"))))
        << name << " is taken for a user's operator";
}

TEST(OperatorGuide, FullNames) {
  const Options options;
  const OperatorGuide guide(options);
  EXPECT_EQ(guide.full_name("asinh"), "aten::asinh");
  EXPECT_EQ(guide.full_name("add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(guide.full_name("deform_conv2d"), "torchvision::deform_conv2d");
  EXPECT_EQ(guide.full_name("mylib::foo"), "mylib::foo");
  EXPECT_THAT(guide.explain("aten::grid_samplr").near, Contains("aten::grid_sampler"));
  EXPECT_EQ(guide.explain("aten::grid_samplr").status, OpStatus::Unknown);
}

TEST(OperatorGuide, PythonFunctions) {
  const Options options;
  for (const std::string name : {"^MyFunc", "prim::PythonOp"}) {
    const Explanation e = OperatorGuide(options).explain(name);
    EXPECT_EQ(e.op, name);
    EXPECT_EQ(e.which, Case::UserOp);
    EXPECT_THAT(e.reason, HasSubstr("torch.jit.save refuses"));
    EXPECT_EQ(e.advice.size(), 3u);
  }
}

TEST(OperatorGuide, OpsetOutOfRange) {
  const Options options = at(8);
  const Explanation e = OperatorGuide(options).explain("aten::asinh");
  EXPECT_EQ(e.which, Case::OpsetTooLow);
  EXPECT_EQ(e.since, 9);
  EXPECT_THAT(e.reason, HasSubstr("opset 8 is out of range: 9 to "));
  const Options late = at(99);
  EXPECT_THAT(OperatorGuide(late).explain("aten::asinh").reason,
              HasSubstr("opset 99 is out of range: 9 to "));
  const Options first = at(9);
  EXPECT_EQ(OperatorGuide(first).explain("aten::asinh").status, OpStatus::Mapped);
}

TEST(OperatorGuide, KernelOfACustomNode) {
  const Options options = at(17);
  const Explanation e = OperatorGuide(options).explain("torchvision::deform_conv2d");
  EXPECT_EQ(e.status, OpStatus::LaterOpset);
  EXPECT_EQ(e.which, Case::OpsetTooLow);
  EXPECT_EQ(e.since, 19);
  ASSERT_TRUE(e.custom_node);
  EXPECT_EQ(e.custom_node->name, "deform_conv2d");
  EXPECT_EQ(e.custom_node->inputs.size(), 5u);
  EXPECT_EQ(e.custom_node->attributes.size(), 9u);
  EXPECT_THAT(text_of(*e.custom_node), HasSubstr("custom::deform_conv2d(input, weight, offset, mask, bias;"));
}

}  // namespace
}  // namespace pt2onnx
