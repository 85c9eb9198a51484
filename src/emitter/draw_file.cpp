#include <fmt/format.h>

#include <fstream>
#include <map>
#include <stdexcept>

#include "core/dot.h"
#include "emitter/emitter.h"
#include "emitter/proto.h"
#include "onnx/onnx_pb.h"

namespace pt2onnx {
namespace {

/// "float32[batch,3,224,224]"
std::string type_text(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return {};
  const auto dtype = dtype_from_onnx(type.tensor_type().elem_type());
  std::string dims;
  for (const auto& dim : type.tensor_type().shape().dim())
    dims += (dims.empty() ? "" : ",") + (dim.has_dim_value()   ? std::to_string(dim.dim_value())
                                         : dim.has_dim_param() ? dim.dim_param()
                                                               : "?");
  return fmt::format("{}[{}]", dtype ? to_string(*dtype) : "?", dims);
}

std::string attribute_text(const onnx::AttributeProto& a) {
  const auto list = [](const auto& items) { return fmt::format("[{}]", fmt::join(items, ",")); };
  switch (a.type()) {
    case onnx::AttributeProto::INT: return std::to_string(a.i());
    case onnx::AttributeProto::FLOAT: return fmt::format("{}", a.f());
    case onnx::AttributeProto::STRING: return a.s().size() <= 24 ? a.s() : a.s().substr(0, 24) + "...";
    case onnx::AttributeProto::INTS: return a.ints_size() <= 8 ? list(a.ints()) : "[...]";
    case onnx::AttributeProto::FLOATS: return a.floats_size() <= 4 ? list(a.floats()) : "[...]";
    default: return {};
  }
}

class Drawing {
 public:
  std::string of(const onnx::GraphProto& graph) {
    draw(graph);
    return dot_.finish();
  }

 private:
  void draw(const onnx::GraphProto& graph) {
    std::map<std::string, std::string> weights;
    for (const auto& weight : graph.initializer()) {
      const auto dtype = dtype_from_onnx(weight.data_type());
      weights[weight.name()] =
          fmt::format("{}[{}]", dtype ? to_string(*dtype) : "?", fmt::join(weight.dims(), ","));
    }
    for (const auto& value : graph.value_info()) types_[value.name()] = type_text(value.type());
    for (const auto& input : graph.input()) {
      if (weights.contains(input.name())) continue;
      types_[input.name()] = type_text(input.type());
      makers_[input.name()] =
          dot_.add(fmt::format("{}\n{}", input.name(), types_[input.name()]), Dot::Kind::Input);
    }
    for (const auto& node : graph.node()) draw(node, weights);
    for (const auto& output : graph.output()) {
      const std::string id =
          dot_.add(fmt::format("{}\n{}", output.name(), type_text(output.type())), Dot::Kind::Output);
      if (makers_.contains(output.name())) dot_.edge(makers_[output.name()], id);
    }
  }

  void draw(const onnx::NodeProto& node, const std::map<std::string, std::string>& weights) {
    std::string label = node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type();
    for (const auto& attribute : node.attribute())
      if (const std::string text = attribute_text(attribute); !text.empty())
        label += fmt::format("\n{} = {}", attribute.name(), text);
    for (const auto& input : node.input())
      if (const auto it = weights.find(input); it != weights.end())
        label += fmt::format("\n{} {}", input, it->second);
    const std::string id = dot_.add(label);
    for (const auto& input : node.input())
      if (const auto it = makers_.find(input); it != makers_.end()) dot_.edge(it->second, id, types_[input]);
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      dot_.open_cluster(
          fmt::format("{} of {}", attribute.name(), node.name().empty() ? node.op_type() : node.name()));
      draw(attribute.g());
      dot_.close_cluster();
    }
    for (const auto& output : node.output())
      if (!output.empty()) makers_[output] = id;
  }

  Dot dot_;
  std::map<std::string, std::string> makers_, types_;  // by value name
};

}  // namespace

std::string draw_onnx_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file) || !model.has_graph())
    throw std::runtime_error(path + ": not an ONNX model (or a damaged one)");
  return Drawing().of(model.graph());
}

}  // namespace pt2onnx
