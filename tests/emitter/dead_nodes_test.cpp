#include <gmock/gmock.h>

#include "model_builder.h"

namespace pt2onnx {
namespace {

using testing::ElementsAre;

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> result;
  result.reserve(graph.nodes.size());
  for (const auto& node : graph.nodes) result.push_back(node->op);
  return result;
}

TEST(DeadNodes, GoWithWhatOnlyTheyUse) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  m.input("unused", DType::Float32, {2});
  const Value a = m.op("Relu", {x});
  m.op("Exp", {m.op("Neg", {a})});
  m.output(m.op("Abs", {a}));
  eliminate_dead_nodes(m.model);
  EXPECT_THAT(ops(m.model.graph), ElementsAre("Relu", "Abs"));
  EXPECT_EQ(m.model.graph.inputs.size(), 2u);
}

TEST(DeadNodes, KeepANodeForOneOfItsOutputs) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {4});
  m.output(m.node("TopK", 2, {x, m.ints("k", {2})})[1]);
  eliminate_dead_nodes(m.model);
  EXPECT_THAT(ops(m.model.graph), ElementsAre("TopK"));
}

TEST(DeadNodes, SeeWhatSubgraphsTakeFromOutside) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  const Value condition = m.input("c", DType::Bool, {});
  const Value captured = m.op("Relu", {x});
  const Value captured_by_dead = m.op("Tanh", {x});
  const Value returned = m.op("Abs", {x});
  const auto yes = std::make_shared<Graph>();
  const auto no = std::make_shared<Graph>();
  yes->outputs = {m.op("Neg", {captured}, {}, yes.get())};
  m.op("Exp", {captured_by_dead}, {}, yes.get());
  no->outputs = {returned};
  m.output(m.op("If", {condition}, {{"then_branch", yes}, {"else_branch", no}}));
  eliminate_dead_nodes(m.model);
  EXPECT_THAT(ops(m.model.graph), ElementsAre("Relu", "Abs", "If"));
  EXPECT_THAT(ops(*yes), ElementsAre("Neg"));
}

}  // namespace
}  // namespace pt2onnx
