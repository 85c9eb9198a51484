// prim::Loop. A loop whose trips are known is unrolled; any other becomes ONNX Loop. What an iteration changes, be it a
// variable or a state, is carried; the body is translated for what all iterations have in common, found by running it
// until one more round changes nothing (each round makes some type wider, so it ends). A list that every iteration only
// appends to, always the same number of items of the same type, is not carried: its items are scan outputs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "interpreter/cell.h"
#include "interpreter/dynamic_list.h"
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

/// A variable of the loop, or a state outside of it that its body changes.
struct Carried {
  Cell cell;
  std::shared_ptr<Growth> growth = nullptr;  // of a list that is only appended to
  std::size_t appended = 0;                  // items per iteration
  bool whole = false;                        // a list of which an iteration needs more than that

  bool passes() const { return !growth; }  // through the loop; the items of a growing list come out of it
};

struct CarriedState : Carried {
  StateRef state;
};

class DynamicLoop {
 public:
  DynamicLoop(Machine& m, const Block& body, Frame& frame, std::vector<Datum> carried)
      : m_(m), body_(body), frame_(frame), initial_(std::move(carried)) {
    for (const Datum& datum : initial_) variables_.push_back({fixed_cell(datum)});
  }

  /// `trips` and `condition` as ONNX Loop takes them; either may be absent. False where something in it is tainted.
  bool run(Value trips, Value condition, std::vector<Datum>& outputs) {
    std::shared_ptr<Graph> graph;
    while (!graph) {
      const auto checkpoint = m_.builder().checkpoint();
      const std::size_t journal = m_.journal().depth();
      const auto leave = [&] {
        m_.builder().unwind(checkpoint.depth);
        m_.journal().unwind(journal);
      };
      try {
        graph = round();
      } catch (const NeedsWholeList& need) {
        leave();
        if (!carry_whole(need)) throw;  // of a loop around this one
      } catch (...) {
        leave();
        taint_lists();
        throw;
      }
      if (tainted_) return false;
      if (!graph) m_.builder().rollback(checkpoint);
    }

    std::vector<Value> operands{trips, condition};
    for (std::size_t k = 0; k < variables_.size(); ++k)
      if (variables_[k].passes()) leaf_values(m_, variables_[k].cell, initial_[k], operands);
    for (const CarriedState& state : states_)
      if (state.passes()) leaf_values(m_, state.cell, content(state.state), operands);
    const std::size_t count = operands.size() - 2 + scanned_.size();
    if (count == 0) {
      for (const Carried& variable : variables_) outputs.push_back(variable.cell.fixed);
      return true;
    }
    if (count == scanned_.size() && m_.builder().opset() < 11) {
      Rejection rejection("a loop that carries nothing from one iteration to the next");
      rejection.first_opset = 11;
      throw rejection;
    }
    if (!operands[1] &&
        count == scanned_.size())  // the node wants at least one of its inputs that come behind
      operands[1] = m_.number_value(Scalar(true));
    const auto values =
        m_.builder().emit("", "Loop", count, std::move(operands), {{"body", std::move(graph)}});
    std::size_t next = 0, scan = count - scanned_.size();
    const Dim trip_count =
        scanned_.empty() ? Dim() : m_.builder().symbol_of_axis(values[scan], 0, "trips", 0);
    const auto after = [&](const Carried& carried, const Datum& before) -> Datum {
      if (carried.passes()) return instantiate(m_, carried.cell, values, next);
      std::vector<Value> items;
      for (std::size_t i = 0; i < carried.appended; ++i, ++scan) {
        Shape shape = scanned_[scan - (count - scanned_.size())];
        shape.insert(shape.begin(), trip_count);
        m_.builder().refine_shape(values[scan], shape);
        items.push_back(values[scan]);
      }
      return grown_list(m_, **before.get_if<ListRef>(), items);
    };
    for (std::size_t k = 0; k < variables_.size(); ++k) outputs.push_back(after(variables_[k], initial_[k]));
    for (const CarriedState& state : states_) {
      const Datum end = after(state, content(state.state));
      if (state.cell.kind != Cell::Kind::Fixed || !state.passes()) set_state(m_, state.state, end);
    }
    return true;
  }

 private:
  static Datum content(const StateRef& state) {
    return std::visit([&](const auto& pointer) { return state_content(Snapshot{state, *pointer}); }, state);
  }

  /// What the lists that the loop changes hold after it is not known where it has no translation.
  void taint_lists() {
    for (const CarriedState& state : states_)
      if (const auto* list = std::get_if<ListRef>(&state.state)) {
        m_.journal().touch(*list);
        (*list)->items.assign(1, Tainted{});
      }
  }

  /// Reads what is in the lists that the iteration changed. Gives those that hold a tensor to which the iteration writes:
  /// every later write would show in them as well.
  std::vector<ListRef> settle_lists() {
    std::vector<ListRef> showing;
    for (const StateRef& state : m_.journal().touched()) {
      const auto* list = std::get_if<ListRef>(&state);
      if (!list) continue;
      const auto is_written = [&](const Datum& item) {
        const auto* tensor = item.get_if<TensorRef>();
        return tensor && m_.journal().rewritten(*(*tensor)->storage);
      };
      if (std::any_of((*list)->items.begin(), (*list)->items.end(), is_written)) showing.push_back(*list);
      settle(m_, *list);
    }
    return showing;
  }

  /// Whether the list that an iteration looks into is one of this loop; then it is carried from now on.
  bool carry_whole(const NeedsWholeList& need) {
    const auto give_up = [&](Carried& carried) {
      if (carried.growth != need.growth) return false;
      carried.growth = nullptr;
      carried.whole = true;
      return true;
    };
    return std::any_of(variables_.begin(), variables_.end(), give_up) ||
           std::any_of(states_.begin(), states_.end(), give_up);
  }

  /// What a variable or a state holds when an iteration begins.
  Datum entry(const Carried& carried, const Datum& before, const Dim& iteration,
              const std::vector<Value>& parameters, std::size_t& next) {
    if (carried.passes()) return instantiate(m_, carried.cell, parameters, next);
    const ListState& list = **before.get_if<ListRef>();
    auto growing = make_list({}, list.element);
    carried.growth->length = static_cast<std::int64_t>(list.items.size()) +
                             iteration * Dim(static_cast<std::int64_t>(carried.appended));
    growing->dynamic = {DynamicItems::Form::Growing, {}, carried.growth};
    return growing;
  }

  /// Makes `carried` cover what an iteration leaves; whether that changed it.
  bool cover(Carried& carried, const Datum& before, const Datum& after) {
    const auto *old = before.get_if<ListRef>(), *now = after.get_if<ListRef>();
    if (carried.growth) {
      if (now && (*now)->dynamic && (*now)->dynamic->growth == carried.growth &&
          (*now)->items.size() == carried.appended)
        return false;
      carried.growth = nullptr;
      carried.whole = true;
      return true;
    }
    if (!carried.whole && carried.cell.kind == Cell::Kind::Fixed && old && now && grows(**old, **now)) {
      carried.growth = std::make_shared<Growth>();
      carried.appended = (*now)->items.size() - (*old)->items.size();
      return true;
    }
    return widen(m_, carried.cell, after);
  }

  /// Whether a list has got items that can be scan outputs behind those that it had.
  bool grows(const ListState& before, const ListState& after) {
    if (before.dynamic || after.dynamic || after.items.size() <= before.items.size()) return false;
    const auto same = [](const Datum& a, const Datum& b) {
      return same_tensor(a, b) || known_equal(a, b) == true;
    };
    if (!std::equal(before.items.begin(), before.items.end(), after.items.begin(), same)) return false;
    const std::vector<Datum> appended(after.items.begin() + static_cast<std::ptrdiff_t>(before.items.size()),
                                      after.items.end());
    return can_stack(m_, appended, before);
  }

  /// The items that this iteration appended, as scan outputs.
  void scan(const Carried& carried, const Datum& after, std::vector<Value>& values) {
    if (carried.passes()) return;
    for (const Datum& item : (*after.get_if<ListRef>())->items) {
      const Value value = item_value(m_, item);
      scanned_.push_back(*value.shape());
      values.push_back(value);
    }
  }

  /// The body once, for the present cells; null when that showed that the cells must be wider.
  std::shared_ptr<Graph> round() {
    Builder::NamedTypes inputs{{"iteration", ValueType{ValueType::Kind::Tensor, DType::Int64, Shape{}}},
                               {"keep_going", ValueType{ValueType::Kind::Tensor, DType::Bool, Shape{}}}};
    for (std::size_t k = 0; k < variables_.size(); ++k)
      if (variables_[k].passes()) leaf_types(variables_[k].cell, fmt::format("carried_{}", k), inputs);
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k].passes()) leaf_types(states_[k].cell, fmt::format("state_{}", k), inputs);

    const std::vector<Value> parameters = m_.builder().open("loop_body", inputs);
    m_.journal().open();
    std::size_t next = 2;
    const Dim iteration = m_.builder().symbol_of_value(parameters[0], "i", 0);
    set_register(frame_, body_.parameters[0], Scalar(iteration));
    for (std::size_t k = 0; k < variables_.size(); ++k)
      set_register(frame_, body_.parameters[k + 1],
                   entry(variables_[k], initial_[k], iteration, parameters, next));
    for (const CarriedState& state : states_) {
      const Datum begin = entry(state, content(state.state), iteration, parameters, next);
      if (state.cell.kind != Cell::Kind::Fixed || !state.passes()) set_state(m_, state.state, begin);
    }

    std::vector<Datum> results = m_.run_block(body_, frame_);
    for (std::size_t k = 0; k < results.size(); ++k)
      if (k == 0 || !same_tensor(results[k], variables_[k - 1].cell.fixed))
        results[k] = settle(m_, results[k]);
    const std::vector<ListRef> showing = settle_lists();
    const std::vector<Snapshot> finals = m_.journal().close();
    Builder::Scope scope = m_.builder().suspend();

    tainted_ = std::any_of(results.begin(), results.end(), any_tainted);
    if (tainted_) return nullptr;
    bool changed = false;
    for (std::size_t k = 0; k < variables_.size(); ++k)
      changed |= cover(variables_[k], initial_[k], results[k + 1]);
    std::vector<Datum> ends(states_.size());
    for (std::size_t k = 0; k < states_.size(); ++k) ends[k] = content(states_[k].state);
    for (const Snapshot& final : finals) {
      auto known = std::find_if(states_.begin(), states_.end(),
                                [&](const CarriedState& state) { return state.state == final.state; });
      if (known == states_.end()) {
        states_.push_back({{fixed_cell(content(final.state))}, final.state});
        ends.emplace_back();
        known = states_.end() - 1;
      }
      Datum& end = ends[static_cast<std::size_t>(known - states_.begin())];
      end = state_content(final);
      changed |= cover(*known, content(final.state), end);
      const auto* storage = std::get_if<Storage>(&final.content);
      const auto* list = std::get_if<ListRef>(&final.state);
      const bool alias = (storage && storage->listed) ||
                         (list && std::find(showing.begin(), showing.end(), *list) != showing.end());
      if (alias && (known->cell.kind != Cell::Kind::Fixed || !known->passes())) throw listed_and_written();
    }
    if (changed) return nullptr;

    m_.builder().resume(std::move(scope));
    m_.journal().open();  // what is read in here is not remembered outside
    const auto* go_on = results[0].get_if<Scalar>();
    if (!go_on) throw Rejection("a loop whose condition is not a number");
    std::vector<Value> values{m_.number_value(truth(m_, *go_on))};
    for (std::size_t k = 0; k < variables_.size(); ++k)
      if (variables_[k].passes()) leaf_values(m_, variables_[k].cell, results[k + 1], values);
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k].passes()) leaf_values(m_, states_[k].cell, ends[k], values);
    scanned_.clear();
    for (std::size_t k = 0; k < variables_.size(); ++k) scan(variables_[k], results[k + 1], values);
    for (std::size_t k = 0; k < states_.size(); ++k) scan(states_[k], ends[k], values);
    m_.journal().close();
    return m_.builder().close(values);
  }

  Machine& m_;
  const Block& body_;
  Frame& frame_;
  std::vector<Datum> initial_;
  std::vector<Carried> variables_;
  std::vector<CarriedState> states_;
  std::vector<Shape> scanned_;  // of the items that become scan outputs
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
