// Sizes that only the runtime knows.
#include "registry/builder.h"
#include "symbolics/onnx.h"

namespace pt2onnx::onnx {

Dim open_size(Call& c, Value v, std::int64_t axis, std::string_view hint) {
  return c.builder().symbol_of_axis(v, axis, std::string(hint), 0);
}

}  // namespace pt2onnx::onnx
