// The parts of the HTML page that show a model's layers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "pt2onnx/diagnosis.h"

namespace pt2onnx {

/// Text for HTML: & < > and quotes replaced.
std::string escaped(std::string_view text);

/// The layers as a tree that can be unfolded and searched. `number`: which report of the page, for links within it.
std::string layers_section(const Report& report, std::size_t number);
/// The layers as boxes with arrows; each leads to its place in the tree.
std::string picture_section(const Report& report, std::size_t number);

/// For links: where the layer is in the tree.
std::string anchor_of(std::size_t number, std::string_view path);

}  // namespace pt2onnx
