// prim::Loop. A loop whose trips are known is unrolled; any other becomes ONNX Loop. What an iteration changes, be it a
// variable or a state, is carried; the body is translated for what all iterations have in common, found by running it
// until one more round changes nothing (each round makes some type wider, so it ends).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "interpreter/cell.h"
#include "interpreter/scalar_math.h"

namespace pt2onnx {
namespace {

using program::Block;
using program::Node;

void set_register(Frame& frame, program::ValueId id, Datum datum) {
  frame.registers[static_cast<std::size_t>(id)] = std::move(datum);
}

struct Unrolled {
  bool complete = false;
  std::vector<Datum> carried;
};

/// Runs the iterations as long as the condition is known.
Unrolled unroll(Machine& m, const Block& body, Frame& frame, std::int64_t limit, Datum condition,
                std::vector<Datum> carried) {
  for (std::int64_t i = 0; i < limit; ++i) {
    const auto* scalar = condition.get_if<Scalar>();
    const auto go_on = scalar ? truth(m, *scalar).integer() : std::nullopt;
    if (!go_on || i >= m.options().unroll_limit) return {};
    if (*go_on == 0) break;
    set_register(frame, body.parameters[0], Scalar(i));
    for (std::size_t k = 0; k < carried.size(); ++k) set_register(frame, body.parameters[k + 1], carried[k]);
    auto results = m.run_block(body, frame);
    condition = std::move(results[0]);
    carried.assign(std::make_move_iterator(results.begin() + 1), std::make_move_iterator(results.end()));
  }
  return {true, std::move(carried)};
}

/// A state outside of the loop that its body changes.
struct CarriedState {
  StateRef state;
  Cell cell;
};

class DynamicLoop {
 public:
  DynamicLoop(Machine& m, const Block& body, Frame& frame, std::vector<Datum> carried)
      : m_(m), body_(body), frame_(frame), initial_(std::move(carried)) {
    for (const Datum& datum : initial_) cells_.push_back(fixed_cell(datum));
  }

  /// `trips` and `condition` as ONNX Loop takes them; either may be absent. False where something in it is tainted.
  bool run(Value trips, Value condition, std::vector<Datum>& outputs) {
    std::shared_ptr<Graph> graph;
    while (!graph) {
      const auto checkpoint = m_.builder().checkpoint();
      const std::size_t journal = m_.journal().depth();
      try {
        graph = round();
      } catch (...) {
        m_.builder().unwind(checkpoint.depth);
        m_.journal().unwind(journal);
        throw;
      }
      if (tainted_) return false;
      if (!graph) m_.builder().rollback(checkpoint);
    }

    std::vector<Value> operands{trips, condition};
    for (std::size_t k = 0; k < cells_.size(); ++k) leaf_values(m_, cells_[k], initial_[k], operands);
    for (const CarriedState& state : states_) leaf_values(m_, state.cell, content(state.state), operands);
    const std::size_t count = operands.size() - 2;
    if (count == 0) {
      for (const Cell& cell : cells_) outputs.push_back(cell.fixed);
      return true;
    }
    const auto values =
        m_.builder().emit("", "Loop", count, std::move(operands), {{"body", std::move(graph)}});
    std::size_t next = 0;
    for (const Cell& cell : cells_) outputs.push_back(instantiate(m_, cell, values, next));
    for (const CarriedState& state : states_) {
      const Datum after = instantiate(m_, state.cell, values, next);
      if (state.cell.kind != Cell::Kind::Fixed) set_state(m_, state.state, after);
    }
    return true;
  }

 private:
  static Datum content(const StateRef& state) {
    return std::visit([&](const auto& pointer) { return state_content(Snapshot{state, *pointer}); }, state);
  }

  /// The body once, for the present cells; null when that showed that the cells must be wider.
  std::shared_ptr<Graph> round() {
    Builder::NamedTypes inputs{{"iteration", ValueType{ValueType::Kind::Tensor, DType::Int64, Shape{}}},
                               {"keep_going", ValueType{ValueType::Kind::Tensor, DType::Bool, Shape{}}}};
    for (std::size_t k = 0; k < cells_.size(); ++k)
      leaf_types(cells_[k], fmt::format("carried_{}", k), inputs);
    for (std::size_t k = 0; k < states_.size(); ++k)
      leaf_types(states_[k].cell, fmt::format("state_{}", k), inputs);

    const std::vector<Value> parameters = m_.builder().open("loop_body", inputs);
    m_.journal().open();
    std::size_t next = 2;
    set_register(frame_, body_.parameters[0], Scalar(m_.builder().symbol_of_value(parameters[0], "i", 0)));
    for (std::size_t k = 0; k < cells_.size(); ++k)
      set_register(frame_, body_.parameters[k + 1], instantiate(m_, cells_[k], parameters, next));
    for (const CarriedState& state : states_) {
      const Datum entry = instantiate(m_, state.cell, parameters, next);
      if (state.cell.kind != Cell::Kind::Fixed) set_state(m_, state.state, entry);
    }

    std::vector<Datum> results;
    for (const Datum& result : m_.run_block(body_, frame_)) results.push_back(settle(m_, result));
    const std::vector<Snapshot> finals = m_.journal().close();
    Builder::Scope scope = m_.builder().suspend();

    tainted_ = std::any_of(results.begin(), results.end(), any_tainted);
    if (tainted_) return nullptr;
    bool changed = false;
    for (std::size_t k = 0; k < cells_.size(); ++k) changed |= widen(m_, cells_[k], results[k + 1]);
    std::vector<Datum> ends(states_.size());
    for (std::size_t k = 0; k < states_.size(); ++k) ends[k] = content(states_[k].state);
    for (const Snapshot& final : finals) {
      const auto known = std::find_if(states_.begin(), states_.end(),
                                      [&](const CarriedState& state) { return state.state == final.state; });
      if (known == states_.end()) {
        states_.push_back({final.state, fixed_cell(content(final.state))});
        changed |= widen(m_, states_.back().cell, state_content(final));
        ends.push_back(state_content(final));
      } else {
        changed |= widen(m_, known->cell, state_content(final));
        ends[static_cast<std::size_t>(known - states_.begin())] = state_content(final);
      }
    }
    if (changed) return nullptr;

    m_.builder().resume(std::move(scope));
    m_.journal().open();  // what is read in here is not remembered outside
    const auto* go_on = results[0].get_if<Scalar>();
    if (!go_on) throw Rejection("a loop whose condition is not a number");
    std::vector<Value> values{m_.number_value(truth(m_, *go_on))};
    for (std::size_t k = 0; k < cells_.size(); ++k) leaf_values(m_, cells_[k], results[k + 1], values);
    for (std::size_t k = 0; k < states_.size(); ++k) leaf_values(m_, states_[k].cell, ends[k], values);
    m_.journal().close();
    return m_.builder().close(values);
  }

  Machine& m_;
  const Block& body_;
  Frame& frame_;
  std::vector<Datum> initial_;
  std::vector<Cell> cells_;
  std::vector<CarriedState> states_;
  bool tainted_ = false;
};

bool run_loop(Machine& m, const Node& node, Frame& frame, std::vector<Datum>& inputs,
              std::vector<Datum>& outputs) {
  const Block& body = node.blocks[0];
  const std::vector<Datum> carried(inputs.begin() + 2, inputs.end());
  const auto* trips = inputs[0].get_if<Scalar>();
  const auto* condition = inputs[1].get_if<Scalar>();
  if (!trips || !condition) {
    outputs.assign(node.outputs.size(), Datum(Tainted{}));
    return true;
  }
  const Scalar first = truth(m, *condition);
  if (first.integer() == 0) {
    outputs = carried;
    return true;
  }

  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  const auto limit = trips->integer();
  if (limit && first.integer()) {
    // Unrolling is tried and taken back where an iteration turns out to depend on the data.
    const auto checkpoint = m.builder().checkpoint();
    m.journal().open();
    auto unrolled = unroll(m, body, frame, *limit, *condition, carried);
    const auto finals = m.journal().close();
    if (unrolled.complete) {
      for (const Snapshot& final : finals) {
        m.journal().touch(final.state);
        assign(final.state, final);
      }
      outputs = std::move(unrolled.carried);
      return true;
    }
    m.builder().rollback(checkpoint);
  }
  const Value trip_value = limit && *limit >= kForever - 1 ? Value() : m.number_value(*trips);
  const Value condition_value = first.integer() ? Value() : m.number_value(first);
  if (!DynamicLoop(m, body, frame, carried).run(trip_value, condition_value, outputs))
    outputs.assign(node.outputs.size(), Datum(Tainted{}));
  return true;
}

constexpr BuiltinEntry kTable[] = {{"prim::Loop", run_loop}};

}  // namespace

std::span<const BuiltinEntry> loop_builtins() { return kTable; }

}  // namespace pt2onnx
