#include <gmock/gmock.h>

#include "model_builder.h"

namespace pt2onnx {
namespace {

using testing::HasSubstr;

TEST(Check, AcceptsALargeWeightByItsType) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {Dim::symbol("n"), 512});
  m.output(m.op("MatMul", {x, m.zeros("w", {512, 512})}));
  EXPECT_EQ(check_model(m.model), "");
}

TEST(Check, SeesAWrongShape) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2, 3});
  const Value y = m.op("Relu", {x});
  y.info()->type.shape = Shape{2, 4};
  m.output(y);
  EXPECT_THAT(check_model(m.model), HasSubstr("differ in dimension 1"));
}

TEST(Check, SeesAWrongDtype) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  const Value y = m.op("Relu", {x});
  y.info()->type.dtype = DType::Float64;
  m.output(y);
  EXPECT_THAT(check_model(m.model), HasSubstr("FLOAT"));
}

TEST(Check, SeesAMissingAttribute) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  const Value y = m.op("Concat", {x, x}, {{"axis", 0}});
  m.model.graph.nodes[0]->attributes = {};
  m.output(y);
  EXPECT_THAT(check_model(m.model), HasSubstr("Required attribute 'axis' is missing"));
}

TEST(Check, SeesAnOperatorOfAnotherOpset) {
  ModelBuilder m(20);
  const Value x = m.input("x", DType::Float32, {2});
  m.output(m.op("Gelu", {x}));
  EXPECT_EQ(check_model(m.model), "");
  m.model.opset = 18;
  EXPECT_THAT(check_model(m.model), HasSubstr("Gelu"));
}

TEST(Check, SeesTwoValuesOfOneName) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  const Value a = m.op("Relu", {x});
  const Value b = m.op("Neg", {a});
  b.info()->name = a.name();
  m.output(b);
  EXPECT_THAT(check_model(m.model), HasSubstr("single static assignment"));
}

TEST(Check, SeesAUseBeforeTheDefinition) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  m.output(m.op("Neg", {m.op("Relu", {x})}));
  std::swap(m.model.graph.nodes[0], m.model.graph.nodes[1]);
  EXPECT_THAT(check_model(m.model), HasSubstr("topologically sorted"));
}

TEST(Check, LetsCustomOperatorsPass) {
  ModelBuilder m(18);
  m.model.domains["custom"] = 1;
  const Value x = m.input("x", DType::Float32, {2});
  auto node = std::make_unique<Node>();
  node->domain = "custom";
  node->op = "Thing";
  node->inputs = {x};
  node->outputs = {m.value("t", tensor_type(DType::Float32, {2}))};
  const Value thing = node->outputs[0];
  m.model.graph.nodes.push_back(std::move(node));
  m.output(m.op("Relu", {thing}));
  EXPECT_EQ(check_model(m.model), "");
  m.model.domains.clear();
  EXPECT_NE(check_model(m.model), "");  // no opset_import for the domain
}

}  // namespace
}  // namespace pt2onnx
