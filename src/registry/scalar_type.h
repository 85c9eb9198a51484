// torch's numbering of element types, in which `dtype` arguments arrive.
#pragma once

#include <cstdint>
#include <optional>

#include "pt2onnx/dtype.h"

namespace pt2onnx {

std::optional<DType> dtype_of_scalar_type(std::int64_t code);
std::int64_t scalar_type_of(DType dtype);

}  // namespace pt2onnx
