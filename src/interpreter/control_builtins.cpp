// Calls, branches, loops and what surrounds them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "interpreter/machine.h"
#include "interpreter/scalar_math.h"

namespace pt2onnx {
namespace {

using program::Block;
using program::Node;

/// An exception on every path through the block's own nodes: the other branch is what the program means.
bool always_raises(const Block& block) {
  return std::any_of(block.nodes.begin(), block.nodes.end(),
                     [](const Node& node) { return node.op->name == "prim::RaiseException"; });
}

void taint_all(const Node& node, std::vector<Datum>& outputs) { outputs.assign(node.outputs.size(), Datum(Tainted{})); }

/// Finds what else is wrong inside a block that cannot be translated as a whole.
void explore(Machine& m, const Block& block, Frame& frame) {
  const auto checkpoint = m.builder().checkpoint();
  try {
    m.run_block(block, frame);
  } catch (const Raised&) {  // belongs to a path that may not be taken
  }
  m.builder().rollback(checkpoint);
}

bool run_if(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const Block &then_block = node.blocks[0], &else_block = node.blocks[1];
  const auto* condition = inputs[0].get_if<Scalar>();
  if (condition) {
    if (const auto known = condition->number()) {
      outputs = m.run_block(*known != 0 ? then_block : else_block, frame);
      return true;
    }
    if (always_raises(then_block) != always_raises(else_block)) {
      const Block& taken = always_raises(then_block) ? else_block : then_block;
      m.warn(fmt::format("the check at {} depends on data and is left out of the model", m.here()));
      outputs = m.run_block(taken, frame);
      return true;
    }
    m.report("prim::If", "has a condition that depends on the data, which pt2onnx does not translate yet",
             {"make the sizes that the condition depends on static, or trace the module for one path"});
  }
  explore(m, then_block, frame);
  explore(m, else_block, frame);
  taint_all(node, outputs);
  return true;
}

bool run_loop(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const Block& body = node.blocks[0];
  std::vector<Datum> carried(inputs.begin() + 2, inputs.end());
  Datum condition = inputs[1];
  const auto* trips = inputs[0].get_if<Scalar>();
  const auto limit = trips ? trips->integer() : std::nullopt;

  const auto refuse = [&](std::string why, std::string advice) {
    m.report("prim::Loop", std::move(why), {std::move(advice)});
    taint_all(node, outputs);
    return true;
  };
  const auto enter = [&](std::int64_t i) {
    frame.registers[static_cast<std::size_t>(body.parameters[0])] = Scalar(i);
    for (std::size_t k = 0; k < carried.size(); ++k)
      frame.registers[static_cast<std::size_t>(body.parameters[k + 1])] = carried[k];
  };

  if (!limit || any_tainted(condition)) {
    enter(0);
    explore(m, body, frame);
    if (!trips || any_tainted(condition)) {
      taint_all(node, outputs);
      return true;
    }
    return refuse("repeats a number of times that depends on the data or on a dynamic dim",
                  "make the dim that the loop runs over static (leave it out of --dynamic)");
  }
  for (std::int64_t i = 0; i < *limit; ++i) {
    const auto* scalar = condition.get_if<Scalar>();
    const auto go_on = scalar ? truth(m, *scalar).integer() : std::nullopt;
    if (!go_on) {
      if (condition.is_tainted()) {
        taint_all(node, outputs);
        return true;
      }
      return refuse("goes on for as long as a condition on the data holds", "trace the module instead of scripting it");
    }
    if (*go_on == 0) break;
    if (i >= m.options().unroll_limit)
      return refuse(fmt::format("runs more than {} times, too often to be unrolled", m.options().unroll_limit),
                    "use a tensor operation in place of the loop");
    enter(i);
    auto results = m.run_block(body, frame);
    condition = std::move(results[0]);
    carried.assign(std::make_move_iterator(results.begin() + 1), std::make_move_iterator(results.end()));
  }
  outputs = std::move(carried);
  return true;
}

bool raise_exception(Machine& m, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>&) {
  const auto* message = inputs.empty() ? nullptr : inputs[0].get_if<std::string>();
  m.raise(message && !message->empty() ? *message : "an exception without a message");
}

/// Printing and warnings have no place in a graph.
bool ignore(Machine&, const Node& node, Frame&, std::vector<Datum>&, std::vector<Datum>& outputs) {
  outputs.resize(node.outputs.size());
  return true;
}


bool call_function(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  const auto* callee = inputs[0].get_if<program::FunctionLiteral>();
  if (!callee) {
    taint_all(node, outputs);
    return true;
  }
  const auto function = m.program().functions.find(callee->name);
  if (function == m.program().functions.end()) m.raise(fmt::format("no function `{}` in the file", callee->name));
  outputs = m.call(*function->second, {inputs.begin() + 1, inputs.end()});
  return true;
}

bool call_method(Machine& m, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
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

/// `with torch.no_grad()` and the like: the guards change nothing in an exported graph.
bool enter_or_exit(Machine&, const Node& node, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  if (!node.outputs.empty()) outputs.push_back(inputs.empty() ? Datum() : inputs[0]);
  return true;
}

/// torch.jit.fork runs at once; the future is its result. The block of prim::fork takes its inputs as parameters.
bool fork(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
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

bool pass_through(Machine&, const Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>& outputs) {
  outputs.push_back(inputs[0]);
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::_set_grad_enabled", ignore}, {"aten::set_grad_enabled", ignore},
    {"aten::wait", pass_through},      {"aten::warn", ignore},
    {"prim::CallFunction", call_function}, {"prim::CallMethod", call_method},
    {"prim::Enter", enter_or_exit},    {"prim::Exit", ignore},
    {"prim::If", run_if},              {"prim::Loop", run_loop},
    {"prim::Print", ignore},           {"prim::RaiseException", raise_exception},
    {"prim::Uninitialized", ignore},   {"prim::fork", fork},
};

}  // namespace

std::span<const BuiltinEntry> control_builtins() { return kTable; }

}  // namespace pt2onnx
