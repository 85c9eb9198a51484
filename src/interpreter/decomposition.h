// An operator without a translation, taken apart into the operators that libtorch computes it by.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pt2onnx/call.h"
#include "registry/folder.h"

namespace pt2onnx {

struct Decomposition {
  std::shared_ptr<const program::Program> owner;  // of what `steps` points to
  /// Takes the arguments that are tensors or lists of tensors, in order, and then `sizes`.
  program::Function steps;
  std::vector<Dim> sizes;
  std::string assumption;  // what is taken for granted of the sizes; empty where nothing is
};

/// The calls that the operator's kernel makes for these arguments. Where dims are dynamic it is asked at three sizes:
/// numbers that differ are expressed by the sizes of the arguments, so that dynamic dims stay dynamic. Throws Rejection
/// where there is no such kernel, or it refuses, or what it calls depends on a dynamic size in another way.
std::shared_ptr<const Decomposition> decompose(Folder& folder, const program::Schema& schema,
                                               const Call::Arguments& arguments,
                                               const std::map<std::string, std::int64_t>& example_sizes);

/// Whether decompose() makes it a parameter of the steps.
bool is_step_parameter(const Argument& argument);

}  // namespace pt2onnx
