// Runs a TorchScript program on symbolic values and leaves an ONNX graph behind.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pt2onnx/convert.h"
#include "pt2onnx/diagnosis.h"
#include "pt2onnx/graph.h"
#include "pt2onnx/program.h"
#include "pt2onnx/registry.h"
#include "registry/folder.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

/// What one argument of the method is bound to. Tensors become graph inputs; anything else is baked in.
struct InputBinding {
  struct TensorInput {
    std::string name;  // of the graph input
    DType dtype = DType::Float32;
    Shape shape;
    /// For an argument that is a Python number: a 0-d input (int64, float64 or bool) of which the graph decides.
    bool is_number = false;
  };
  struct Sequence {  // List, Tuple
    bool is_list = true;
    program::TypeRef type;
    std::vector<InputBinding> items;
  };
  struct Dict {
    program::TypeRef type;
    std::vector<std::pair<program::Literal, InputBinding>> items;
  };
  std::variant<program::Literal, TensorInput, Sequence, Dict> data;
};

/// An attribute that lives on from call to call.
struct StateBinding {
  std::string object;  // path from the root module: "encoder.cell"; empty for the root itself
  std::string attribute;
  std::variant<InputBinding, Dim>
      before;          // what it is before the call; a Dim: an int that equals a dynamic size
  std::string output;  // name of what it is after the call; empty for a Dim
};

/// What the user wants kept whole: a submodule by its path or class, or a function.
struct Keep {
  bool is_function = false;
  std::string name;        // "layer1.0", "Block", "helper"
  std::string domain, op;  // of the node
  bool bare = false;       // without the body as a function of the model
};
/// Whether `name` means this class or function: "__torch__.net.___torch_mangle_3.Block" is "net.Block" and "Block".
bool names_qualified(std::string_view name, std::string_view qualified);

struct InterpretOptions {
  int opset = kDefaultOpset;
  Unsupported unsupported = Unsupported::Error;
  std::string custom_domain = "custom";
  std::string method = "forward";
  bool fold = true;
  std::vector<std::string> output_names;
  std::vector<StateBinding> state;
  std::vector<Keep> keeps;
  std::map<std::string, std::int64_t> example_sizes;  // of dynamic dims, by name
  bool strict = false;                                // what a translation takes for granted is an error
  std::int64_t unroll_limit = 4096;                   // trips of a loop
  std::size_t fold_bytes = std::size_t{1} << 20;      // a folded result may always have this size
  /// Told of each tensor as an operator gives it: for comparing two runs of the same program step by step.
  std::function<void(const program::Node& node, std::size_t output, const Value& value)> observe;
};

/// A module whose method was called, and what its first call gave, as far as it is known.
struct LayerCall {
  std::string path;  // empty: the root
  std::string type;  // qualified class name
  std::vector<ValueType> results;
};

/// An operator that gives tensors, as the walk met it.
struct Step {
  enum class State {
    Done,
    Failed,   // it has no translation
    Skipped,  // it needs what failed
  };
  std::string module;  // the path of the module that it is in
  std::string op;
  State state = State::Done;
};

struct InterpretResult {
  std::vector<Finding> findings;
  std::vector<std::string> warnings;
  std::set<std::string> pinned;  // dynamic dims of which the model takes the example size for granted
  std::vector<std::optional<double>>
      output_steps;  // of outputs that were dequantized: the step of their scale
  /// Attributes of modules (path of the module, name) that were assigned a tensor and are not among the state.
  std::set<std::pair<std::string, std::string>> assigned;
  std::vector<LayerCall> layers;  // in the order of their first calls
  std::vector<Step> steps;        // in the order of the walk, each once per place and module
};

/// Fills `model` (graph, opset, domains). Never throws for what a program holds; std::logic_error is a defect here.
InterpretResult interpret(const program::Program& program, const std::vector<InputBinding>& inputs,
                          const Registry& registry, const OpCatalog& catalog, Folder& folder,
                          const InterpretOptions& options, Model& model);

}  // namespace pt2onnx
