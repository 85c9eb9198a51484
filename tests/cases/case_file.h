// Operator cases: text files that say what to run, on what inputs, at which opsets, and what is expected.
//
//   case conv2d, grouped, no bias
//     opset   13 18 22                        default: 9 13 18 20 and the newest
//     input   x f32[N=1,4,H=8,W=8]            more on the same line or on further lines; by name in the order given
//     param   w f32[6,2,3,3]                  parameter of the module: self.w (`buffer` too)
//     forward torch.conv2d(x, self.w, None, [1, 1], [1, 1], [1, 1], 2)
//     emits   Conv{group=2}                   nodes that must be there, with these attributes; `!Shape` must not
//     atol    1e-5
//
// Values: normal floats (complex numbers: real and imaginary parts in turn, `c64[3]{1,0}`), integers in [-5, 5], random bools; `f32[3]<0,1>` in a range, `i64[4]<0,9>` (ends included),
// `f32[3]{1,nan,-inf}` as listed (repeated when there are more elements).
// Dims: a name with its size, `N=1`, is dynamic: the case also runs with such dims symbolic, on these sizes and on
// others (`N=1/5` says which, else one more). `dynamic yes` does that to every dim above 1, equal sizes being one
// symbol; `dynamic no` to none; `dynamic only` leaves out the static run.
// `forward` without an expression is followed by the deeper-indented body of the method, or by the whole of it.
// `also x f32[3]{1,2,3}` runs the exported model once more with that input (of other sizes only where its dims are
// dynamic): for programs that take different paths.
// `exact`: no difference at all; `random`: only dtype and shape are compared.
// `rejects case-4 "words"` or `rejects "words"`: a finding of that case, with those words. `skip REASON` leaves a case
// out, and says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pt2onnx/dtype.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx::testing {

struct CaseDim {
  std::int64_t size = 0;
  std::string name;        // of a dynamic dim, else empty
  std::int64_t other = 0;  // its second size
};

struct CaseTensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<CaseDim> dims;
  std::optional<std::pair<double, double>> range;
  std::vector<double> values;
};

struct ExpectedNode {
  std::string op;
  std::vector<std::pair<std::string, std::string>> attributes;  // as text
  bool absent = false;
};

struct ExpectedRejection {
  std::optional<int> which;  // 1 ... 4
  std::string words;
};

struct Case {
  std::string file;  // stem: "convolution"
  int line = 0;
  std::string name;
  std::vector<int> opsets;
  std::vector<CaseTensor> inputs, parameters, buffers;
  std::vector<std::vector<CaseTensor>> also;  // inputs of further runs, those that differ
  std::string source;                         // TorchScript of the method
  std::vector<ExpectedNode> nodes;
  std::optional<ExpectedRejection> rejection;
  std::optional<bool> all_dynamic;
  bool only_dynamic = false;
  std::optional<double> rtol, atol;
  bool exact = false;
  bool random = false;
  std::string skip;

  bool has_dynamic_dims() const;
  /// The inputs of a further run.
  std::vector<CaseTensor> inputs_with(const std::vector<CaseTensor>& others) const;
};

/// Throws std::runtime_error with file and line.
std::vector<Case> read_cases(const std::string& path);
/// Of all *.case files of a folder, in the order of their names.
std::vector<Case> read_all_cases(const std::string& folder);

/// Random or listed contents; the same for the same seed.
Tensor make_tensor(const CaseTensor& spec, bool other_sizes, std::uint64_t seed);

}  // namespace pt2onnx::testing
