#include "emitter/emitter.h"
#include "emitter/model_proto.h"
#include "onnx/checker.h"
#include "onnx/shape_inference/implementation.h"

namespace pt2onnx {
namespace {

// Checks and inference read the elements of shapes, axes, pads and the like, never those of a weight.
constexpr std::size_t kReadableBytes = std::size_t{64} << 10;

/// Weights without elements become inputs of the graph, so that the checker sees their types.
void weights_to_inputs(ModelFrame& frame) {
  auto& graph = *frame.proto.mutable_graph();
  google::protobuf::RepeatedPtrField<onnx::TensorProto> all;
  all.Swap(graph.mutable_initializer());
  for (int i = 0; i < all.size(); ++i) {
    onnx::TensorProto& initializer = *all.Mutable(i);
    if (frame.weights[static_cast<std::size_t>(i)] == nullptr) {
      *graph.add_initializer() = std::move(initializer);
      continue;
    }
    auto& input = *graph.add_input();
    input.set_name(initializer.name());
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(initializer.data_type());
    for (const auto dim : initializer.dims()) type.mutable_shape()->add_dim()->set_dim_value(dim);
    if (initializer.dims().empty()) type.mutable_shape();
  }
}

}  // namespace

std::string check_model(const Model& model) {
  try {
    ModelFrame frame = make_frame(model);
    fill_small_weights(frame, kReadableBytes);
    weights_to_inputs(frame);
    // A full check is these two; asked for in one call, it would copy the model for the second.
    onnx::checker::check_model(frame.proto);
    onnx::shape_inference::InferShapes(frame.proto, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1));
    return {};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace pt2onnx
