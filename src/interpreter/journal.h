// What a branch or a loop body changes of the state outside of it: memory of tensors, lists, dicts, attributes.
//
// While a scope is open, whoever is about to change a state calls touch() first. Closing the scope puts everything back
// as it was and hands out what the states had become, so that another branch can start from the same world and the
// results of both can be joined. States born inside the scope are left out: nobody outside knows them.
#pragma once

#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "interpreter/datum.h"

namespace pt2onnx {

using StateRef = std::variant<std::shared_ptr<Storage>, TensorRef, ListRef, DictRef, InstanceRef>;

/// A state and a copy of what it holds.
struct Snapshot {
  StateRef state;
  std::variant<Storage, TensorState, ListState, DictState, ObjectState> content;
};

class Journal {
 public:
  bool active() const { return !scopes_.empty(); }
  std::size_t depth() const { return scopes_.size(); }

  void open() { scopes_.emplace_back().opened = Birth::now(); }
  /// In the order of the first touch; each with its final content. All states are back to the content at open().
  std::vector<Snapshot> close();
  /// Closes scopes until `depth` are open, forgetting what they saw: after an exception.
  void unwind(std::size_t depth);

  void touch(StateRef state);
  /// The states that the innermost scope has seen.
  std::vector<StateRef> touched() const;
  /// Whether the memory got another content in the innermost scope.
  bool rewritten(const Storage& storage) const;

 private:
  struct Scope {
    std::uint64_t opened = 0;
    std::vector<Snapshot> originals;
    std::unordered_map<const void*, std::size_t> seen;
  };
  std::vector<Scope> scopes_;
};

/// Makes the state hold `content`.
void assign(const StateRef& state, const Snapshot& snapshot);

}  // namespace pt2onnx
