// The interpreter's insides: frames, the walk over blocks, and what the built-in operators need of it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "interpreter/datum.h"
#include "interpreter/interpreter.h"
#include "interpreter/journal.h"
#include "interpreter/tensors.h"
#include "interpreter/walk_log.h"
#include "registry/builder.h"

namespace pt2onnx {

/// The program raised (or did what cannot be translated at all): the walk of the enclosing branch is over.
struct Raised : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Decomposition;

struct Frame {
  const program::Function* function = nullptr;
  std::string module_path;
  std::vector<Datum> registers;
};

class Machine {
 public:
  Machine(const program::Program& program, const Registry& registry, const OpCatalog& catalog, Folder& folder,
          const InterpretOptions& options, Model& model);

  InterpretResult run(const std::vector<InputBinding>& inputs);

  // ---- for built-in operators -----------------------------------------------------------------------------------

  /// Runs a function or method; `arguments` include self.
  std::vector<Datum> call(const program::Function& function, std::vector<Datum> arguments);
  /// Runs the nodes of a block; returns the values of its results.
  std::vector<Datum> run_block(const program::Block& block, Frame& frame);

  Builder& builder() { return builder_; }
  Journal& journal() { return journal_; }
  /// Names of sizes that differ between the ways through a branch or loop (see cell.h).
  std::set<std::string>& joined_dims() { return joined_dims_; }
  Tensors& tensors() { return tensors_; }
  const program::Program& program() const { return program_; }
  Folder& folder() { return folder_; }
  const InterpretOptions& options() const { return options_; }

  /// Literals that are containers or objects keep their identity.
  Datum from_literal(const program::Literal& literal);
  /// The literal of what is fully known; nullopt otherwise.
  std::optional<program::Literal> to_literal(const Datum& datum);
  /// Tensors are read; objects and dicts cannot be arguments of a symbolic function: nullopt.
  std::optional<Argument> to_argument(const Datum& datum);
  Datum from_argument(const Argument& argument);

  Datum& attribute(const InstanceRef& object, const std::string& name);

  /// Emits one node outside of any symbolic function.
  Value emit(std::string_view op, std::vector<Value> inputs, Attributes attributes = {});
  /// A number as 0-d value: int64, double or bool.
  Value number_value(const Scalar& scalar);

  void warn(std::string message);
  /// Something that the operator `op` here takes for granted: a warning, or a finding under --strict.
  void assume(const std::string& op, const std::string& what);
  /// A module assigns a tensor to its own attribute.
  void note_assignment(const std::string& module_path, const std::string& attribute);
  /// Records a finding at the node that runs now.
  void report(std::string op, std::string reason, std::vector<std::string> advice = {},
              std::optional<Case> which = std::nullopt, std::optional<int> first_opset = std::nullopt,
              std::string schema = {});
  void report_rejection(std::string op, const Rejection& rejection, std::string schema);
  [[noreturn]] void raise(std::string message) { throw Raised(std::move(message)); }
  std::string here() const;  // "model.py:41" of the node that runs now

 private:
  std::vector<Datum> run_function(const program::Function& function, std::vector<Datum> arguments);
  void run_node(const program::Node& node, Frame& frame);
  void show(const program::Node& node, const std::vector<Datum>& outputs);
  bool run_operator(const program::Node& node, Frame& frame, std::vector<Datum>& inputs,
                    std::vector<Datum>& outputs);
  void taint(const program::Node& node, Frame& frame);
  Datum bind(const InputBinding& binding);
  void set_outputs(const std::vector<Datum>& results);
  Datum& state_attribute(const Datum& root, const StateBinding& state);
  void add_output(const Datum& datum, const std::string& name);
  Value optional_value(const MaybeNone& maybe);
  void locate(const program::Node& node, const Frame& frame);
  /// Of the outputs of the node that runs now: those that nothing reads.
  std::vector<bool> unused_outputs();

  // calls that are kept whole (kept_calls.cpp)
  const Keep* find_keep(const program::Function& function, const std::vector<Datum>& arguments);
  std::vector<Datum> call_kept(const Keep& keep, const program::Function& function,
                               std::vector<Datum> arguments);
  std::optional<std::vector<Datum>> bare_node(const Keep& keep, const KeptCall& call,
                                              const program::Function& function);
  void flatten(const Datum& datum, std::vector<Value>& values);
  void warn_of_unused_keeps();

  // operators through the dictionary (dispatch.cpp)
  std::shared_ptr<const program::Schema> functional_form(
      const std::shared_ptr<const program::Schema>& schema);
  bool dispatch(const program::Node& node, std::vector<Datum>& inputs, std::vector<Datum>& outputs);
  std::optional<std::vector<Datum>> fold(const program::Operator& op, const std::vector<Datum>& inputs);
  std::optional<std::vector<Argument>> convert(const program::Schema& schema, std::vector<Argument> arguments,
                                               std::string_view name);
  std::optional<Scalar> compute_as_tensors(const program::Schema& schema, const std::vector<Datum>& inputs);
  std::optional<std::vector<Argument>> custom_node(const program::Schema& schema,
                                                   const std::vector<Argument>& arguments);
  // operators without a translation as what libtorch computes them by (decomposed_call.cpp)
  bool translates(const program::Node& step);
  /// Null where the operator is not made of others; `why_not` is set where it is, and yet cannot be taken apart here.
  std::shared_ptr<const Decomposition> take_apart(const program::Schema& schema,
                                                  const std::vector<Argument>& arguments,
                                                  std::string& why_not);
  /// The results; nullopt when a step has no translation, which is reported.
  std::optional<std::vector<Argument>> run_steps(const std::string& name, const Decomposition& decomposition,
                                                 const std::vector<Argument>& arguments);
  Datum wrap(const program::Schema& schema, std::size_t result, const Argument& value,
             const std::vector<Datum>& inputs, const std::vector<Argument>& arguments);
  Datum wrap_shared(const program::Schema& schema, std::size_t result, const Argument& value,
                    const std::vector<Datum>& inputs, const std::vector<Argument>& arguments);
  void write_back(const program::Schema& schema, std::vector<Datum>& inputs,
                  const std::vector<Argument>& arguments, const std::vector<Argument>& results,
                  std::vector<Datum>& outputs);

  /// What was found so far, to come back to.
  struct Findings {
    std::vector<Finding> all;
    std::map<std::string, std::size_t> index;  // by operator and reason
    /// Findings, and the nodes and modules counted for them.
    std::set<std::tuple<std::size_t, const program::Node*, std::string>> counted;
  };
  Findings findings() const { return {result_.findings, finding_index_, counted_}; }
  void forget_findings_since(const Findings& before);

  const program::Program& program_;
  const Registry& registry_;
  Folder& folder_;
  const InterpretOptions& options_;
  Builder builder_;
  Journal journal_;
  Tensors tensors_;
  std::set<std::string> joined_dims_;
  InterpretResult result_;
  WalkLog log_;

  const program::Node* node_ = nullptr;          // the node that runs now
  program::LocationRef place_;                   // and where, as near as known
  const program::Function* function_ = nullptr;  // and whose it is
  std::unordered_map<const program::Function*, std::vector<bool>> read_values_;  // by ValueId
  std::string module_path_;
  int depth_ = 0;
  /// Literal containers, objects and weights seen so far, by their address; the literal is kept, so that nothing else may
  /// get that address meanwhile.
  struct Seen {
    Datum datum;
    program::Literal literal;
  };
  std::unordered_map<const void*, Seen> identities_;
  std::map<std::string, std::size_t> finding_index_;
  decltype(Findings::counted) counted_;
  bool reported_ = false;  // whether the node that runs now has a finding
  std::map<std::string, bool> warned_;
  std::set<const Keep*> kept_;
  std::vector<std::shared_ptr<const Decomposition>> decompositions_;  // their nodes are referred to
  std::vector<std::string> taken_apart_;                              // operators whose steps run now
  std::unordered_map<std::string, std::shared_ptr<const program::Schema>>
      functional_;  // of in-place operators
};

/// A built-in operator: gives the outputs, or returns false to leave the node to folding and the dictionary.
using Builtin = bool (*)(Machine& machine, const program::Node& node, Frame& frame,
                         std::vector<Datum>& inputs, std::vector<Datum>& outputs);

/// By operator name ("prim::ListConstruct", "aten::size"), to be asked in that order.
std::span<const Builtin> find_builtins(const std::string& name);

/// The i-th input as a known int; nullopt when there is none such.
inline std::optional<std::int64_t> int_in(const std::vector<Datum>& inputs, std::size_t i) {
  const auto* scalar = i < inputs.size() ? inputs[i].get_if<Scalar>() : nullptr;
  return scalar ? scalar->integer() : std::nullopt;
}

struct BuiltinEntry {
  std::string_view name;
  Builtin run;
};
std::span<const BuiltinEntry> branch_builtins();
std::span<const BuiltinEntry> container_builtins();
std::span<const BuiltinEntry> control_builtins();
std::span<const BuiltinEntry> dynamic_list_builtins();
std::span<const BuiltinEntry> loop_builtins();
std::span<const BuiltinEntry> object_builtins();
std::span<const BuiltinEntry> scalar_builtins();
std::span<const BuiltinEntry> tensor_builtins();
std::span<const BuiltinEntry> text_builtins();

}  // namespace pt2onnx
