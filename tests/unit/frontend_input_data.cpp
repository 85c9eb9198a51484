// Example values from .npz, .npy and torch.save files.
#include <gmock/gmock.h>

#include "frontend/frontend.h"
#include "support/torchscript.h"
#include "support/zip_archive.h"

namespace pt2onnx::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                bool column_major = false) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (column_major ? "True" : "False") +
                       ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 0xff) +
         static_cast<char>(header.size() >> 8) + header + data;
}

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

Tensor only_array(const std::string& content) {
  const TemporaryFile file("x.npz", zip_bytes({{"x.npy", content}}));
  const auto values = read_input_data(file.path());
  EXPECT_EQ(values.size(), 1U);
  EXPECT_EQ(values.at(0).first, "x");
  return std::get<Tensor>(values.at(0).second.data);
}

TEST(InputData, ArraysOfEachLayout) {
  const Tensor row_major = only_array(npy("<i2", "(2, 2)", bytes({1, 0, 2, 0, 3, 0, 4, 0})));
  EXPECT_EQ(row_major.dtype, DType::Int16);
  EXPECT_THAT(row_major.dims, ElementsAre(2, 2));
  EXPECT_THAT(row_major.to_ints(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(only_array(npy(">i2", "(2,)", bytes({0, 1, 1, 0}))).to_ints(), ElementsAre(1, 256));
  EXPECT_THAT(only_array(npy("|u1", "(2, 3)", bytes({1, 4, 2, 5, 3, 6}), true)).to_ints(),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(only_array(npy("|b1", "()", bytes({1}))).dims, ElementsAre());
  EXPECT_EQ(only_array(npy("<f4", "(0, 3)", "")).dtype, DType::Float32);
}

TEST(InputData, ArraysByName) {
  const TemporaryFile file("two.npz", zip_bytes({{"ids.npy", npy("|u1", "(1,)", bytes({7}))},
                                                 {"mask.npy", npy("|b1", "(1,)", bytes({1}))}}));
  const auto values = read_input_data(file.path());
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].first, "ids");
  EXPECT_EQ(values[1].first, "mask");
  const TemporaryFile single("one.npy", npy("|u1", "(1,)", bytes({7})));
  EXPECT_EQ(read_input_data(single.path()).at(0).first, "in_0");
}

TEST(InputData, WhatIsNoDataSaysSo) {
  const auto reading = [](const std::string& content) {
    return [content] { read_input_data(TemporaryFile("bad.npz", content).path()); };
  };
  const auto says = [](const char* text) { return ThrowsMessage<LoadError>(HasSubstr(text)); };
  EXPECT_THAT(reading("text"), says("neither an `.npz` nor a `.pt`"));
  EXPECT_THAT(reading(zip_bytes({{"x.npy", npy("|O", "(1,)", "?")}})),
              says("array `x`: its elements are of type `|O`"));
  EXPECT_THAT(reading(zip_bytes({{"x.npy", npy("<f4", "(5,)", "1234")}})), says("cut off"));
  EXPECT_THAT(reading(zip_bytes({{"x.npy", npy("<f4", "(99999999999, 99999999999)", "1234")}})),
              says("impossible"));
  EXPECT_THAT([] { read_input_data("/no/such.npz"); }, says("does not exist"));
  const TemporaryModule module(
      TorchScriptSnippet{"def forward(self, x):\n    return x\n", {}, {}, {}, {}, {}});
  EXPECT_THAT([&] { read_input_data(module.path()); }, says("cannot be used as example values"));
}

TEST(InputData, DictsAndTuplesOfTorchSave) {
  // torch.save({"a": torch.tensor([1., 2.])}) and torch.save((tensor, tensor)), by hand.
  const auto text = [](const std::string& value) {
    return "X" + bytes({static_cast<int>(value.size()), 0, 0, 0}) + value;
  };
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
                             "ctorch\nFloatStorage\n" + text("0") + text("cpu") + bytes({'K', 2}) + "tQ" +
                             bytes({'K', 0, 'K', 2, 0x85, 'K', 1, 0x85, 0x89}) +
                             "ccollections\nOrderedDict\n)RtR";
  const auto saved = [](const std::string& object) {
    return zip_bytes({{"x/data.pkl", "\x80\x02" + object + "."},
                      {"x/byteorder", "little"},
                      {"x/data/0", bytes({0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})},
                      {"x/version", "3\n"}});
  };
  const TemporaryFile dict("dict.pt", saved("}(" + text("a") + tensor + "u"));
  auto values = read_input_data(dict.path());
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].first, "a");
  EXPECT_THAT(std::get<Tensor>(values[0].second.data).to_doubles(), ElementsAre(1, 2));

  const TemporaryFile tuple("tuple.pt", saved(tensor + tensor + bytes({0x86})));
  values = read_input_data(tuple.path());
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].first, "in_1");
}

}  // namespace
}  // namespace pt2onnx::testing
