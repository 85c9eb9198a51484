// Runs the rule of an operator. A call with complex values takes the operator's complex form, or its real one twice.
#pragma once

#include "pt2onnx/registry.h"
#include "registry/builder.h"

namespace pt2onnx {

/// `rule` is what the registry finds for the schema, `unused` the results that the program ignores. Throws Rejection.
Results apply(const Registry& registry, const Rule& rule, Builder& builder, const program::Schema& schema,
              Call::Arguments arguments, std::vector<bool> unused = {});

}  // namespace pt2onnx
