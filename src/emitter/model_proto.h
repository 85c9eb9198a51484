// A translated model as onnx's ModelProto, with the elements of its weights left where they are.
#pragma once

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "pt2onnx/graph.h"

namespace pt2onnx {

/// The lowest IR version that an opset of the standard domain allows.
int ir_version_for(int opset);

struct ModelFrame {
  onnx::ModelProto proto;              // initializers hold name, dtype and dims (those of strings: all)
  std::vector<const Tensor*> weights;  // the elements of each initializer; null where `proto` has them
};

/// Constants become initializers of the main graph if something uses them, each once: subgraphs see them too.
ModelFrame make_frame(const Model& model, const std::string& producer_version = {});

/// The frame with the elements of all weights up to `limit` bytes filled in. `weights` then holds only the others.
void fill_small_weights(ModelFrame& frame, std::size_t limit);

}  // namespace pt2onnx
