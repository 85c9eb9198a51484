// Runs one operator case: libtorch is the oracle, ONNX Runtime the judge.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "case_file.h"
#include "frontend/frontend.h"
#include "pt2onnx/diagnosis.h"
#include "pt2onnx/graph.h"
#include "pt2onnx/registry.h"

namespace pt2onnx::testing {

/// The case as a loaded TorchScript file.
std::unique_ptr<TorchModule> load_case(const Case& c);

struct Translation {
  Model model;
  std::vector<Finding> findings;
};

Translation translate_case(const Case& c, TorchModule& module, int opset, bool dynamic,
                           const Registry& registry);

enum class Expect { All, Numbers };  // Numbers: whatever nodes they are computed by
struct CaseRun {
  bool translated = false;
  std::string words;  // what is wrong; empty where all is as the case says
};
CaseRun run_case(const Case& c, TorchModule& module, int opset, bool dynamic, const Registry& registry,
                 Expect expect);

/// With the built-in registry. Empty when all is as the case says, else what is not.
std::string run_case(const Case& c, int opset, bool dynamic);

}  // namespace pt2onnx::testing
