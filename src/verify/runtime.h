// ONNX Runtime, for running what was exported. This header knows neither torch nor ONNX Runtime.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pt2onnx/diagnosis.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

/// Whether ONNX Runtime was built in; if not, why_no_runtime() says how to get it.
bool has_runtime();
std::string why_no_runtime();
/// "1.32.0"; empty without ONNX Runtime.
std::string runtime_version();

/// ONNX Runtime refused to load or to run the model; what() has its words.
struct RuntimeFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Session {
 public:
  virtual ~Session() = default;
  virtual std::vector<std::string> input_names() const = 0;
  virtual std::vector<std::string> output_names() const = 0;
  /// A sequence input takes all tensors of its list; a tensor input exactly one.
  virtual std::vector<std::vector<Tensor>> run(const std::vector<std::vector<Tensor>>& inputs) = 0;
};

/// From a file (external data beside it works) or from bytes. `libraries`: ONNX Runtime custom-op libraries.
std::unique_ptr<Session> open_session_file(const std::string& path,
                                           const std::vector<std::string>& libraries);
std::unique_ptr<Session> open_session_bytes(const std::string& bytes,
                                            const std::vector<std::string>& libraries);

/// Loads ONNX Runtime custom-op libraries, to find out whether they can be. Throws RuntimeFailure, which names the library.
void check_kernel_libraries(const std::vector<std::string>& libraries);

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-4;  // times the largest finite magnitude of the expected output, at least 1
  double step = 0;     // of a quantized output: one such step is no difference
};

/// Wider for dtypes with fewer digits than float32.
Tolerance default_tolerance(DType dtype);

/// Compares dtype, shape, NaN and infinities exactly, finite values within the tolerance; integers and bool exactly.
/// A complex tensor is expected from the runtime as a real one with a last axis of 2.
/// max_rel leaves out elements whose expected value is below the absolute tolerance: there it would only show noise.
OutputDifference compare(const std::string& name, const Tensor& expected, const Tensor& actual,
                         const Tolerance& tolerance);

}  // namespace pt2onnx
