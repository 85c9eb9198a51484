#include "driver/op_counts.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace pt2onnx {
namespace {

using Counts = std::map<std::string, std::size_t>;

/// Types of the values and function constants inside one function: enough to find what a call calls.
class Scope {
 public:
  Scope(const program::Program& program, const program::Function& function) : program_(program) {
    enter(function.body);
    for (std::size_t i = 0; i < function.parameters.size() && i < function.body.parameters.size(); ++i)
      types_[function.body.parameters[i]] = function.parameters[i].type;
  }

  /// Null for anything that is not a call, or whose target only a run could tell.
  const program::Function* callee(const program::Node& node) const {
    if (node.inputs.empty()) return nullptr;
    if (node.op->name == "prim::CallFunction") {
      const auto name = functions_.find(node.inputs.front());
      return name == functions_.end() ? nullptr : find(name->second);
    }
    if (node.op->name != "prim::CallMethod") return nullptr;
    const auto type = types_.find(node.inputs.front());
    if (type == types_.end() || !type->second) return nullptr;
    const auto owner = program_.classes.find(type->second->name);
    if (owner == program_.classes.end()) return nullptr;
    const auto method = owner->second.methods.find(node.name);
    return method == owner->second.methods.end() ? nullptr : find(method->second);
  }

 private:
  void enter(const program::Block& block) {
    for (std::size_t i = 0; i < block.parameters.size() && i < block.parameter_types.size(); ++i)
      types_[block.parameters[i]] = block.parameter_types[i];
    for (const program::Node& node : block.nodes) {
      for (std::size_t i = 0; i < node.outputs.size() && i < node.output_types.size(); ++i)
        types_[node.outputs[i]] = node.output_types[i];
      if (const auto* function = std::get_if<program::FunctionLiteral>(&node.constant.data);
          function && !node.outputs.empty())
        functions_[node.outputs.front()] = function->name;
      for (const program::Block& inner : node.blocks) enter(inner);
    }
  }

  const program::Function* find(const std::string& name) const {
    const auto it = program_.functions.find(name);
    return it == program_.functions.end() ? nullptr : it->second.get();
  }

  const program::Program& program_;
  std::unordered_map<program::ValueId, program::TypeRef> types_;
  std::unordered_map<program::ValueId, std::string> functions_;
};

class Counter {
 public:
  explicit Counter(const program::Program& program) : program_(program) {}

  const Counts& count(const program::Function& function) {
    const auto [it, fresh] = known_.try_emplace(&function);
    if (!fresh) return it->second;  // also ends a recursion
    order_.push_back(&function);
    const Scope scope(program_, function);
    Counts counts;
    add(function.body, scope, counts);
    return known_[&function] = std::move(counts);
  }

  const std::vector<const program::Function*>& order() const { return order_; }

 private:
  void add(const program::Block& block, const Scope& scope, Counts& counts) {
    for (const program::Node& node : block.nodes) {
      if (!node.op->name.starts_with("prim::")) ++counts[node.op->name];
      if (const program::Function* callee = scope.callee(node))
        for (const auto& [name, times] : count(*callee)) counts[name] += times;
      for (const program::Block& inner : node.blocks) add(inner, scope, counts);
    }
  }

  const program::Program& program_;
  std::unordered_map<const program::Function*, Counts> known_;
  std::vector<const program::Function*> order_;
};

}  // namespace

std::map<std::string, std::size_t> count_operators(const program::Program& program) {
  return Counter(program).count(*program.entry);
}

std::vector<const program::Function*> reached_functions(const program::Program& program) {
  Counter counter(program);
  counter.count(*program.entry);
  return counter.order();
}

}  // namespace pt2onnx
