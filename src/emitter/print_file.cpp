#include <fstream>
#include <sstream>
#include <stdexcept>

#include "emitter/emitter.h"
#include "onnx/defs/printer.h"
#include "onnx/onnx_pb.h"

namespace pt2onnx {
namespace {

constexpr std::size_t kPrintedBytes = 256;

/// Large weights become a note of their size: the printer has a form without elements for data in another file.
void abbreviate(onnx::GraphProto& graph) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) continue;
    const std::size_t bytes = tensor.ByteSizeLong();
    if (bytes <= kPrintedBytes) continue;
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_int32_data();
    tensor.clear_int64_data();
    tensor.clear_double_data();
    tensor.clear_uint64_data();
    tensor.clear_string_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto& note = *tensor.add_external_data();
    note.set_key("bytes");
    note.set_value(std::to_string(bytes));
  }
  for (onnx::NodeProto& node : *graph.mutable_node())
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) abbreviate(*attribute.mutable_g());
}

}  // namespace

std::string print_onnx_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file) || !model.has_graph())
    throw std::runtime_error(path + ": not an ONNX model (or a damaged one)");
  abbreviate(*model.mutable_graph());
  std::ostringstream text;
  text << model;
  return std::move(text).str();
}

}  // namespace pt2onnx
