#include "driver/program_text.h"

#include <fmt/format.h>

#include <vector>

namespace pt2onnx {
namespace {

using program::Literal;

constexpr std::size_t kShownItems = 8;

std::string joined(const std::vector<Literal>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == kShownItems) return text + ", ...";
    text += (i ? ", " : "") + text_of(items[i]);
  }
  return text;
}

struct LiteralText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::complex<double>& v) const {
    return fmt::format("({}+{}j)", v.real(), v.imag());
  }
  std::string operator()(const std::string& v) const { return fmt::format("\"{}\"", v); }
  std::string operator()(const Tensor& v) const {
    return fmt::format("<{}[{}]>", to_string(v.dtype), fmt::join(v.dims, ","));
  }
  std::string operator()(const std::shared_ptr<program::ListLiteral>& v) const {
    return fmt::format("[{}]", joined(v->items));
  }
  std::string operator()(const std::shared_ptr<program::TupleLiteral>& v) const {
    return fmt::format("({})", joined(v->items));
  }
  std::string operator()(const std::shared_ptr<program::DictLiteral>& v) const {
    std::string text;
    for (const auto& [key, value] : v->items)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", text_of(key), text_of(value));
    return fmt::format("{{{}}}", text);
  }
  std::string operator()(const program::ObjectRef& v) const {
    return v ? fmt::format("<{}>", v->type) : "<object>";
  }
  std::string operator()(const program::EnumLiteral& v) const { return fmt::format("{}.{}", v.type, v.name); }
  std::string operator()(const program::DeviceLiteral& v) const { return fmt::format("device({})", v.name); }
  std::string operator()(const program::FunctionLiteral& v) const {
    return fmt::format("<function {}>", v.name);
  }
  std::string operator()(const program::OpaqueLiteral& v) const { return fmt::format("<{}>", v.type); }
};

class FunctionText {
 public:
  explicit FunctionText(const program::Function& function) : function_(function) {}

  std::string text() {
    std::string parameters;
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      const program::Parameter& parameter = function_.parameters[i];
      parameters +=
          fmt::format("{}{}: {}", i ? ", " : "", name(function_.body.parameters.at(i)), type(parameter.type));
      if (parameter.default_value) parameters += " = " + text_of(*parameter.default_value);
    }
    out_ = fmt::format("{}({}):\n", function_.name, parameters);
    block(function_.body, 1);
    out_ += fmt::format("  return {}\n", names(function_.body.results));
    return std::move(out_);
  }

 private:
  std::string name(program::ValueId id) const {
    const auto index = static_cast<std::size_t>(id);
    const bool named = index < function_.value_names.size() && !function_.value_names[index].empty();
    return named ? "%" + function_.value_names[index] : fmt::format("%{}", id);
  }

  std::string names(const std::vector<program::ValueId>& ids) const {
    std::string text;
    for (const program::ValueId id : ids) text += (text.empty() ? "" : ", ") + name(id);
    return text;
  }

  static std::string type(const program::TypeRef& type) { return type ? type->text : "?"; }

  void block(const program::Block& block, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    for (const program::Node& node : block.nodes) {
      std::string left;
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        left += fmt::format("{}{}: {}", i ? ", " : "", name(node.outputs[i]),
                            i < node.output_types.size() ? type(node.output_types[i]) : "?");
      std::string op = node.op->name;
      if (node.op->schema && !node.op->schema->overload.empty()) op += "." + node.op->schema->overload;
      if (!node.name.empty()) op += fmt::format("[{}]", node.name);
      if (op == "prim::Constant") op += fmt::format("[{}]", text_of(node.constant));
      out_ += fmt::format("{}{}{}{}({})", indent, left, left.empty() ? "" : " = ", op, names(node.inputs));
      if (node.location && node.location->line > 0)
        out_ += fmt::format("  # {}:{}", node.location->file, node.location->line);
      out_ += "\n";
      for (std::size_t i = 0; i < node.blocks.size(); ++i) {
        out_ += fmt::format("{}  block{}({}):\n", indent, i, names(node.blocks[i].parameters));
        this->block(node.blocks[i], depth + 2);
        out_ += fmt::format("{}    -> ({})\n", indent, names(node.blocks[i].results));
      }
    }
  }

  const program::Function& function_;
  std::string out_;
};

}  // namespace

std::string text_of(const Literal& literal) { return std::visit(LiteralText{}, literal.data); }

std::string text_of(const program::Function& function) { return FunctionText(function).text(); }

}  // namespace pt2onnx
