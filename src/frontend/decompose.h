// What libtorch makes of an operator that it computes by others: the graph of one call. Internal: includes torch.
#pragma once

#include <memory>
#include <string>

#include "frontend/folder.h"

namespace pt2onnx::frontend {

/// The operator has a kernel that calls other operators, for every device (CompositeImplicitAutograd).
bool is_composite(const program::Schema& schema);

/// Runs that kernel and records what it calls. The parameters of the result are the arguments that are tensors or lists
/// of tensors, in order; all else is a constant. Throws where the kernel refuses, or its calls depend on elements: see
/// Folder::decompose.
program::Program record_calls(const program::Schema& schema, std::span<const program::Literal> arguments,
                              TorchFolder& folder);

}  // namespace pt2onnx::frontend
