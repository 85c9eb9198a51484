#include <gmock/gmock.h>

#include "emitter/model_proto.h"
#include "model_builder.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"

namespace pt2onnx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

onnx::ModelProto parsed(const Model& model) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(serialize_model(model)));
  return proto;
}

std::vector<std::string> names(const google::protobuf::RepeatedPtrField<onnx::TensorProto>& tensors) {
  std::vector<std::string> result;
  for (const auto& tensor : tensors) result.push_back(tensor.name());
  return result;
}

/// y = Gemm(x, weight, bias) with a symbolic batch.
ModelBuilder linear(int opset = 20) {
  ModelBuilder m(opset);
  const Value x = m.input("x", DType::Float32, {Dim::symbol("batch"), 4});
  Tensor weight = zero_tensor({4, 3});
  weight.name = "fc.weight";
  const Value hidden = m.op("MatMul", {x, m.constant("w_1", weight)});
  const Value y = m.op("Add", {hidden, m.zeros("bias", {3})});
  y.info()->name = "y";
  m.output(y);
  return m;
}

TEST(ModelProto, HoldsWhatTheModelSays) {
  ModelBuilder m = linear();
  m.model.domains["custom"] = 2;
  m.model.metadata.emplace_back("key", "value");
  const onnx::ModelProto proto = parsed(m.model);
  EXPECT_EQ(proto.producer_name(), "pt2onnx");
  EXPECT_EQ(proto.ir_version(), 9);
  ASSERT_EQ(proto.opset_import_size(), 2);
  EXPECT_EQ(proto.opset_import(0).domain(), "");
  EXPECT_EQ(proto.opset_import(0).version(), 20);
  EXPECT_EQ(proto.opset_import(1).domain(), "custom");
  EXPECT_EQ(proto.opset_import(1).version(), 2);
  EXPECT_EQ(proto.metadata_props(0).value(), "value");

  const auto& graph = proto.graph();
  EXPECT_THAT(names(graph.initializer()), ElementsAre("fc.weight", "bias"));
  EXPECT_EQ(graph.node(0).input(1), "fc.weight");
  EXPECT_EQ(graph.initializer(0).raw_data().size(), 48u);
  ASSERT_EQ(graph.input_size(), 1);
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(1).dim_value(), 4);
  EXPECT_EQ(graph.output(0).name(), "y");
  ASSERT_EQ(graph.value_info_size(), 1);  // y is an output
  EXPECT_EQ(graph.value_info(0).name(), graph.node(0).output(0));
}

TEST(ModelProto, TakesTheLowestIrVersion) {
  // As onnx.helper.find_min_ir_version_for of the Python package says.
  EXPECT_EQ(ir_version_for(9), 4);
  EXPECT_EQ(ir_version_for(13), 7);
  EXPECT_EQ(ir_version_for(17), 8);
  EXPECT_EQ(ir_version_for(20), 9);
  EXPECT_EQ(ir_version_for(21), 10);
  EXPECT_EQ(ir_version_for(onnx_catalog().newest_opset()), onnx::Version::IR_VERSION);
}

TEST(ModelProto, StoresSharedWeightsOnce) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2, 2});
  Tensor weight = zero_tensor({2, 2});
  weight.name = "embedding.weight";
  Tensor tied = weight;
  tied.name = "head.weight";
  Tensor other = weight;  // the same bytes seen as another shape are another initializer
  other.dims = {4};
  other.name = "flat";
  const Value sum = m.op("Add", {m.op("MatMul", {x, m.constant("a", weight)}), m.constant("b", tied)});
  m.output(sum);
  m.output(m.op("Neg", {m.constant("c", other)}));
  const onnx::ModelProto proto = parsed(m.model);
  EXPECT_THAT(names(proto.graph().initializer()), ElementsAre("embedding.weight", "flat"));
  EXPECT_EQ(proto.graph().node(1).input(1), "embedding.weight");
  EXPECT_EQ(check_model(m.model), "");
}

TEST(ModelProto, KeepsNamesApart) {
  ModelBuilder m(18);
  const Value x = m.input("weight", DType::Float32, {2, 2});
  Tensor weight = zero_tensor({2, 2});
  weight.name = "weight";  // the user has an input of that name
  m.output(m.op("MatMul", {x, m.constant("weight_1", weight)}));
  const onnx::ModelProto proto = parsed(m.model);
  EXPECT_THAT(names(proto.graph().initializer()), ElementsAre("weight_1"));
  EXPECT_EQ(check_model(m.model), "");
}

TEST(ModelProto, LeavesOutUnusedConstants) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  m.zeros("unused", {100});
  m.output(m.op("Relu", {x}));
  EXPECT_THAT(names(parsed(m.model).graph().initializer()), IsEmpty());
}

TEST(ModelProto, ReturnsConstantsAndInputs) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {2});
  Tensor weight = zero_tensor({2});
  weight.name = "buffer";
  const Value out = m.constant("result", weight);
  m.output(x);
  m.output(out);
  m.output(m.op("Add", {x, m.constant("other", weight)}));
  const onnx::ModelProto proto = parsed(m.model);
  EXPECT_THAT(names(proto.graph().initializer()), ElementsAre("result"));
  EXPECT_EQ(proto.graph().output(1).name(), "result");
  EXPECT_EQ(proto.graph().node(0).input(1), "result");
  EXPECT_EQ(check_model(m.model), "");
}

TEST(ModelProto, SaysWhereANodeComesFrom) {
  for (const int opset : {20, 21}) {
    ModelBuilder m = linear(opset);
    const auto origin = Origin{"aten::linear", "fc", "net.py", 12};
    for (auto& node : m.model.graph.nodes) node->origin = std::make_shared<const Origin>(origin);
    const onnx::NodeProto node = parsed(m.model).graph().node(0);
    EXPECT_THAT(node.doc_string(), testing::StartsWith("net.py:12"));
    if (opset == 20) {  // IR version 9 has no metadata of nodes
      EXPECT_EQ(node.doc_string(), "net.py:12\nfc\naten::linear");
      EXPECT_EQ(node.metadata_props_size(), 0);
    } else {
      ASSERT_EQ(node.metadata_props_size(), 3);
      EXPECT_EQ(node.metadata_props(0).key(), "pt2onnx.module");
      EXPECT_EQ(node.metadata_props(0).value(), "fc");
      EXPECT_EQ(node.metadata_props(1).value(), "aten::linear");
      EXPECT_EQ(node.metadata_props(2).value(), "net.py:12");
    }
    EXPECT_EQ(check_model(m.model), "");
  }
}

TEST(ModelProto, WritesEveryKindOfAttribute) {
  ModelBuilder m(18);
  m.model.domains["custom"] = 1;
  const Value x = m.input("x", DType::Float32, {2});
  auto node = std::make_unique<Node>();
  node->domain = "custom";
  node->op = "Thing";
  node->inputs = {x, Value(), x};
  node->outputs = {m.value("y", tensor_type(DType::Float32, {2}))};
  node->attributes = {{"i", 3},
                      {"f", 0.5},
                      {"s", "text"},
                      {"is", std::vector<std::int64_t>{1, 2}},
                      {"fs", std::vector<double>{1.5}},
                      {"ss", std::vector<std::string>{"a", "b"}},
                      {"t", Tensor::scalar(2.0, DType::Float32)},
                      {"none", std::optional<std::int64_t>()}};
  m.output(node->outputs[0]);
  m.model.graph.nodes.push_back(std::move(node));

  const onnx::NodeProto proto = parsed(m.model).graph().node(0);
  EXPECT_EQ(proto.domain(), "custom");
  EXPECT_THAT(proto.input(), ElementsAre("x", "", "x"));
  ASSERT_EQ(proto.attribute_size(), 7);
  EXPECT_EQ(proto.attribute(0).i(), 3);
  EXPECT_EQ(proto.attribute(1).f(), 0.5f);
  EXPECT_EQ(proto.attribute(2).s(), "text");
  EXPECT_THAT(proto.attribute(3).ints(), ElementsAre(1, 2));
  EXPECT_THAT(proto.attribute(4).floats(), ElementsAre(1.5f));
  EXPECT_THAT(proto.attribute(5).strings(), ElementsAre("a", "b"));
  EXPECT_EQ(proto.attribute(6).t().raw_data().size(), 4u);
  EXPECT_EQ(check_model(m.model), "");
}

TEST(ModelProto, MapsEveryDtype) {
  ModelBuilder m(20);
  for (const DType dtype :
       {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int8, DType::Int16,
        DType::Int32, DType::Int64, DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64, DType::Bool,
        DType::Complex64, DType::Complex128, DType::Float8E4M3FN, DType::Float8E5M2}) {
    m.output(m.op("Reshape",
                  {m.zeros("c_" + std::string(to_string(dtype)), {2, 3}, dtype), m.ints("shape", {6})}));
  }
  // A string tensor holds its elements one after the other, each ended by a zero byte.
  const std::string text("ab\0\0c\0", 6);
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  m.output(m.op("Identity", {m.constant("words", Tensor::of_bytes(bytes, {3}, DType::String))}));
  m.output(m.zeros("empty", {0, 3}));

  const onnx::ModelProto proto = parsed(m.model);
  for (const auto& initializer : proto.graph().initializer()) {
    if (initializer.data_type() != onnx::TensorProto::STRING) continue;
    EXPECT_THAT(initializer.string_data(), ElementsAre("ab", "", "c"));
  }
  EXPECT_EQ(check_model(m.model), "");
}

TEST(ModelProto, HoldsSubgraphs) {
  ModelBuilder m(18);
  const Value x = m.input("x", DType::Float32, {Dim::symbol("n"), 4});
  const Value condition = m.input("c", DType::Bool, {});
  const Value bias = m.zeros("bias", {4});
  const auto yes = std::make_shared<Graph>();
  const auto no = std::make_shared<Graph>();
  yes->name = "then";
  no->name = "else";
  yes->outputs = {m.op("Add", {x, bias}, {}, yes.get())};
  no->outputs = {x};  // from outside: a subgraph can only return what is its own
  m.output(m.op("If", {condition}, {{"then_branch", yes}, {"else_branch", no}}));
  ASSERT_EQ(check_model(m.model), "");

  const onnx::ModelProto proto = parsed(m.model);
  EXPECT_THAT(names(proto.graph().initializer()), ElementsAre("bias"));
  const auto& branches = proto.graph().node(0).attribute();
  EXPECT_EQ(branches[0].g().node(0).input(1), "bias");
  ASSERT_EQ(branches[1].g().node_size(), 1);
  EXPECT_EQ(branches[1].g().node(0).op_type(), "Identity");
  EXPECT_EQ(branches[1].g().node(0).input(0), "x");
  EXPECT_EQ(branches[1].g().node(0).output(0), branches[1].g().output(0).name());
}

TEST(ModelProto, PrintsTextThatOnnxParses) {
  ModelBuilder m = linear();
  const std::string text = print_model(m.model);
  EXPECT_THAT(text, HasSubstr("MatMul (x, \"fc.weight\")"));
  EXPECT_THAT(text, HasSubstr("float[batch,4] x"));
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser(text).Parse(proto);
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage() << text;
  EXPECT_EQ(proto.graph().node_size(), 2);

  m.output(m.op("Relu", {m.zeros("large", {1000})}));
  EXPECT_THAT(print_model(m.model), HasSubstr("float[1000] large = [\"bytes\": \"4000\"]"));
}

}  // namespace
}  // namespace pt2onnx
