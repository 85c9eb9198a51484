// The layers of a model for its report: what each became, and how they hang together.
#pragma once

#include "interpreter/interpreter.h"
#include "pt2onnx/diagnosis.h"
#include "pt2onnx/graph.h"

namespace pt2onnx {

/// Dtype and dims in words.
TensorSummary summary_of(const ValueType& type);

/// Fills layers and picture of the report: from the graph where the translation is complete, else from the steps of the
/// walk. `result` is of the interpretation that made the model.
void describe_layers(const Model& model, const InterpretResult& result, Report& report);

}  // namespace pt2onnx
