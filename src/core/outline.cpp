#include "core/outline.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace pt2onnx {
namespace {

using Infos = std::unordered_set<const ValueInfo*>;
using Nodes = std::vector<std::unique_ptr<Node>>;

// A constant up to this size that is no parameter is part of the computation: axes, shapes, factors.
constexpr std::size_t kInsideBytes = 1024;

bool stays_inside(Value v) {
  const Tensor* tensor = v.constant();
  return tensor && tensor->name.empty() && tensor->bytes.size() <= kInsideBytes;
}

/// Calls `visit` with each value that the graph takes from outside.
template <typename Visit>
void for_each_capture(const Graph& graph, Infos& local, const Visit& visit);

template <typename Visit>
void for_each_use(const Node& node, Infos& local, const Visit& visit) {
  for (const Value input : node.inputs)
    if (input && !local.contains(input.info())) visit(input);
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute))
      for_each_capture(**inner, local, visit);
}

template <typename Visit>
void for_each_capture(const Graph& graph, Infos& local, const Visit& visit) {
  for (const Value input : graph.inputs) local.insert(input.info());
  for (const auto& node : graph.nodes) {
    for_each_use(*node, local, visit);
    for (const Value output : node->outputs) local.insert(output.info());
  }
  for (const Value output : graph.outputs)
    if (!local.contains(output.info())) visit(output);
}

void add_once(std::vector<Value>& values, Infos& seen, Value v) {
  if (v && seen.insert(v.info()).second) values.push_back(v);
}

/// Compares bodies, whose values are the same if they are made in the same way.
class Comparison {
 public:
  bool equal(const Graph& a, const Graph& b) {
    if (a.inputs.size() != b.inputs.size() || a.nodes.size() != b.nodes.size()) return false;
    for (std::size_t i = 0; i < a.inputs.size(); ++i) counterpart_[a.inputs[i].info()] = b.inputs[i].info();
    for (std::size_t i = 0; i < a.nodes.size(); ++i)
      if (!equal(*a.nodes[i], *b.nodes[i])) return false;
    return same(a.outputs, b.outputs);
  }

 private:
  bool same(const std::vector<Value>& a, const std::vector<Value>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Value x, Value y) {
      if (!x || !y) return !x && !y;
      const auto known = counterpart_.find(x.info());
      if (known != counterpart_.end()) return known->second == y.info();
      return x.constant() && y.constant() && identical(*x.constant(), *y.constant());
    });
  }

  static bool same(const Attribute& a, const Attribute& b) {
    if (a.index() != b.index()) return false;
    if (const auto* tensor = std::get_if<Tensor>(&a)) return identical(*tensor, std::get<Tensor>(b));
    if (std::holds_alternative<std::shared_ptr<Graph>>(a)) return false;  // not worth a comparison of scopes
    return std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::shared_ptr<Graph>>)
            return false;
          else
            return x == std::get<T>(b);
        },
        a);
  }

  bool equal(const Node& a, const Node& b) {
    const auto same_attribute = [](const auto& x, const auto& y) {
      return x.first == y.first && same(x.second, y.second);
    };
    if (a.domain != b.domain || a.op != b.op || a.outputs.size() != b.outputs.size() ||
        !same(a.inputs, b.inputs) ||
        !std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                    same_attribute))
      return false;
    for (std::size_t i = 0; i < a.outputs.size(); ++i)
      counterpart_[a.outputs[i].info()] = b.outputs[i].info();
    return true;
  }

  std::unordered_map<const ValueInfo*, const ValueInfo*> counterpart_;
};

class Outliner {
 public:
  explicit Outliner(Model& model) : model_(model) {}

  void run(Graph& graph) {
    for (std::size_t begin = 0; begin < graph.nodes.size(); ++begin) {
      const auto kept = graph.nodes[begin]->kept;
      if (!kept) {
        for (const auto& [name, attribute] : graph.nodes[begin]->attributes)
          if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute)) run(**inner);
        continue;
      }
      std::size_t end = begin + 1;
      while (end < graph.nodes.size() && graph.nodes[end]->kept == kept) ++end;
      replace(graph, begin, end, *kept);
    }
  }

 private:
  void replace(Graph& graph, std::size_t begin, std::size_t end, const KeptCall& call) {
    Infos made, used_outside;
    for (std::size_t i = begin; i < end; ++i)
      for (const Value output : graph.nodes[i]->outputs) made.insert(output.info());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (i >= begin && i < end) continue;
      Infos local;
      for_each_use(*graph.nodes[i], local, [&](Value v) { used_outside.insert(v.info()); });
    }
    for (const Value output : graph.outputs) used_outside.insert(output.info());

    auto body = std::make_shared<Graph>();
    body->name = call.name;
    Infos inputs, outputs;
    for (const Value argument : call.arguments) add_once(body->inputs, inputs, argument);
    Infos local;
    for (std::size_t i = begin; i < end; ++i) {
      for_each_use(*graph.nodes[i], local, [&](Value v) {
        if (!made.contains(v.info()) && !stays_inside(v)) add_once(body->inputs, inputs, v);
      });
    }
    for (const Value result : call.results) {
      if (result && made.contains(result.info()) && !outputs.contains(result.info()))
        add_once(body->outputs, outputs, result);
      else if (call.bare)  // a kernel knows its outputs by their places
        body->outputs.emplace_back();
    }
    while (!body->outputs.empty() && !body->outputs.back()) body->outputs.pop_back();
    for (std::size_t i = begin; i < end; ++i)
      for (const Value output : graph.nodes[i]->outputs)
        if (used_outside.contains(output.info())) add_once(body->outputs, outputs, output);

    auto node = std::make_unique<Node>();
    node->domain = call.domain;
    node->name = call.node;
    node->inputs = body->inputs;
    node->outputs = body->outputs;
    node->attributes = call.attributes;
    node->origin = call.origin;
    const auto first = graph.nodes.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = graph.nodes.begin() + static_cast<std::ptrdiff_t>(end);
    body->nodes.assign(std::make_move_iterator(first), std::make_move_iterator(last));
    node->op = call.bare ? call.name : function_for(call, std::move(body));
    model_.domains.try_emplace(call.domain, 1);
    *first = std::move(node);
    graph.nodes.erase(first + 1, last);
  }

  /// The name of the function with this body.
  std::string function_for(const KeptCall& call, std::shared_ptr<Graph> body) {
    std::string name = call.name;
    for (int i = 1;; ++i) {
      const auto taken = std::ranges::find_if(model_.functions, [&](const LocalFunction& f) {
        return f.domain == call.domain && f.name == name;
      });
      if (taken == model_.functions.end()) break;
      if (taken->body && Comparison().equal(*taken->body, *body)) return name;
      name = call.name + "_" + std::to_string(i);
    }
    model_.functions.push_back({call.domain, name, {}, std::move(body)});
    return name;
  }

  Model& model_;
};

}  // namespace

void outline_kept_calls(Model& model) { Outliner(model).run(model.graph); }

}  // namespace pt2onnx
