// Makes one node of each call that the user wants kept whole.
#pragma once

#include "pt2onnx/graph.h"

namespace pt2onnx {

/// The nodes of each KeptCall, which follow each other in their graph, become one node and, unless it is bare, a function
/// of the model. Its inputs are the call's arguments and then what else the nodes take from outside: weights, and values
/// of the graph. Its outputs are the call's results and then what else is used outside. Small constants without a
/// parameter's name stay inside. Equal bodies share a function.
void outline_kept_calls(Model& model);

}  // namespace pt2onnx
