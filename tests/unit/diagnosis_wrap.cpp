#include "diagnosis/wrap.h"

#include <gtest/gtest.h>

namespace pt2onnx {
namespace {

TEST(Wrap, LeavesWhatFits) {
  EXPECT_EQ(wrapped("a b c\n  d\n", 5), "a b c\n  d\n");
  EXPECT_EQ(wrapped("a  b   c", 0), "a  b   c");
  EXPECT_EQ(wrapped("", 10), "");
}

TEST(Wrap, BreaksBetweenWordsUnderTheFirst) {
  EXPECT_EQ(wrapped("one two three four", 10), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("  help: one two three", 15), "  help: one two\n        three");
}

TEST(Wrap, CodeStaysInOnePiece) {
  EXPECT_EQ(wrapped("  help: pass `--map a file` now", 20),
            "  help: pass\n        `--map a file`\n        now");
  EXPECT_EQ(wrapped("   |  y = foo(x, y, z)", 10), "   |  y = foo(x, y, z)");
}

TEST(Wrap, ColoursAndLettersOfSeveralBytesCountAsTheyLook) {
  EXPECT_EQ(wrapped("\x1b[1;31mone\x1b[0m two", 7), "\x1b[1;31mone\x1b[0m two");
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6 \xc3\xbc", 4), "\xc3\xa4\xc3\xb6 \xc3\xbc");
}

}  // namespace
}  // namespace pt2onnx
