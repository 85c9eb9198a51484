// Operators that a file uses and libtorch does not know. Internal: includes torch only in its source.
#pragma once

#include <string>
#include <vector>

#include "frontend/code_scan.h"

namespace pt2onnx::frontend {

/// Loads shared libraries that register operators or classes. Throws UsageError.
void load_libraries(const std::vector<std::string>& paths);

/// Registers the user's schemas. Throws UsageError when one does not parse or two contradict each other. Returns warnings,
/// for operators that are known already and for what is given twice.
std::vector<std::string> register_schemas(const std::vector<std::string>& texts);

/// Warnings for those of the registered schemas whose operators are not in use.
std::vector<std::string> unused_schemas(const std::vector<std::string>& texts,
                                        const std::vector<OperatorUse>& uses);

bool is_known_operator(const std::string& name);
bool is_known_class(const std::string& name);

/// Gives each operator that is still unknown a schema, so that a file with it loads: torchvision's own with a kernel,
/// any other `ns::op(...) -> Tensor` (as many results as the file takes) without. Returns the names of the latter and of
/// those from register_schemas() that are in use: nothing but their names is known.
std::vector<std::string> register_stand_ins(const std::vector<OperatorUse>& uses);

}  // namespace pt2onnx::frontend
