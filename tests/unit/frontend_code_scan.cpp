// What an archive's code and pickles tell before torch reads them.
#include <gmock/gmock.h>

#include "frontend/code_scan.h"
#include "frontend/pickle_scan.h"

namespace pt2onnx::testing {
namespace {

using frontend::custom_classes_in;
using frontend::operators_in;
using frontend::scan_pickle;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CodeScan, Operators) {
  const auto uses = operators_in(
      "    a, b, = ops.lib.two(x)\n"
      "    c = torch.add(ops.lib.one(x), 1)\n"
      "    return (ops.lib.one(c), loops.lib.not_one(x), self.ops.lib.neither(x), ops.lib.value)\n");
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].name, "lib::one");
  EXPECT_EQ(uses[0].results, 1);
  EXPECT_EQ(uses[1].name, "lib::two");
  EXPECT_EQ(uses[1].results, 2);
  EXPECT_THAT(operators_in("ops."), IsEmpty());
  EXPECT_THAT(operators_in("ops.a.b"), IsEmpty());
}

TEST(CodeScan, Classes) {
  EXPECT_THAT(custom_classes_in("x : __torch__.torch.classes.a.B\ny : Optional[__torch__.torch.classes.a.C]\n"
                                "z : __torch__.torch.classes.a.B"),
              ElementsAre("a.B", "a.C"));
  EXPECT_THAT(custom_classes_in("__torch__.torch.classes."), IsEmpty());
}

TEST(PickleScan, GlobalsAndTexts) {
  const auto scan = scan_pickle(
      "\x80\x02"
      "cm\nA\n)R(X\x03" +
      std::string(3, '\0') + "keyK\x01u.rest");
  EXPECT_TRUE(scan.complete);
  EXPECT_TRUE(scan.starts_with_global);
  EXPECT_THAT(scan.globals, ElementsAre("m.A"));
  EXPECT_THAT(scan.strings, ElementsAre("key"));
}

TEST(PickleScan, StopsAtDamage) {
  EXPECT_FALSE(scan_pickle("").complete);
  EXPECT_FALSE(scan_pickle("cm\nno end").complete);
  EXPECT_FALSE(scan_pickle("X\xff\xff\xff\xff").complete);
  EXPECT_FALSE(scan_pickle("\xf0").complete);
  EXPECT_FALSE(scan_pickle("(((").complete);
}

}  // namespace
}  // namespace pt2onnx::testing
