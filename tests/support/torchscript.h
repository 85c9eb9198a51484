// TorchScript files made at test time, so that no binary is committed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pt2onnx/program.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx::testing {

/// A module with one or more methods, as TorchScript text: "def forward(self, x):\n    return x + self.w\n".
struct TorchScriptSnippet {
  std::string source;
  std::vector<std::pair<std::string, Tensor>> parameters, buffers;
  std::vector<std::pair<std::string, program::Literal>>
      attributes;  // numbers, strings, lists ... with their types
  std::vector<std::pair<std::string, TorchScriptSnippet>> modules;  // submodules
  std::vector<std::pair<std::string, std::string>> ties;            // a new name for a parameter or buffer
  bool training = false;                                            // saved in training mode
};

/// The snippet compiled and saved as a `.pt` file, which goes with this object.
class TemporaryModule {
 public:
  explicit TemporaryModule(const TorchScriptSnippet& snippet);
  ~TemporaryModule();
  TemporaryModule(const TemporaryModule&) = delete;
  TemporaryModule& operator=(const TemporaryModule&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pt2onnx::testing
