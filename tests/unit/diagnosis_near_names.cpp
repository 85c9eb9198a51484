#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/near_names.h"

namespace pt2onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EditDistance, CountsLettersAndSwaps) {
  EXPECT_EQ(edit_distance("relu", "relu"), 0u);
  EXPECT_EQ(edit_distance("Relu", "relu"), 0u);
  EXPECT_EQ(edit_distance("relu", "rel"), 1u);
  EXPECT_EQ(edit_distance("relu", "gelu"), 1u);
  EXPECT_EQ(edit_distance("relu", "rleu"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearNames, NearestFirst) {
  const std::vector<std::string> names{"aten::softmax", "aten::softmin", "aten::log_softmax", "aten::cos"};
  EXPECT_THAT(near_names("aten::softma", names), ElementsAre("aten::softmax", "aten::softmin"));
  EXPECT_THAT(near_names("aten::softma", names, 1), ElementsAre("aten::softmax"));
}

TEST(NearNames, NamespacesAndDashesDoNotMakeWordsNear) {
  const std::vector<std::string> names{"aten::abs", "aten::cos", "--rtol"};
  EXPECT_THAT(near_names("aten::nms", names), IsEmpty());
  EXPECT_THAT(near_names("x", std::vector<std::string>{"y"}), IsEmpty());
  EXPECT_THAT(near_names("--rtoll", names), ElementsAre("--rtol"));
}

}  // namespace
}  // namespace pt2onnx
