#include <sstream>

#include "emitter/emitter.h"
#include "emitter/model_proto.h"
#include "onnx/defs/printer.h"

namespace pt2onnx {
namespace {

constexpr std::size_t kPrintedBytes = 64;

}  // namespace

std::string print_model(const Model& model) {
  ModelFrame frame = make_frame(model);
  fill_small_weights(frame, kPrintedBytes);
  for (std::size_t i = 0; i < frame.weights.size(); ++i) {
    if (frame.weights[i] == nullptr) continue;
    // The printer has one form without elements: that of data in another file.
    auto& initializer = *frame.proto.mutable_graph()->mutable_initializer(static_cast<int>(i));
    initializer.set_data_location(onnx::TensorProto::EXTERNAL);
    auto& note = *initializer.add_external_data();
    note.set_key("bytes");
    note.set_value(std::to_string(frame.weights[i]->bytes.size()));
  }
  std::ostringstream text;
  text << frame.proto;
  return std::move(text).str();
}

}  // namespace pt2onnx
