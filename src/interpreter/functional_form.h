// The operator that computes what another one writes into its arguments.
#pragma once

#include <memory>

#include "pt2onnx/program.h"
#include "registry/folder.h"

namespace pt2onnx {

/// `add_` is `add`, and an out= overload is the one without those arguments. The schema of the functional form may name its
/// arguments otherwise (`dropout(input)`, `dropout_(self)`); in position they agree. Null where it is the operator itself.
std::shared_ptr<const program::Schema> functional_form(const program::Schema& schema, Folder& folder);

}  // namespace pt2onnx
