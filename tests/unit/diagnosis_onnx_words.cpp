// Case 1: an operator that is one ONNX operator is found back by its name and signature alone when its rule is hidden.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/child_process.h"
#include "diagnosis/advice.h"
#include "emitter/emitter.h"
#include "frontend/frontend.h"
#include "interpreter/operator_kind.h"
#include "registry/trial.h"

namespace pt2onnx {
namespace {

bool is_public(const std::string& name) {
  return (name.starts_with("aten::") || name.starts_with("torchvision::")) &&
         name.find("::_") == std::string::npos;
}

/// The ONNX operators that calls of the overload become, one node for one call with exactly its tensors.
std::set<std::string> words_of(const Registry& registry, const program::Schema& schema, Folder& folder) {
  std::set<std::string> words;
  for (const int opset : {9, 20, newest_opset()}) {
    const auto found = registry.find(schema.name, schema.overload, opset);
    if (!found.rule) continue;
    const auto words_at = [&](bool every_call) {
      return in_child_process(
          [&] {
            use_one_thread();
            std::string lines;
            for (const Trial& trial :
                 try_rule(registry, *found.rule, schema, onnx_catalog(), folder, opset, every_call))
              if (trial.is_one_word && trial.operators.front() != "Cast")  // adapts arguments
                lines += trial.operators.front() + "\n";
            return lines;
          },
          10);
    };
    auto lines = words_at(true);
    if (!lines) lines = words_at(false);  // some kernel of libtorch crashed on nonsense
    std::istringstream stream(lines.value_or(""));
    for (std::string word; std::getline(stream, word);) words.insert(word);
  }
  return words;
}

/// One node in the calls that were tried, and yet no word for what the operator is.
const std::map<std::string, std::string> kExceptions{
    {"aten::atleast_3d", "Unsqueeze is what one more axis takes; there is no word for `at least`"},
    {"aten::index_copy", "Scatter is deprecated; ScatterElements takes indices of another rank"},
    {"aten::instance_norm",
     "BatchNormalization is the form on running statistics; the name says InstanceNormalization"},
    {"aten::norm_except_dim",
     "ReduceL2 and a reshape of the result, which is nothing in the call that was tried"},
    {"aten::sum_to_size",
     "ReduceSum and a reshape of the result, which is nothing in the call that was tried"},
    {"aten::vander", "powers of a column; with one column, nothing but the new axis is left"},
};

TEST(OnnxWords, hidden_operators_are_found_back) {
  const auto folder = torch_folder();
  const Registry registry = builtin_registry();
  std::size_t asked = 0, excused = 0;
  std::vector<std::string> lost;
  for (const auto& name : folder->names()) {
    if (!is_public(name)) continue;
    std::map<std::string, bool> found;  // by ONNX word, over the overloads
    for (const auto& schema : folder->overloads(name)) {
      if (writes_arguments(*schema)) continue;
      const auto words = words_of(registry, *schema, *folder);
      if (words.empty()) continue;
      const auto candidates = onnx_words_for(name, *schema, onnx_catalog());
      for (const auto& word : words)
        found[word] |= std::any_of(candidates.begin(), candidates.end(),
                                   [&](const OnnxWord& w) { return w.name == word; });
    }
    if (found.empty()) continue;
    ++asked;
    // One of the words is enough: a convolution of one sample may come out as another operator than a batch does.
    if (std::none_of(found.begin(), found.end(), [](const auto& item) { return item.second; })) {
      std::string all;
      for (const auto& [word, ok] : found) all += " " + word;
      if (kExceptions.contains(name))
        ++excused;
      else
        lost.push_back(name + " ->" + all);
    }
  }
  EXPECT_GT(asked, 200u);
  EXPECT_LE(excused, asked / 20);
  EXPECT_EQ(excused, kExceptions.size()) << "an exception that is none any more";
  EXPECT_TRUE(lost.empty()) << fmt::format("{} of {}:\n{}", lost.size(), asked, fmt::join(lost, "\n"));
}

/// Names that mislead: the signature says that another thing is meant.
TEST(OnnxWords, the_name_alone_is_not_enough) {
  const auto folder = torch_folder();
  const auto words = [&](const std::string& op, const std::string& overload = {}) {
    std::vector<std::string> names;
    for (const OnnxWord& word : onnx_words_for(op, *folder->schema(op, overload), onnx_catalog()))
      names.push_back(word.name);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(words("aten::resize"), Names{}) << "how much memory a tensor has, not an image's size";
  EXPECT_EQ(words("aten::resize_"), Names{});
  EXPECT_EQ(words("aten::_cslt_compress"), Names{}) << "no condition to select by";
  EXPECT_EQ(words("aten::upsample_nearest2d"), Names{"Resize"});
  EXPECT_EQ(words("aten::upsample_bicubic2d", "vec"), Names{"Resize"});
  EXPECT_EQ(words("aten::cudnn_grid_sampler"), Names{"GridSample"});
  EXPECT_EQ(words("aten::rand_like"), Names{"RandomUniformLike"});
  EXPECT_EQ(words("aten::gather"), Names{"GatherElements"});
  EXPECT_EQ(words("aten::sum", "dim_IntList"), Names{"ReduceSum"}) << "Sum adds tensors";
  EXPECT_EQ(words("aten::max"), Names{"ReduceMax"});
  EXPECT_EQ(words("aten::max", "other").front(), "Max");
  EXPECT_EQ(words("aten::std"), Names{}) << "SpaceToDepth has the initials, and needs a block size";
  EXPECT_EQ(words("aten::bitwise_or", "Tensor"), Names{"BitwiseOr"}) << "not BitwiseXor, a letter away";
  EXPECT_EQ(words("aten::quantize_per_channel"), Names{"QuantizeLinear"});
  EXPECT_EQ(words("aten::affine_grid_generator"), Names{"AffineGrid"});
  EXPECT_EQ(words("aten::triu"), Names{"Trilu"});
}

}  // namespace
}  // namespace pt2onnx
