#include "driver/program_drawing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "core/dot.h"
#include "driver/program_text.h"

namespace pt2onnx {
namespace {

class Drawing {
 public:
  explicit Drawing(Dot& dot) : dot_(dot) {}

  void draw(const program::Function& function) {
    dot_.open_cluster(function.name);
    const auto& parameters = function.body.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (i < function.parameters.size() && function.parameters[i].name != "self")
        makers_[parameters[i]] =
            dot_.add(fmt::format("{}\n{}", function.parameters[i].name, function.parameters[i].type->text),
                     Dot::Kind::Input);
    draw(function.body);
    const std::string result = dot_.add("return", Dot::Kind::Output);
    for (const auto id : function.body.results) connect(id, result);
    dot_.close_cluster();
  }

 private:
  void draw(const program::Block& block) {
    for (const program::Node& node : block.nodes) draw(node);
  }

  void draw(const program::Node& node) {
    // Constants and attributes are words in the label of what uses them.
    if (node.op->name == "prim::Constant") {
      for (const auto id : node.outputs) words_[id] = text_of(node.constant);
      return;
    }
    if (node.op->name == "prim::GetAttr" && node.outputs.size() == 1) {
      const auto of = node.inputs.empty() ? words_.end() : words_.find(node.inputs[0]);
      words_[node.outputs[0]] = (of == words_.end() ? "" : of->second + ".") + node.name;
      return;
    }
    std::string label = node.op->name + (node.name.empty() ? "" : " " + node.name);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto word = words_.find(node.inputs[i]);
      if (word == words_.end() || word->second == "None") continue;
      const bool named = node.op->schema && i < node.op->schema->arguments.size();
      label += fmt::format("\n{}{}", named ? node.op->schema->arguments[i].name + " = " : "", word->second);
    }
    const std::string id = dot_.add(label);
    for (const auto input : node.inputs) connect(input, id);
    for (const auto output : node.outputs) makers_[output] = id;
    const bool is_if = node.op->name == "prim::If";
    for (std::size_t i = 0; i < node.blocks.size(); ++i) {
      dot_.open_cluster(is_if ? (i == 0 ? "then" : "else") : "body");
      for (const auto parameter : node.blocks[i].parameters) makers_[parameter] = id;
      draw(node.blocks[i]);
      dot_.close_cluster();
    }
  }

  void connect(program::ValueId value, const std::string& to) {
    if (const auto it = makers_.find(value); it != makers_.end()) dot_.edge(it->second, to);
  }

  Dot& dot_;
  std::map<program::ValueId, std::string> makers_, words_;
};

}  // namespace

std::string drawing_of(const std::vector<const program::Function*>& functions) {
  Dot dot;
  for (const program::Function* function : functions) Drawing(dot).draw(*function);
  return dot.finish();
}

std::string svg_of(const std::string& drawing) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0)
    throw std::runtime_error(
        "--format svg: Graphviz's `dot` is not installed (Debian: apt-get install graphviz); --format dot "
        "writes what it "
        "would draw");
  std::string path = "/tmp/pt2onnx-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("--format svg: no temporary file can be made in /tmp");
  const bool written = write(file, drawing.data(), drawing.size()) == static_cast<ssize_t>(drawing.size());
  close(file);
  std::string svg;
  int status = 1;
  if (FILE* pipe = written ? popen(("dot -Tsvg " + path).c_str(), "r") : nullptr) {
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      svg.append(buffer.data(), n);
    status = pclose(pipe);
  }
  std::remove(path.c_str());
  if (status != 0) throw std::runtime_error("--format svg: Graphviz's `dot` failed");
  return svg;
}

}  // namespace pt2onnx
