#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "emitter/emitter.h"

namespace pt2onnx {
namespace {

/// Walks backwards, so that every use of a value has been seen when its node's turn comes. What a subgraph takes from
/// outside is marked while its node is visited, which is before the nodes that give it.
class Sweep {
 public:
  void run(Graph& graph) {
    for (const Value output : graph.outputs) used_.insert(output.info());
    for (auto& node : std::views::reverse(graph.nodes)) {
      if (is_used(*node))
        visit(*node);
      else
        node.reset();
    }
    std::erase(graph.nodes, nullptr);
  }

 private:
  bool is_used(const Node& node) const {
    return std::ranges::any_of(node.outputs,
                               [this](Value output) { return output && used_.contains(output.info()); });
  }

  void visit(Node& node) {
    for (const Value input : node.inputs) used_.insert(input.info());
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) run(**body);
    }
  }

  std::unordered_set<const ValueInfo*> used_;
};

}  // namespace

void eliminate_dead_nodes(Model& model) { Sweep().run(model.graph); }

}  // namespace pt2onnx
