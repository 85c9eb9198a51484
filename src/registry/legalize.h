// Element types that an ONNX operator, or ONNX Runtime's CPU kernel for it, does not take are cast around: up before the
// node, back after it. This is the only place that knows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "registry/op_catalog.h"

namespace pt2onnx {

struct Legalized {
  std::vector<Value> inputs;
  /// Per output: the dtype to cast back to.
  std::vector<std::optional<DType>> restore;
};

/// `cast(value, dtype)` emits the Cast. Throws Rejection when no type that the operator takes can hold the values.
Legalized legalize(const OpSignature& signature, std::vector<Value> inputs, std::size_t outputs,
                   const std::function<Value(Value, DType)>& cast);

}  // namespace pt2onnx
