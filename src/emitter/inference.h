// Type and shape inference for one node, by onnx's own inference functions.
#pragma once

#include <vector>

#include "emitter/catalog.h"

namespace pt2onnx {

/// See OpCatalog::infer.
std::vector<OpCatalog::Inferred> infer_node(const CatalogEntry& entry, const Node& node, int opset);

}  // namespace pt2onnx
