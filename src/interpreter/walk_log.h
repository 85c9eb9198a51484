// What was met on the walk through a program: the modules that were called and the operators in them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/datum.h"
#include "interpreter/interpreter.h"

namespace pt2onnx {

class WalkLog {
 public:
  /// A method of a module is called. The number is for leave(); negative where this is not the module's first call.
  int enter(const ObjectState& module);
  void leave(int number, std::span<const Datum> results);

  /// An operator has run, or has not. Counts once per node and module, however often a loop comes by.
  void step(const program::Node& node, const std::string& module, Step::State state);

  /// Moves what was gathered into the result.
  void finish(InterpretResult& result);

 private:
  std::vector<LayerCall> layers_;
  std::set<std::string> called_;
  std::vector<Step> steps_;
  std::set<std::pair<const program::Node*, std::string>> met_;
};

}  // namespace pt2onnx
