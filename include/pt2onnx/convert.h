// The facade: a TorchScript file in, an ONNX model and a report out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pt2onnx/diagnosis.h"
#include "pt2onnx/dtype.h"

namespace pt2onnx {

class Registry;

/// One `--input`: a tensor with its sizes, or a value that is baked into the model.
struct InputSpec {
  struct TensorSpec {
    using Size = std::variant<std::int64_t, std::string>;  // a word is a dynamic dim, "?" one without a name
    std::optional<DType> dtype;
    std::optional<std::vector<Size>> dims;  // left out: `x:float16` tells the dtype only
  };
  struct None {};
  std::string name;  // "x", "images.0"; empty: by position
  std::variant<TensorSpec, std::int64_t, double, bool, std::string, None> value;
};

/// Parses `x:float32[N,3,224,224]`, `[1,3]`, `k:int=3`, `flag:bool=true`, `mask:none`.
/// Throws std::invalid_argument with a message that shows the place.
InputSpec parse_input_spec(std::string_view text);

enum class Unsupported { Error, Custom, Aten };
enum class ExternalData { Auto, Always, Never };

constexpr int kDefaultOpset = 20;
constexpr int kMinOpset = 9;
/// The newest opset of the linked onnx library.
int newest_opset();

/// Version of pt2onnx, "0.1.0".
std::string_view version();

struct Options {
  std::vector<InputSpec> inputs;
  std::string input_data;            // .npz or .pt, empty: none
  std::vector<std::string> dynamic;  // "x:0=batch,2=h", "batch", "all"
  int opset = kDefaultOpset;
  std::string method = "forward";
  Unsupported unsupported = Unsupported::Error;
  std::string custom_domain = "custom";
  std::vector<std::string> op_schemas;
  std::vector<std::string> libraries;      // --load-library
  std::vector<std::string> ort_libraries;  // --ort-library
  std::vector<std::string> maps;           // --map
  bool keep_mapped = false;                // --keep-functions: mappings become local functions of the model
  std::vector<std::string> plugins;        // --plugin
  std::vector<std::string> without;        // hidden operators
  std::vector<std::string> keep_modules, keep_functions;  // NAME or NAME=domain::Op
  bool keep_bare = false;                                 // without their bodies
  bool state = false;
  bool verify = true;
  std::optional<double> rtol, atol;
  ExternalData external_data = ExternalData::Auto;
  std::vector<std::string> input_names, output_names;
  bool fold = true;
  bool optimize = true;
  bool strict = false;
  bool training = false;                                 // keep training mode instead of exporting as eval
  const Registry* registry = nullptr;                    // null: the built-in dictionary
  std::function<void(std::string_view stage)> progress;  // called as each stage begins
};

/// The exit codes of the command line are the outcomes of the library.
enum class Status {
  Ok = 0,
  Defect = 1,
  Usage = 2,
  Unsupported = 3,
  BadInput = 4,
  Mismatch = 5,
  CannotWrite = 6,
};

struct Outcome {
  Status status = Status::Ok;
  Report report;
};

/// Converts `path` and writes `output` (whole or not at all). Never throws for anything that is in a file or an
/// option: the outcome says it.
Outcome convert(const std::string& path, const std::string& output, const Options& options);

struct InMemory {
  Outcome outcome;
  std::string model;  // bytes of an ONNX file; empty unless the status is Ok or Mismatch
};

/// The same from bytes to bytes; nothing is written to a disk. The file is copied once for libtorch, which reads files
/// only, the weights once more into the model, which must stay below 2 GiB. `options.external_data` does not count.
InMemory convert(std::span<const std::byte> file, const Options& options);

/// Translates without writing (pt2onnx check).
Outcome check(const std::string& path, const Options& options);

struct CheckOutcome {
  std::vector<Outcome> outcomes;    // one per opset asked for; the one of loading where that fails
  std::optional<int> lowest_opset;  // at which the file exports; nullopt when there is none
};

/// The same at several opsets (options.opset does not count); the file is loaded once.
CheckOutcome check(const std::string& path, const Options& options, std::span<const int> opsets);

/// Compares an existing ONNX file with a TorchScript file.
Outcome verify(const std::string& path, const std::string& onnx_path, const Options& options);

}  // namespace pt2onnx
