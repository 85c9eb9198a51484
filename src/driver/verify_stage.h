// The last stage of an export: libtorch and ONNX Runtime on the same inputs.
#pragma once

#include <optional>
#include <string>

#include "driver/bind_inputs.h"
#include "driver/module_state.h"
#include "driver/reference.h"
#include "frontend/frontend.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/diagnosis.h"
#include "verify/runtime.h"

namespace pt2onnx {

/// Runs both on the example inputs and once more with other sizes in the dynamic dims; fills verify, verify_note and
/// verification of the report. What keeps the comparison from being made is Skipped with the reason in words; that
/// ONNX Runtime fails where libtorch does not is a failure. Returns the run whose outputs differed, if one did.
std::optional<ReferenceRun> verify_with(Session& session, TorchModule& module, const BoundInputs& bound,
                                        const Options& options, Report& report);

/// As verify_with() for a model that carries a state: some calls in a row, each starting from what the one before left,
/// the first from initial_state(). Libtorch starts from the file.
void verify_calls(Session& session, TorchModule& module, const BoundInputs& bound, const ModuleState& state,
                  const Options& options, Report& report);

/// Whether ONNX Runtime says that it lacks something (a kernel, an opset), rather than that the model is wrong.
bool is_lack_of_runtime(const std::string& message);
/// "custom::op" where it says that nothing is registered under that name; else empty.
std::string missing_kernel(const std::string& message);

}  // namespace pt2onnx
