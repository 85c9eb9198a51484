// Loading TorchScript files and running them with libtorch. The only layer that knows torch; this header does not.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pt2onnx/program.h"
#include "registry/folder.h"

namespace pt2onnx {

/// The file cannot be used: missing, unreadable, or something else than TorchScript. what() is the whole sentence,
/// with what to do instead.
struct LoadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The file is fine, the request is not: no such method, a schema that does not parse, a library that does not load.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct LoadOptions {
  std::string method = "forward";
  std::vector<std::string> op_schemas;  // --op-schema
  std::vector<std::string> libraries;   // --load-library
  bool defer_weights =
      false;  // read from the file when they are looked at, and not compared with their checksums
  bool keep_training = false;  // else a module in training mode is put into eval mode, with a warning
};

/// A loaded file: its program, and the module itself for running the reference.
class TorchModule {
 public:
  virtual ~TorchModule() = default;

  virtual const program::Program& program() const = 0;
  virtual Folder& folder() = 0;
  virtual const std::vector<std::string>& warnings() const = 0;
  /// Names of the operators that libtorch does not know and that got a stand-in schema ("mylib::foo").
  virtual const std::vector<std::string>& unknown_operators() const = 0;
  /// All methods of the root module that could be exported.
  virtual std::vector<std::string> methods() const = 0;
  virtual std::size_t file_bytes() const = 0;

  /// Runs the method. `inputs` leave out self. The module's own state is as after loading, at each run.
  /// Throws std::runtime_error with torch's message (first lines) if it fails.
  virtual program::Literal run(std::span<const program::Literal> inputs) = 0;

  /// Inputs of one call after the other.
  using Calls = std::span<const std::vector<program::Literal>>;
  /// As run(), for calls between which the module keeps its state: from the state in the file on.
  virtual std::vector<program::Literal> run_calls(Calls calls) = 0;
  /// The root object as those calls leave it.
  virtual program::ObjectRef state_after(Calls calls) = 0;
  /// Goes on from that state: program() and run() have it from now on.
  virtual void advance(Calls calls) = 0;
};

std::unique_ptr<TorchModule> load_torchscript(const std::string& path, const LoadOptions& options);

/// Version of the linked libtorch, "2.13.0".
std::string torch_version();

/// From now on libtorch computes in the calling thread alone: after a fork, its pool of threads is gone.
void use_one_thread();

/// A folder without a module, for the catalogue of operators (ops, schema, explain): those of libtorch, torchvision and
/// what the options bring. Throws UsageError.
std::unique_ptr<Folder> torch_folder(const LoadOptions& options = {});

/// Reads example values: `.npz` (arrays by name) or a `.pt` that holds a tensor, tuple, list or dict of tensors.
/// Names are those in the file; positional ones are "in_0", "in_1", ...
std::vector<std::pair<std::string, program::Literal>> read_input_data(const std::string& path);

}  // namespace pt2onnx
