#include <gmock/gmock.h>

#include <stdexcept>

#include "model_builder.h"

namespace pt2onnx {
namespace {

using testing::HasSubstr;
using testing::Not;

using Dims = std::vector<std::optional<Dim>>;

Dim batch() { return Dim::symbol("batch"); }
Dim length() { return Dim::symbol("length"); }

Dims dims_of(const OpCatalog::Inferred& inferred) { return inferred.dims.value_or(Dims()); }

Shape shape_of(Value v) {
  EXPECT_TRUE(v.shape().has_value()) << v.name();
  return v.shape().value_or(Shape{});
}

/// Types of a node's outputs without the stand-ins that ModelBuilder makes for open dims.
std::vector<OpCatalog::Inferred> infer(ModelBuilder& m, std::string op, std::vector<Value> inputs,
                                       Attributes attributes = {}, std::size_t outputs = 1) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(m.value("out"));
  return onnx_catalog().infer(node, m.model.opset);
}

std::string error_of(ModelBuilder& m, std::string op, std::vector<Value> inputs, Attributes attributes = {}) {
  try {
    infer(m, std::move(op), std::move(inputs), std::move(attributes));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Inference, KeepsASymbolThroughConv) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch(), 3, 224, 224});
  const Value y =
      m.op("Conv", {x, m.zeros("w", {64, 3, 7, 7}), m.zeros("b", {64})},
           {{"strides", std::vector<std::int64_t>{2, 2}}, {"pads", std::vector<std::int64_t>{3, 3, 3, 3}}});
  EXPECT_EQ(y.dtype(), DType::Float32);
  EXPECT_EQ(shape_of(y), (Shape{batch(), 64, 112, 112}));
}

TEST(Inference, KeepsADerivedDim) {
  ModelBuilder m(18);
  const Dim derived = batch() * 2 + 1;
  const Value x = m.input("x", DType::Float32, {derived, 4});
  const Value y = m.op("MatMul", {x, m.zeros("w", {4, 5})});
  EXPECT_EQ(shape_of(y), (Shape{derived, 5}));
}

TEST(Inference, ReadsConstants) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch(), 3, 4});
  EXPECT_EQ(shape_of(m.op("Reshape", {x, m.ints("s", {0, 12})})), (Shape{batch(), 12}));
  EXPECT_EQ(shape_of(m.op("Slice", {x, m.ints("b", {1}), m.ints("e", {3}), m.ints("a", {1})})),
            (Shape{batch(), 2, 4}));
  EXPECT_EQ(shape_of(m.op("Unsqueeze", {x, m.ints("u", {0})})), (Shape{1, batch(), 3, 4}));
  EXPECT_EQ(shape_of(m.op("Expand", {m.zeros("z", {1}), m.ints("t", {2, 3})})), (Shape{2, 3}));
}

TEST(Inference, LeavesOpenWhatTheInputsDoNotTell) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch()});
  const auto found = infer(m, "NonZero", {x});
  EXPECT_EQ(found[0].dtype, DType::Int64);
  EXPECT_EQ(dims_of(found[0]), (Dims{1, std::nullopt}));

  const Value shape = m.input("shape", DType::Int64, {length()});
  EXPECT_EQ(infer(m, "Reshape", {x, shape})[0].dims, std::nullopt);  // not even the rank
}

TEST(Inference, BroadcastsSymbols) {
  ModelBuilder m(18);
  const Value a = m.input("a", DType::Float32, {batch(), 1, 8});
  const Value b = m.input("b", DType::Float32, {length(), 8});
  EXPECT_EQ(shape_of(m.op("Add", {a, b})), (Shape{batch(), length(), 8}));
  EXPECT_EQ(m.op("Less", {a, b}).dtype(), DType::Bool);
}

TEST(Inference, KnowsOperatorsThatAreFunctions) {
  ModelBuilder m(20);
  const Value x = m.input("x", DType::Float16, {batch(), length(), 8});
  EXPECT_EQ(shape_of(m.op("Gelu", {x})), (Shape{batch(), length(), 8}));
  const Value y = m.op("LayerNormalization", {x, m.zeros("s", {8}, DType::Float16)}, {{"axis", -1}});
  EXPECT_EQ(y.dtype(), DType::Float16);
  EXPECT_EQ(shape_of(y), (Shape{batch(), length(), 8}));

  // No inference function of their own: by function body, and by a body that depends on the node.
  const auto compared = infer(m, "LessOrEqual", {x, x});
  EXPECT_EQ(compared[0].dtype, DType::Bool);
  const Value image = m.input("image", DType::Float32, {batch(), 8, 4, 4});
  const Value normalized = m.op("MeanVarianceNormalization", {image});
  EXPECT_EQ(normalized.dtype(), DType::Float32);
  EXPECT_EQ(shape_of(normalized), (Shape{batch(), 8, 4, 4}));

  ModelBuilder newer(21);
  const Value again = newer.input("image", DType::Float32, {batch(), 8, 4, 4});
  const auto groups = infer(newer, "GroupNormalization",
                            {again, newer.zeros("s", {8}), newer.zeros("b", {8})}, {{"num_groups", 2}});
  EXPECT_EQ(groups[0].dtype, DType::Float32);
}

TEST(Inference, GivesSeveralOutputs) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {5, batch(), 4});
  const auto lstm = infer(m, "LSTM", {x, m.zeros("w", {2, 24, 4}), m.zeros("r", {2, 24, 6})},
                          {{"hidden_size", 6}, {"direction", "bidirectional"}}, 3);
  ASSERT_EQ(lstm.size(), 3u);
  EXPECT_EQ(dims_of(lstm[0]), (Dims{5, 2, batch(), 6}));
  EXPECT_EQ(dims_of(lstm[2]), (Dims{2, batch(), 6}));
}

TEST(Inference, KnowsSequences) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch(), 4});
  const auto sequence = infer(m, "SequenceConstruct", {x, x});
  EXPECT_EQ(sequence[0].kind, ValueType::Kind::Sequence);
  EXPECT_EQ(sequence[0].dtype, DType::Float32);
  const Value s = m.value("s", {ValueType::Kind::Sequence, DType::Float32, std::nullopt});
  EXPECT_EQ(
      infer(m, "SequenceAt", {s, m.constant("i", Tensor::scalar(std::int64_t{0}, DType::Int64))})[0].dtype,
      DType::Float32);
}

TEST(Inference, MergesTheBranchesOfIf) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch(), 4});
  const Value condition = m.input("c", DType::Bool, {});
  const auto yes = std::make_shared<Graph>();
  const auto no = std::make_shared<Graph>();
  yes->outputs = {m.op("Relu", {x}, {}, yes.get())};
  no->outputs = {m.op("Concat", {x, x}, {{"axis", 1}}, no.get())};
  const auto found = infer(m, "If", {condition}, {{"then_branch", yes}, {"else_branch", no}});
  EXPECT_EQ(found[0].dtype, DType::Float32);
  EXPECT_EQ(dims_of(found[0]), (Dims{batch(), std::nullopt}));

  no->outputs.push_back(x);
  EXPECT_THAT(error_of(m, "If", {condition}, {{"then_branch", yes}, {"else_branch", no}}),
              HasSubstr("then_branch and else_branch produce different number of outputs"));
}

TEST(Inference, StacksTheScansOfLoop) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {batch(), 4});
  const Value trips = m.input("n", DType::Int64, {});
  const auto body = std::make_shared<Graph>();
  const Value i = m.value("i", tensor_type(DType::Int64, {}));
  const Value go_on = m.value("go_on", tensor_type(DType::Bool, {}));
  const Value state = m.value("state", tensor_type(DType::Float32, {batch(), 4}));
  body->inputs = {i, go_on, state};
  const Value next = m.op("Add", {state, x}, {}, body.get());
  // A size that arises inside the body is another one in each trip: nothing outside may call it by its symbol.
  const Value found = m.op("NonZero", {next}, {}, body.get());
  body->outputs = {go_on, next, next, found};
  const auto types = infer(m, "Loop", {trips, Value(), x}, {{"body", body}}, 3);
  EXPECT_EQ(types[0].dtype, DType::Float32);
  EXPECT_EQ(dims_of(types[1]), (Dims{std::nullopt, batch(), 4}));
  EXPECT_EQ(dims_of(types[2]), (Dims{std::nullopt, 2, std::nullopt}));

  body->inputs.pop_back();
  EXPECT_THAT(error_of(m, "Loop", {trips, Value(), x}, {{"body", body}}),
              HasSubstr("takes 2 inputs but gets 3"));
}

TEST(Inference, SaysInOneLineWhatIsWrong) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2, 3});
  const Value i = m.input("i", DType::Int64, {2, 3});
  for (const std::string& error :
       {error_of(m, "MatMul", {x, x}), error_of(m, "Add", {x, i}), error_of(m, "Relu", {x}, {{"slope", 1}}),
        error_of(m, "Concat", {x}), error_of(m, "Relu", {x, x}), error_of(m, "Conv", {i, i}),
        error_of(m, "Flatten", {x}, {{"axis", 1.0}})}) {
    EXPECT_THAT(error, Not(HasSubstr("\n")));
    EXPECT_THAT(error, Not(HasSubstr("InferenceError]")));
    EXPECT_NE(error, "no error");
  }
  EXPECT_THAT(error_of(m, "MatMul", {x, x}), HasSubstr("Incompatible dimensions"));
  EXPECT_EQ(error_of(m, "Gelu", {x}), "there is no `Gelu` at opset 18");
}

TEST(Inference, DoesNotBlameTheUserOfAnUnknownType) {
  ModelBuilder m(18);
  const Value unknown = m.value("unknown");  // what a custom operator gave
  EXPECT_EQ(infer(m, "Relu", {unknown})[0].dtype, std::nullopt);
  EXPECT_EQ(infer(m, "Cast", {unknown}, {{"to", onnx_type_of(DType::Int32)}})[0].dtype, DType::Int32);

  Node custom;
  custom.domain = "custom";
  custom.op = "Thing";
  custom.inputs = {unknown};
  custom.outputs = {m.value("a"), m.value("b")};
  EXPECT_EQ(onnx_catalog().infer(custom, 1).size(), 2u);
}

}  // namespace
}  // namespace pt2onnx
