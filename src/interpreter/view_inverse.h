// Writing through a view: the value of the viewed tensor after its view was assigned to.
#pragma once

#include <functional>

#include "interpreter/datum.h"
#include "registry/builder.h"

namespace pt2onnx {

/// `base` is what the view looks at, `written` the new contents of the view. Views that only rename axes are turned
/// round; all others are written by index: the view is applied to a tensor that holds the position of each element.
Value write_through(Builder& builder, const ViewStep& step, Value base, Value written,
                    const std::function<Value(const ViewStep&, Value)>& replay);

}  // namespace pt2onnx
