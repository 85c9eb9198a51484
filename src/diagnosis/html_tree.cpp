#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "diagnosis/html_layers.h"
#include "diagnosis/render.h"

namespace pt2onnx {
namespace {

/// A layer with those inside it. One that only holds others (a ModuleList) was never called and has no summary.
struct Branch {
  std::string path;
  const LayerSummary* layer = nullptr;
  std::vector<std::unique_ptr<Branch>> inside;
  std::size_t nodes = 0, failed = 0, skipped = 0;  // of it and all inside
};

/// Finds or makes the branch of a path below `root`.
Branch& branch_at(Branch& root, const std::string& path) {
  Branch* at = &root;
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('.', end + 1), path.size());
    const std::string part = path.substr(0, end);
    const auto found =
        std::ranges::find_if(at->inside, [&](const auto& branch) { return branch->path == part; });
    if (found != at->inside.end()) {
      at = found->get();
    } else {
      at->inside.push_back(std::make_unique<Branch>());
      at = at->inside.back().get();
      at->path = part;
    }
  }
  return *at;
}

void sum_up(Branch& branch) {
  if (branch.layer) {
    for (const auto& [op, count] : branch.layer->operators) branch.nodes += count;
    branch.failed += branch.layer->failed.size();
    branch.skipped += branch.layer->skipped;
  }
  for (const auto& inner : branch.inside) {
    sum_up(*inner);
    branch.nodes += inner->nodes;
    branch.failed += inner->failed;
    branch.skipped += inner->skipped;
  }
}

std::string shapes(const std::vector<TensorSummary>& tensors) {
  std::vector<std::string> texts;
  for (const TensorSummary& tensor : tensors)
    texts.push_back(fmt::format("{}[{}]", tensor.dtype, fmt::join(tensor.shape, ", ")));
  constexpr std::size_t kMost = 4;
  const bool more = texts.size() > kMost;
  if (more) texts.resize(kMost);
  return fmt::format("{}{}", fmt::join(texts, ", "), more ? ", ..." : "");
}

std::string mark(const Branch& branch, bool complete) {
  if (branch.failed > 0)
    return fmt::format("<span class=\"mark bad\">{} not exportable</span>",
                       counted(branch.failed, "operator"));
  if (branch.skipped > 0)
    return fmt::format("<span class=\"mark skipped\">{} behind what failed</span>",
                       counted(branch.skipped, "operator"));
  return complete ? fmt::format("<span class=\"mark good\">{}</span>", counted(branch.nodes, "node"))
                  : std::string("<span class=\"mark good\">exportable</span>");
}

std::string operators_text(const LayerSummary& layer) {
  std::vector<std::string> words;
  for (const auto& [op, count] : layer.operators)
    words.push_back(
        fmt::format("<code>{}</code>{}", escaped(op), count > 1 ? fmt::format(" &times;{}", count) : ""));
  for (const std::string& op : layer.failed)
    words.push_back(
        fmt::format("<code>{}</code> <span class=\"mark bad\">not exportable</span>", escaped(op)));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// `complete`: the whole model was translated, so that its nodes can be counted.
std::string html_of(const Branch& branch, std::size_t number, bool complete, bool open) {
  const std::string name = branch.path.empty() ? "the model" : branch.path;
  const std::string type = branch.layer ? branch.layer->type : std::string();
  const std::string operators = branch.layer ? operators_text(*branch.layer) : std::string();
  const std::string shape = branch.layer ? shapes(branch.layer->outputs) : std::string();
  std::string text = name + " " + type + " " + shape;  // what the search looks at
  if (branch.layer) {
    for (const auto& [op, count] : branch.layer->operators) text += " " + op;
    for (const std::string& op : branch.layer->failed) text += " " + op + " not exportable";
  }
  const bool leaf = branch.inside.empty() && operators.empty();
  std::string out = fmt::format(
      "<details id=\"{}\" class=\"{}\" data-text=\"{}\"{}><summary><code>{}</code> <span "
      "class=\"class\">{}</span> {} "
      "<span class=\"shape\">{}</span></summary>\n",
      anchor_of(number, branch.path), leaf ? "leaf" : "layer", escaped(text),
      open || branch.failed > 0 ? " open" : "", escaped(name), escaped(type), mark(branch, complete),
      escaped(shape));
  if (!operators.empty()) out += fmt::format("<p>{}</p>\n", operators);
  for (const auto& inner : branch.inside) out += html_of(*inner, number, complete, false);
  return out + "</details>\n";
}

}  // namespace

std::string anchor_of(std::size_t number, std::string_view path) {
  return escaped(fmt::format("layer-{}-{}", number, path));
}

std::string layers_section(const Report& report, std::size_t number) {
  if (report.layers.empty()) return {};
  Branch root;
  for (const LayerSummary& layer : report.layers) branch_at(root, layer.path).layer = &layer;
  sum_up(root);
  return fmt::format(
      "<h2>Layers</h2>\n<p><input class=\"search\" type=\"search\" placeholder=\"search the layers: a name, "
      "a class, "
      "an operator, a size\" aria-label=\"search the layers\"></p>\n<div class=\"layers\">\n{}</div>\n",
      html_of(root, number, report.findings.empty(), true));
}

}  // namespace pt2onnx
