#include "core/dot.h"

#include <fmt/format.h>

namespace pt2onnx {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

}  // namespace

Dot::Dot()
    : text_(
          "digraph model {\n  rankdir=TB; fontname=\"Helvetica\";\n"
          "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8eef8\", fontname=\"Helvetica\", "
          "fontsize=11];\n"
          "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\"];\n") {}

std::string Dot::add(std::string_view label, Kind kind) {
  std::string id = fmt::format("n{}", ++last_);
  const char* look = kind == Kind::Operator ? ""
                     : kind == Kind::Input  ? ", shape=ellipse, fillcolor=\"#e2f5e7\""
                                            : ", shape=ellipse, fillcolor=\"#fdf0dc\"";
  text_ += fmt::format("  {} [label={}{}];\n", id, quoted(label), look);
  return id;
}

void Dot::edge(const std::string& from, const std::string& to, std::string_view label) {
  edges_ += label.empty() ? fmt::format("  {} -> {};\n", from, to)
                          : fmt::format("  {} -> {} [label={}];\n", from, to, quoted(label));
}

void Dot::open_cluster(std::string_view label) {
  text_ +=
      fmt::format("  subgraph cluster_{} {{\n  label={}; color=\"#aaaaaa\";\n", ++clusters_, quoted(label));
}

void Dot::close_cluster() { text_ += "  }\n"; }

std::string Dot::finish() { return std::move(text_) + edges_ + "}\n"; }

}  // namespace pt2onnx
