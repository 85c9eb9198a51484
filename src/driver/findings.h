// The interpreter reports what it met; here the findings get their case, reason and advice.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/advice.h"
#include "pt2onnx/diagnosis.h"
#include "registry/folder.h"

namespace pt2onnx {

/// Fills in what the interpreter left open: everything of an operator without a rule (its reason is empty), the advice
/// of one that needs a later opset. Sorted: more frequent ones first.
void complete_findings(std::vector<Finding>& findings, const AdviceContext& context, Folder& folder);

/// "aten::add.Tensor" -> {"aten::add", "Tensor"}
std::pair<std::string, std::string> split_overload(const std::string& op);

}  // namespace pt2onnx
