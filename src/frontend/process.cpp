#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include "frontend/frontend.h"
#include "frontend/process.h"

namespace pt2onnx {

std::string torch_version() { return TORCH_VERSION; }

namespace frontend {

void keep_torch_quiet() {
  // Advice to who wrote the model, given whenever it runs; an export runs it, and folds its constants, many times.
  static struct : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  } quiet;
  c10::WarningUtils::set_warning_handler(&quiet);
}

}  // namespace frontend

void use_one_thread() { at::set_num_threads(1); }

}  // namespace pt2onnx
