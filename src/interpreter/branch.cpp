// prim::If. A known condition is taken; one that the graph decides becomes ONNX If, whose outputs are the variables and
// the state that differ between the branches.
#include <fmt/format.h>

#include <algorithm>

#include "interpreter/cell.h"
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

/// One branch, run in a subgraph of its own.
struct Branch {
  std::vector<Datum> results;
  std::vector<Datum> settled;    // the results, as they are at the end of the branch
  std::vector<Snapshot> states;  // what it changed
  Builder::Scope scope;
  bool raised = false;
};

Branch run_branch(Machine& m, const Block& block, Frame& frame, std::string_view name) {
  Branch branch;
  const std::size_t depth = m.builder().depth(), journal = m.journal().depth();
  m.builder().open(name, {});
  m.journal().open();
  try {
    branch.results = m.run_block(block, frame);
    for (const Datum& result : branch.results) branch.settled.push_back(settle(m, result));
    branch.states = m.journal().close();
    branch.scope = m.builder().suspend();
  } catch (const Raised&) {
    branch.raised = true;
    m.journal().unwind(journal);
    m.builder().unwind(depth);
  }
  return branch;
}

/// The content that a state has after a branch: what the branch made of it, or what it was before.
Datum content_after(const Branch& branch, const StateRef& state) {
  const auto it = std::find_if(branch.states.begin(), branch.states.end(),
                               [&](const Snapshot& snapshot) { return snapshot.state == state; });
  if (it != branch.states.end()) return state_content(*it);
  return std::visit([&](const auto& pointer) { return state_content(Snapshot{state, *pointer}); }, state);
}

/// Both sides of an object list the same attributes, those that only one has looked at as they were before.
void align(Machine& m, const StateRef& state, Datum& a, Datum& b) {
  const auto* object = std::get_if<InstanceRef>(&state);
  if (!object) return;
  const auto complete = [&](Datum& target, const Datum& other) {
    auto& items = (*target.get_if<DictRef>())->items;
    for (const auto& [name, value] : (*other.get_if<DictRef>())->items) {
      const bool known = std::any_of(items.begin(), items.end(),
                                     [&](const auto& item) { return known_equal(item.first, name) == true; });
      if (!known) items.emplace_back(name, m.attribute(*object, *name.get_if<std::string>()));
    }
    std::stable_sort(items.begin(), items.end(), [](const auto& x, const auto& y) {
      return *x.first.template get_if<std::string>() < *y.first.template get_if<std::string>();
    });
  };
  complete(a, b);
  complete(b, a);
}

/// `when_filled`: of a condition that asks whether a size is 0, the answer where it is not.
bool dynamic_if(Machine& m, Value condition, std::optional<bool> when_filled, const Node& node, Frame& frame,
                std::vector<Datum>& outputs) {
  const auto inline_branch = [&](const Block& block) {
    m.warn(fmt::format("the check at {} depends on data and is left out of the model", m.here()));
    outputs = m.run_block(block, frame);
    return true;
  };
  Branch taken = run_branch(m, node.blocks[0], frame, "then");
  if (taken.raised) return inline_branch(node.blocks[1]);
  Branch other = run_branch(m, node.blocks[1], frame, "else");
  if (other.raised) return inline_branch(node.blocks[0]);

  // What has to come out: first the results of the node, then the states that either branch changed.
  std::vector<std::pair<Datum, Datum>> pairs;
  for (std::size_t i = 0; i < taken.results.size(); ++i) {
    if (same_tensor(taken.results[i], other.results[i]))
      pairs.emplace_back(taken.results[i], other.results[i]);
    else
      pairs.emplace_back(taken.settled[i], other.settled[i]);
  }
  std::vector<StateRef> states;
  for (const Branch* branch : {&taken, &other})
    for (const Snapshot& snapshot : branch->states)
      if (std::find(states.begin(), states.end(), snapshot.state) == states.end())
        states.push_back(snapshot.state);
  for (const StateRef& state : states) {
    Datum a = content_after(taken, state), b = content_after(other, state);
    align(m, state, a, b);
    pairs.emplace_back(std::move(a), std::move(b));
  }

  std::vector<Cell> cells;
  bool tainted = false;
  for (const auto& [a, b] : pairs) {
    tainted |= any_tainted(a) || any_tainted(b);
    Cell cell = fixed_cell(a.get_if<Uninitialized>() ? b : a);
    if (!tainted) {
      // A value that only its own branch knows cannot be fixed, even where the other branch leaves the variable unset.
      widen(m, cell, a.get_if<Uninitialized>() ? a : b);
      if (cell.kind == Cell::Kind::Fixed && (a.get_if<Uninitialized>() || b.get_if<Uninitialized>())) {
        Cell probe;
        probe.kind = Cell::Kind::Unset;
        widen(m, probe, cell.fixed);
        cell = std::move(probe);
      }
    }
    cells.push_back(std::move(cell));
  }
  if (tainted) {
    outputs.assign(node.outputs.size(), Datum(Tainted{}));
    return true;
  }

  // Special care for nothing (`if n > 0: x = x.reshape(n, -1)`): tensors without elements are given another rank there.
  if (when_filled && std::any_of(cells.begin(), cells.end(), has_open_rank)) {
    m.assume(node.op->name, "gives an empty tensor another rank; the model treats it as any other");
    outputs = m.run_block(node.blocks[*when_filled ? 0 : 1], frame);
    return true;
  }

  const auto finish = [&](Branch& branch, bool first) {
    m.builder().resume(std::move(branch.scope));
    std::vector<Value> values;
    for (std::size_t i = 0; i < cells.size(); ++i)
      leaf_values(m, cells[i], first ? pairs[i].first : pairs[i].second, values);
    return m.builder().close(values);
  };
  // Values are read inside their branch, where nothing of it may be remembered outside.
  m.journal().open();
  auto then_graph = finish(taken, true);
  auto else_graph = finish(other, false);
  m.journal().close();

  std::vector<Value> values;
  const std::size_t count = then_graph->outputs.size();
  if (count > 0)
    values =
        m.builder().emit("", "If", count, {condition},
                         {{"then_branch", std::move(then_graph)}, {"else_branch", std::move(else_graph)}});
  std::size_t next = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Datum datum = instantiate(m, cells[i], values, next);
    if (i < node.outputs.size())
      outputs.push_back(std::move(datum));
    else
      set_state(m, states[i - node.outputs.size()], datum);
  }
  return true;
}

/// Finds what else is wrong in a block whose condition could not be translated.
void explore(Machine& m, const Block& block, Frame& frame) {
  const auto checkpoint = m.builder().checkpoint();
  m.journal().open();
  try {
    m.run_block(block, frame);
  } catch (const Raised&) {  // belongs to a path that may not be taken
  }
  m.journal().close();
  m.builder().rollback(checkpoint);
}

bool run_if(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs,
            std::vector<Datum>& outputs) {
  const Block &then_block = node.blocks[0], &else_block = node.blocks[1];
  const auto* condition = inputs[0].get_if<Scalar>();
  if (!condition) {
    explore(m, then_block, frame);
    explore(m, else_block, frame);
    outputs.assign(node.outputs.size(), Datum(Tainted{}));
    return true;
  }
  const Scalar decided = truth(m, *condition);
  if (const auto known = decided.integer()) {
    outputs = m.run_block(*known != 0 ? then_block : else_block, frame);
    return true;
  }
  if (always_raises(then_block) != always_raises(else_block)) {
    m.warn(fmt::format("the check at {} depends on data and is left out of the model", m.here()));
    outputs = m.run_block(always_raises(then_block) ? else_block : then_block, frame);
    return true;
  }
  const auto* computed = std::get_if<Scalar::Computed>(&decided.data());
  return dynamic_if(m, m.number_value(decided), computed ? computed->when_filled : std::nullopt, node, frame,
                    outputs);
}

constexpr BuiltinEntry kTable[] = {{"prim::If", run_if}};

}  // namespace

std::span<const BuiltinEntry> branch_builtins() { return kTable; }

}  // namespace pt2onnx
