// What libtorch does to the whole process.
#pragma once

namespace pt2onnx::frontend {

/// From now on libtorch's warnings (deprecations, `warnings.warn` of the model) are not printed in this thread.
void keep_torch_quiet();

}  // namespace pt2onnx::frontend
