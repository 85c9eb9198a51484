// Calls, exceptions, forks and what surrounds them.
#include <fmt/format.h>

#include "interpreter/machine.h"

namespace pt2onnx {
namespace {

using program::Block;
using program::Node;

void taint_all(const Node& node, std::vector<Datum>& outputs) {
  outputs.assign(node.outputs.size(), Datum(Tainted{}));
}

bool raise_exception(Machine& m, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>&) {
  std::string message;
  if (!inputs.empty()) {
    if (const auto* text = inputs[0].get_if<std::string>()) message = *text;
    if (const auto* open = inputs[0].get_if<OpenText>()) message = open->text;
  }
  m.raise(message.empty() ? "an exception without a message" : message);
}

/// Printing and warnings have no place in a graph.
bool ignore(Machine&, const Node& node, Frame&, std::vector<Datum>&, std::vector<Datum>& outputs) {
  outputs.resize(node.outputs.size());
  return true;
}

bool call_function(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs,
                   std::vector<Datum>& outputs) {
  const auto* callee = inputs[0].get_if<program::FunctionLiteral>();
  if (!callee) {
    taint_all(node, outputs);
    return true;
  }
  const auto function = m.program().functions.find(callee->name);
  if (function == m.program().functions.end())
    m.raise(fmt::format("no function `{}` in the file", callee->name));
  outputs = m.call(*function->second, {inputs.begin() + 1, inputs.end()});
  return true;
}

bool call_method(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs,
                 std::vector<Datum>& outputs) {
  const auto* object = inputs[0].get_if<InstanceRef>();
  if (!object) {
    taint_all(node, outputs);
    return true;
  }
  const auto cls = m.program().classes.find((*object)->type);
  if (cls == m.program().classes.end()) m.raise(fmt::format("no class `{}` in the file", (*object)->type));
  const auto method = cls->second.methods.find(node.name);
  if (method == cls->second.methods.end())
    m.raise(fmt::format("class `{}` has no method `{}`", (*object)->type, node.name));
  outputs = m.call(*m.program().functions.at(method->second), inputs);
  return true;
}

/// The function that a with-block calls at its begin or end, of a class of the program's own.
const program::Function* guard_method(Machine& m, const InstanceRef& guard, const std::string& name) {
  if (guard->type.starts_with("__torch__.torch."))
    return nullptr;  // no_grad and the like: nothing for a graph
  const auto cls = m.program().classes.find(guard->type);
  if (cls == m.program().classes.end()) return nullptr;
  const auto method = cls->second.methods.find(name);
  return method == cls->second.methods.end() ? nullptr : m.program().functions.at(method->second).get();
}

bool enter(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const auto* guard = inputs.empty() ? nullptr : inputs[0].get_if<InstanceRef>();
  if (guard) {
    if (const auto* method = guard_method(m, *guard, "__enter__")) {
      outputs = m.call(*method, {inputs[0]});
      outputs.resize(node.outputs.size());
      return true;
    }
    // libtorch computes in the lower precision only where Python, or the program that loads the file, asks for it.
    if ((*guard)->type.ends_with(".autocast") &&
        known_equal(m.attribute(*guard, "_enabled"), Scalar(true)) == true)
      m.assume(node.op->name,
               "enters `torch.autocast`; the model computes in the element types that its inputs have");
  }
  if (!node.outputs.empty()) outputs.push_back(inputs.empty() ? Datum() : inputs[0]);
  return true;
}

bool exit(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const auto* guard = inputs.empty() ? nullptr : inputs[0].get_if<InstanceRef>();
  if (guard)
    if (const auto* method = guard_method(m, *guard, "__exit__"))
      m.call(*method, {inputs[0], Datum(), Datum(), Datum()});
  outputs.resize(node.outputs.size());
  return true;
}

/// torch.jit.fork runs at once; the future is its result. The block of prim::fork takes its inputs as parameters.
bool fork(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs,
          std::vector<Datum>& outputs) {
  if (node.blocks.empty()) return false;
  const Block& body = node.blocks[0];
  for (std::size_t i = 0; i < body.parameters.size() && i < inputs.size(); ++i)
    frame.registers[static_cast<std::size_t>(body.parameters[i])] = inputs[i];
  auto results = m.run_block(body, frame);
  if (results.size() == 1)
    outputs.push_back(std::move(results[0]));
  else
    outputs.emplace_back(std::make_shared<TupleState>(TupleState{nullptr, std::move(results)}));
  return true;
}

bool uninitialized(Machine&, const Node&, Frame&, std::vector<Datum>&, std::vector<Datum>& outputs) {
  outputs.emplace_back(Uninitialized{});
  return true;
}

bool pass_through(Machine&, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  outputs.push_back(inputs[0]);
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::_set_grad_enabled", ignore},
    {"aten::set_grad_enabled", ignore},
    {"aten::wait", pass_through},
    {"aten::warn", ignore},
    {"prim::CallFunction", call_function},
    {"prim::CallMethod", call_method},
    {"prim::Enter", enter},
    {"prim::Exit", exit},
    {"prim::Print", ignore},
    {"prim::RaiseException", raise_exception},
    {"prim::Uninitialized", uninitialized},
    {"prim::fork", fork},
};

}  // namespace

std::span<const BuiltinEntry> control_builtins() { return kTable; }

}  // namespace pt2onnx
