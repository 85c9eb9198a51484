// A model made by hand, for the tests of the emitter.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emitter/emitter.h"
#include "pt2onnx/graph.h"

namespace pt2onnx {

inline ValueType tensor_type(DType dtype, Shape shape) {
  return {ValueType::Kind::Tensor, dtype, std::move(shape)};
}

inline Tensor zero_tensor(std::vector<std::int64_t> dims, DType dtype = DType::Float32) {
  std::size_t count = size_of(dtype);
  for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
  return Tensor::of_bytes(std::vector<std::byte>(count), std::move(dims), dtype);
}

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset) { model.opset = opset; }

  Value value(std::string name, ValueType type = {}) {
    return Value(&model.values.emplace_back(ValueInfo{std::move(name), std::move(type), std::nullopt}));
  }

  Value input(std::string name, DType dtype, Shape shape) {
    model.graph.inputs.push_back(value(std::move(name), tensor_type(dtype, std::move(shape))));
    return model.graph.inputs.back();
  }

  Value constant(std::string name, Tensor tensor) {
    const Value v =
        value(std::move(name), tensor_type(tensor.dtype, Shape(tensor.dims.begin(), tensor.dims.end())));
    v.info()->constant = std::move(tensor);
    return v;
  }

  Value ints(std::string name, std::vector<std::int64_t> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return constant(std::move(name), Tensor::of_ints(values, {count}));
  }

  Value zeros(std::string name, std::vector<std::int64_t> dims, DType dtype = DType::Float32) {
    return constant(std::move(name), zero_tensor(std::move(dims), dtype));
  }

  /// A node of the graph, its outputs typed by inference; dims that inference leaves open become symbols of their own.
  std::vector<Value> node(std::string op, std::size_t outputs, std::vector<Value> inputs,
                          Attributes attributes = {}, Graph* graph = nullptr) {
    auto node = std::make_unique<Node>();
    node->op = std::move(op);
    const std::string name = node->op + "_" + std::to_string(model.values.size());
    node->name = name;
    node->inputs = std::move(inputs);
    node->attributes = std::move(attributes);
    for (std::size_t i = 0; i < outputs; ++i) node->outputs.push_back(value(name + "_" + std::to_string(i)));
    const auto types = onnx_catalog().infer(*node, model.opset);
    for (std::size_t i = 0; i < outputs; ++i) {
      ValueType& type = node->outputs[i].info()->type;
      type.kind = types[i].kind;
      type.dtype = types[i].dtype;
      const auto& dims = types[i].dims;
      if (!dims) continue;
      Shape& shape = type.shape.emplace();
      for (const auto& dim : *dims) {
        const std::string unknown =
            "unknown_" + std::to_string(model.values.size()) + "_" + std::to_string(shape.size());
        shape.push_back(dim ? *dim : Dim::symbol(unknown));
      }
    }
    auto& nodes = (graph != nullptr ? *graph : model.graph).nodes;
    nodes.push_back(std::move(node));
    return nodes.back()->outputs;
  }

  Value op(std::string type, std::vector<Value> inputs, Attributes attributes = {}, Graph* graph = nullptr) {
    return node(std::move(type), 1, std::move(inputs), std::move(attributes), graph).front();
  }

  void output(Value v) { model.graph.outputs.push_back(v); }

  Model model;
};

}  // namespace pt2onnx
