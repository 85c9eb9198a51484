// Operators on Python numbers, when one of them is symbolic. Fully known ones are folded like any other operator.
#include <algorithm>
#include <array>

#include "interpreter/machine.h"
#include "interpreter/scalar_math.h"

namespace pt2onnx {
namespace {

std::string_view short_name(const std::string& op) { return std::string_view(op).substr(op.rfind(':') + 1); }

bool scalar_op(Machine& m, const program::Node& node, Frame&, std::vector<Datum>& inputs,
               std::vector<Datum>& outputs) {
  std::vector<Scalar> args;
  bool symbolic = false;
  for (const Datum& input : inputs) {
    const auto* scalar = input.get_if<Scalar>();
    if (!scalar) return false;
    symbolic |= !scalar->is_known();
    args.push_back(*scalar);
  }
  if (!symbolic) return false;
  auto result = symbolic_math(m, short_name(node.op->name), args);
  if (!result) {
    m.report(node.op->name, "is applied to a number that the graph computes, which pt2onnx cannot follow",
             {"give the sizes that it depends on as static dims"});
    outputs.emplace_back(Tainted{});
    return true;
  }
  outputs.emplace_back(std::move(*result));
  return true;
}

/// min(list) and max(list) too.
bool extreme(Machine& m, const program::Node& node, Frame& frame, std::vector<Datum>& inputs,
             std::vector<Datum>& outputs) {
  const auto* list = inputs.size() == 1 ? inputs[0].get_if<ListRef>() : nullptr;
  if (!list) return scalar_op(m, node, frame, inputs, outputs);
  std::optional<Scalar> best;
  for (const Datum& item : (*list)->items) {
    const auto* scalar = item.get_if<Scalar>();
    if (!scalar) return false;
    if (best) {
      const std::array pair{*best, *scalar};
      if (pair[0].is_known() && pair[1].is_known()) {
        const bool first = node.op->name == "prim::min" ? pair[0].number() <= pair[1].number()
                                                        : pair[0].number() >= pair[1].number();
        best = first ? pair[0] : pair[1];
        continue;
      }
      best = symbolic_math(m, short_name(node.op->name), pair);
      if (!best) return false;
    } else {
      best = *scalar;
    }
  }
  if (!best) return false;
  outputs.emplace_back(*best);
  return true;
}

/// sum(list), any(list) and all(list) of numbers, some of which the graph computes.
bool fold_list(Machine& m, const program::Node& node, Frame&, std::vector<Datum>& inputs,
               std::vector<Datum>& outputs) {
  const auto* list = inputs.size() == 1 ? inputs[0].get_if<ListRef>() : nullptr;
  if (!list) return false;
  const bool known = std::all_of((*list)->items.begin(), (*list)->items.end(), [](const Datum& item) {
    return !item.get_if<Scalar>() || item.get_if<Scalar>()->is_known();
  });
  if (known) return false;
  const bool sum = node.op->name == "aten::sum", any = node.op->name == "aten::any";
  const std::string_view step = sum ? "add" : any ? "__or__" : "__and__";
  Scalar result = sum ? Scalar(0) : Scalar(!any);
  for (const Datum& item : (*list)->items) {
    const auto* scalar = item.get_if<Scalar>();
    if (!scalar) return false;
    const auto next = symbolic_math(m, step, std::array{result, sum ? *scalar : truth(m, *scalar)});
    if (!next) return false;
    result = *next;
  }
  outputs.emplace_back(result);
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::Bool", scalar_op},
    {"aten::Float", scalar_op},
    {"aten::Int", scalar_op},
    {"aten::__and__", scalar_op},
    {"aten::__derive_index", scalar_op},
    {"aten::__not__", scalar_op},
    {"aten::__or__", scalar_op},
    {"aten::__range_length", scalar_op},
    {"aten::__xor__", scalar_op},
    {"aten::abs", scalar_op},
    {"aten::add", scalar_op},
    {"aten::all", fold_list},
    {"aten::any", fold_list},
    {"aten::ceil", scalar_op},
    {"aten::div", scalar_op},
    {"aten::eq", scalar_op},
    {"aten::exp", scalar_op},
    {"aten::floor", scalar_op},
    {"aten::floordiv", scalar_op},
    {"aten::ge", scalar_op},
    {"aten::gt", scalar_op},
    {"aten::le", scalar_op},
    {"aten::log", scalar_op},
    {"aten::lt", scalar_op},
    {"aten::mul", scalar_op},
    {"aten::ne", scalar_op},
    {"aten::neg", scalar_op},
    {"aten::pow", scalar_op},
    {"aten::remainder", scalar_op},
    {"aten::round", scalar_op},
    {"aten::sqrt", scalar_op},
    {"aten::sub", scalar_op},
    {"aten::sum", fold_list},
    {"aten::trunc", scalar_op},
    {"aten::truediv", scalar_op},
    {"prim::abs", scalar_op},
    {"prim::max", extreme},
    {"prim::min", extreme},
};

}  // namespace

std::span<const BuiltinEntry> scalar_builtins() { return kTable; }

}  // namespace pt2onnx
