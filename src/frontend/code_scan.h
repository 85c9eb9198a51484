// Looks through an archive's code for the names that must be known before torch can load it. Neutral: no torch.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx::frontend {

struct OperatorUse {
  std::string name;  // "torchvision::nms"
  int results = 1;   // how many values the statement assigns
};

/// Every `ops.ns.name(` in TorchScript code, each name once.
std::vector<OperatorUse> operators_in(std::string_view code);

/// Every "__torch__.torch.classes.ns.Name" in code or a pickle, without the prefix "__torch__.torch.classes.".
std::set<std::string> custom_classes_in(std::string_view text);

}  // namespace pt2onnx::frontend
