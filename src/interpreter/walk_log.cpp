#include "interpreter/walk_log.h"

#include <algorithm>

#include "interpreter/operator_kind.h"

namespace pt2onnx {
namespace {

/// The types of all tensors in a result; of those that no node has made yet (a view that nobody has read), nothing.
void collect_types(const Datum& datum, std::vector<ValueType>& types) {
  if (const auto* tensor = datum.get_if<TensorRef>()) {
    const TensorState& state = **tensor;
    const Value value = state.views.empty()                       ? state.storage->value
                        : state.version == state.storage->version ? state.cached
                                                                  : Value();
    if (value) types.push_back(value.type());
  } else if (const auto* list = datum.get_if<ListRef>()) {
    for (const Datum& item : (*list)->items) collect_types(item, types);
  } else if (const auto* tuple = datum.get_if<TupleRef>()) {
    for (const Datum& item : (*tuple)->items) collect_types(item, types);
  } else if (const auto* dict = datum.get_if<DictRef>()) {
    for (const auto& [key, item] : (*dict)->items) collect_types(item, types);
  }
}

}  // namespace

int WalkLog::enter(const ObjectState& module) {
  if (!called_.insert(module.path).second) return -1;
  layers_.push_back({module.path, module.type, {}});
  return static_cast<int>(layers_.size()) - 1;
}

void WalkLog::leave(int number, std::span<const Datum> results) {
  if (number < 0) return;
  for (const Datum& result : results)
    collect_types(result, layers_[static_cast<std::size_t>(number)].results);
}

void WalkLog::step(const program::Node& node, const std::string& module, Step::State state) {
  if (!node.op->schema || !gives_tensors(*node.op->schema)) return;
  if (met_.emplace(&node, module).second) steps_.push_back({module, node.op->name, state});
}

void WalkLog::finish(InterpretResult& result) {
  result.layers = std::move(layers_);
  result.steps = std::move(steps_);
}

}  // namespace pt2onnx
