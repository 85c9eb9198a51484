// Text for a terminal of some width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pt2onnx {

/// Breaks longer lines between words, what follows under the words of the first part. `code` stays in one piece, since it
/// is there to be copied, and so do lines of source code ("   |  y = foo(x)"). A width of 0: the text as it is.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace pt2onnx
