#include "pt2onnx/convert.h"

namespace pt2onnx {

std::string_view version() { return PT2ONNX_VERSION; }

}  // namespace pt2onnx
