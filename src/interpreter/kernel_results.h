// What libtorch's kernel of an operator gives, for operators that become nodes of which ONNX knows nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pt2onnx/call.h"
#include "registry/folder.h"

namespace pt2onnx {

struct KernelResult {
  bool is_list = false;
  /// One, or as many as the list has. A size that depends on the input in a way that is not seen is a symbol that no
  /// graph has.
  std::vector<ValueType> tensors;
};

/// Found by running the operator: on tensors without elements where it has a kernel for them, else on tensors of zeros;
/// with dynamic dims, at two sizes. Nullopt where it has no kernel here, or refuses.
std::optional<std::vector<KernelResult>> kernel_results(
    Folder& folder, const program::Schema& schema, const Call::Arguments& arguments,
    const std::map<std::string, std::int64_t>& example_sizes);

}  // namespace pt2onnx
