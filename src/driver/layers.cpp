#include "driver/layers.h"
#include "core/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace pt2onnx {
namespace {

using Box = LayerPicture::Box;
using State = LayerPicture::State;

constexpr std::size_t kMostBoxes = 40;

std::string module_of(const Node& node) { return node.origin ? node.origin->module_path : std::string(); }

std::string shape_text(const TensorSummary& tensor) {
  return fmt::format("{}[{}]", tensor.dtype, fmt::join(tensor.shape, ", "));
}

/// Calls `use` with each node of the graph and of those inside its nodes.
template <typename Use>
void for_each_node(const Graph& graph, const Use& use) {
  for (const auto& node : graph.nodes) {
    use(*node);
    for (const auto& [name, attribute] : node->attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute)) for_each_node(**inner, use);
  }
}

/// One node or step, on the way into a box.
struct Item {
  std::string module, op, output;
  State state = State::Done;
};

/// "a.b.c" to depth 2: "a.b"
std::string cut(const std::string& path, std::size_t depth) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < depth && at != std::string::npos; ++i) at = path.find('.', i == 0 ? 0 : at + 1);
  return depth == 0 ? std::string() : path.substr(0, at);
}

/// Which box each item goes into. Items of one box follow each other, so that arrows between boxes go forward.
using Grouping = std::vector<std::size_t>;

Grouping by_depth(const std::vector<Item>& items, std::size_t depth) {
  Grouping boxes;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool same = i > 0 && cut(items[i].module, depth) == cut(items[i - 1].module, depth);
    boxes.push_back(i == 0 ? 0 : boxes.back() + (same ? 0 : 1));
  }
  return boxes;
}

/// The finest one that can be looked at: each item for itself, else the deepest layers, else those at the top.
std::pair<Grouping, std::size_t> group(const std::vector<Item>& items) {
  std::size_t depth = 1;
  for (const Item& item : items)
    depth = std::max(depth, static_cast<std::size_t>(std::ranges::count(item.module, '.')) + 1);
  if (items.size() <= kMostBoxes) {
    Grouping each(items.size());
    for (std::size_t i = 0; i < each.size(); ++i) each[i] = i;
    return {each, depth};
  }
  for (; depth > 1; --depth)
    if (Grouping boxes = by_depth(items, depth); boxes.back() < kMostBoxes) return {boxes, depth};
  Grouping top = by_depth(items, 1);
  for (std::size_t& box : top) box = std::min(box, kMostBoxes);  // the rest is one
  return {top, 1};
}

/// "Conv", "Add, Relu", "Add, Mul and 3 more"
std::string listed(const std::vector<Item>& items) {
  std::vector<std::string> names;
  for (const Item& item : items)
    if (std::ranges::find(names, item.op) == names.end()) names.push_back(item.op);
  const std::size_t more = names.size() > 3 ? names.size() - 2 : 0;
  if (more > 0) names.resize(2);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

Box box_of(const std::vector<Item>& items, std::size_t depth) {
  Box box;
  box.path = cut(items.front().module, depth);
  const bool is_layer = items.size() > 1 && !box.path.empty();
  box.title = is_layer ? box.path : listed(items);
  box.note = !is_layer && !box.path.empty() ? box.path
             : items.size() > 1             ? fmt::format("{} operators", items.size())
                                            : std::string();
  if (!items.back().output.empty()) box.note += (box.note.empty() ? "" : ", ") + items.back().output;
  const auto any = [&](State state) {
    return std::ranges::any_of(items, [&](const Item& item) { return item.state == state; });
  };
  box.state = any(State::Failed) ? State::Failed : any(State::Skipped) ? State::Skipped : State::Done;
  return box;
}

void add_boxes(const std::vector<Item>& items, const Grouping& boxes, std::size_t depth,
               LayerPicture& picture) {
  std::vector<Item> together;
  for (std::size_t i = 0; i < items.size(); ++i) {
    together.push_back(items[i]);
    if (i + 1 < items.size() && boxes[i + 1] == boxes[i]) continue;
    picture.boxes.push_back(box_of(together, depth));
    together.clear();
  }
  if (boxes.size() > 0 && boxes.back() == kMostBoxes) {
    picture.boxes.back().title = "the rest";
    picture.boxes.back().path.clear();
  }
}

/// The arrows of a graph whose nodes went into boxes.
class Arrows {
 public:
  void made(const Value& value, std::size_t box) { makers_[value.info()] = box; }
  void used(const Value& value, std::size_t box) {
    if (!value) return;
    const auto maker = makers_.find(value.info());
    if (maker != makers_.end() && maker->second != box) arrows_.emplace(maker->second, box);
  }
  void used(const Graph& inner, std::size_t box) {
    for_each_node(inner, [&](const Node& node) {
      for (const Value& input : node.inputs) used(input, box);
    });
    for (const Value& output : inner.outputs) used(output, box);
  }
  std::vector<std::pair<std::size_t, std::size_t>> all() const { return {arrows_.begin(), arrows_.end()}; }

 private:
  std::unordered_map<const ValueInfo*, std::size_t> makers_;
  std::set<std::pair<std::size_t, std::size_t>> arrows_;
};

LayerPicture picture_of(const Graph& graph) {
  LayerPicture picture;
  Arrows arrows;
  const auto port = [&](const Value& value) {
    picture.boxes.push_back({{}, value.name(), shape_text(summary_of(value.type())), State::Port});
    return picture.boxes.size() - 1;
  };
  for (const Value& input : graph.inputs) arrows.made(input, port(input));
  std::vector<Item> items;
  for (const auto& node : graph.nodes)
    items.push_back({module_of(*node), qualified_name(*node),
                     node->outputs.empty() || !node->outputs[0]
                         ? std::string()
                         : shape_text(summary_of(node->outputs[0].type())),
                     State::Done});
  const std::size_t first = picture.boxes.size();
  if (!items.empty()) {
    const auto [boxes, depth] = group(items);
    add_boxes(items, boxes, depth, picture);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Node& node = *graph.nodes[i];
      for (const Value& input : node.inputs) arrows.used(input, first + boxes[i]);
      for (const auto& [name, attribute] : node.attributes)
        if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&attribute))
          arrows.used(**inner, first + boxes[i]);
      for (const Value& output : node.outputs)
        if (output) arrows.made(output, first + boxes[i]);
    }
  }
  for (const Value& output : graph.outputs) arrows.used(output, port(output));
  picture.arrows = arrows.all();
  return picture;
}

State state_of(Step::State state) {
  return state == Step::State::Done     ? State::Done
         : state == Step::State::Failed ? State::Failed
                                        : State::Skipped;
}

LayerPicture picture_of(const std::vector<Step>& steps) {
  LayerPicture picture;
  picture.by_order = true;
  std::vector<Item> items;
  for (const Step& step : steps) items.push_back({step.module, step.op, {}, state_of(step.state)});
  if (items.empty()) return picture;
  const auto [boxes, depth] = group(items);
  add_boxes(items, boxes, depth, picture);
  for (std::size_t i = 1; i < picture.boxes.size(); ++i) picture.arrows.emplace_back(i - 1, i);
  return picture;
}

}  // namespace

TensorSummary summary_of(const ValueType& type) {
  TensorSummary summary;
  summary.dtype = type.dtype ? std::string(to_string(*type.dtype)) : "unknown";
  if (type.shape)
    for (const Dim& dim : *type.shape) summary.shape.push_back(dim.str());
  return summary;
}

void describe_layers(const Model& model, const InterpretResult& result, Report& report) {
  report.layers.clear();
  std::unordered_map<std::string, std::size_t> places;
  for (const LayerCall& call : result.layers) {
    places.emplace(call.path, report.layers.size());
    LayerSummary layer;
    layer.path = call.path;
    layer.type = call.type.substr(call.type.rfind('.') + 1);
    for (const ValueType& type : call.results) layer.outputs.push_back(summary_of(type));
    report.layers.push_back(std::move(layer));
  }
  const auto layer_at = [&](const std::string& path) -> LayerSummary* {
    const auto it = places.find(path);
    return it == places.end() ? nullptr : &report.layers[it->second];
  };
  for (const Step& step : result.steps) {
    LayerSummary* layer = step.state == Step::State::Done ? nullptr : layer_at(step.module);
    if (!layer) continue;
    if (step.state == Step::State::Skipped)
      ++layer->skipped;
    else if (std::ranges::find(layer->failed, step.op) == layer->failed.end())
      layer->failed.push_back(step.op);
  }
  for_each_node(model.graph, [&](const Node& node) {
    if (LayerSummary* layer = layer_at(module_of(node))) ++layer->operators[qualified_name(node)];
  });
  report.picture = result.findings.empty() ? picture_of(model.graph) : picture_of(result.steps);
}

}  // namespace pt2onnx
