#include "pt2onnx/convert.h"
#include "pt2onnx/plugin.h"

namespace pt2onnx {

static_assert(std::string_view(PT2ONNX_VERSION).starts_with(PT2ONNX_PLUGIN_VERSION "."),
              "include/pt2onnx/plugin.h tells another version than CMakeLists.txt");

std::string_view version() { return PT2ONNX_VERSION; }

}  // namespace pt2onnx
