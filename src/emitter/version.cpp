#include "emitter/emitter.h"

namespace pt2onnx {

std::string onnx_version() { return PT2ONNX_ONNX_VERSION; }

}  // namespace pt2onnx
