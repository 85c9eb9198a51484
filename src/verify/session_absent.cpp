// What stands in for ONNX Runtime where the build did not find it.
#if !PT2ONNX_WITH_ORT

#include "verify/runtime.h"

namespace pt2onnx {

bool has_runtime() { return false; }

std::string why_no_runtime() {
  return "this pt2onnx was built without ONNX Runtime; run scripts/bootstrap (or point -DONNXRUNTIME_ROOT at "
         "a folder "
         "with its include/ and lib/) and build again";
}

std::string runtime_version() { return {}; }

std::unique_ptr<Session> open_session_file(const std::string&, const std::vector<std::string>&) {
  throw RuntimeFailure(why_no_runtime());
}

std::unique_ptr<Session> open_session_bytes(const std::string&, const std::vector<std::string>&) {
  throw RuntimeFailure(why_no_runtime());
}

void check_kernel_libraries(const std::vector<std::string>&) { throw RuntimeFailure(why_no_runtime()); }

}  // namespace pt2onnx

#endif
