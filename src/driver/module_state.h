// --state: what a module keeps in its attributes from call to call, as inputs and outputs of the model.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/bind_inputs.h"
#include "frontend/frontend.h"
#include "interpreter/interpreter.h"
#include "pt2onnx/diagnosis.h"
#include "pt2onnx/graph.h"

namespace pt2onnx {

/// A tensor or number of the state.
struct StateTensor {
  InputBinding::TensorInput input;
  std::optional<Tensor> initial;  // of the file, where it has dtype and rank of what the module makes of it
};

struct ModuleState {
  std::vector<StateBinding> bindings;
  std::vector<StateTensor> tensors;  // in the order of the graph's inputs, and of its last outputs
  std::vector<std::string> notes;    // what was decided for the user
};

/// The state cannot be told, or cannot be tensors; what() is the whole sentence.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Finds what changes from call to call by calling the module with example inputs, with other values and other sizes,
/// and advances it past its first calls, so that what it sets up once ("if self.cache is None") is behind it.
class StateFinder {
 public:
  StateFinder(TorchModule& module, const BoundInputs& bound);

  /// The state that calls change, and that the program was seen to assign (path of the module, attribute).
  ModuleState find(const std::set<std::pair<std::string, std::string>>& assigned) const;

 private:
  program::ObjectRef fresh_, before_, after_, resized_;  // resized_: null without dynamic dims
  SymbolSizes sizes_, other_sizes_;
  std::set<std::string> taken_names_;
};

/// What the state is at the first call: as in the file where that fits, else zeros; a dim that grows from call to call
/// starts at 0.
std::map<std::string, Tensor> initial_state(const ModuleState& state, const SymbolSizes& sizes);

/// For the report: which output of the model follows which input, and what to begin with.
std::vector<StateSummary> describe_state(const ModuleState& state, const Model& model);

/// Inputs for some calls in a row that the module accepts, and its outputs; nullopt when it refuses them all.
struct CallSequence {
  SymbolSizes sizes;
  std::vector<std::map<std::string, Tensor>> inputs;  // by name of the graph input, the state left out
  std::vector<std::vector<Tensor>> outputs;           // flattened
};
std::optional<CallSequence> run_call_sequence(TorchModule& module, const BoundInputs& bound,
                                              const SymbolSizes& sizes, std::string& refusal);

}  // namespace pt2onnx
