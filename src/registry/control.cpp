// If, Loop and Scan for symbolic functions.
#include <fmt/format.h>

#include "registry/builder.h"

namespace pt2onnx {
namespace {

/// What is true of both types; a size that differs becomes a fresh symbol, a rank that differs an unknown rank.
ValueType common_type(Builder& builder, const ValueType& a, const ValueType& b) {
  ValueType common = a;
  if (a.kind != b.kind || a.dtype != b.dtype)
    throw Rejection("a value that a loop carries changes its element type from one iteration to the next");
  if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) {
    common.shape.reset();
    return common;
  }
  for (std::size_t i = 0; i < a.shape->size(); ++i)
    if (!((*a.shape)[i] == (*b.shape)[i])) (*common.shape)[i] = builder.fresh_dim("carried");
  return common;
}

bool same_shape(const ValueType& a, const ValueType& b) {
  if (!a.shape || !b.shape) return !a.shape;  // an unknown rank takes anything
  return *a.shape == *b.shape;
}

}  // namespace

std::vector<Value> Call::loop(Value trip_count, Value condition, std::vector<Value> carried,
                              std::size_t scans, const BodyFn& body) {
  std::vector<ValueType> types;
  for (const Value& v : carried) types.push_back(v.type());

  // The body is translated for the types at its entry; where an iteration ends with other sizes, again for what both
  // have in common. Each round makes some size unknown, so this ends.
  for (;;) {
    const auto checkpoint = builder_.checkpoint();
    Builder::NamedTypes inputs{{"iteration", ValueType{ValueType::Kind::Tensor, DType::Int64, Shape{}}},
                               {"condition_in", ValueType{ValueType::Kind::Tensor, DType::Bool, Shape{}}}};
    for (std::size_t i = 0; i < types.size(); ++i)
      inputs.emplace_back(fmt::format("carried_{}", i), types[i]);
    auto graph = builder_.subgraph("loop_body", inputs, body);

    bool settled = true;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const ValueType& end = graph->outputs[i + 1].type();
      if (end.dtype == types[i].dtype && same_shape(types[i], end)) continue;
      types[i] = common_type(builder_, types[i], end);
      settled = false;
    }
    if (!settled) {
      builder_.rollback(checkpoint);
      continue;
    }
    std::vector<Value> operands{trip_count, condition};
    operands.insert(operands.end(), carried.begin(), carried.end());
    return builder_.emit("", "Loop", carried.size() + scans, std::move(operands),
                         {{"body", std::move(graph)}});
  }
}

std::vector<Value> Call::branch(Value condition, const std::function<std::vector<Value>()>& then_branch,
                                const std::function<std::vector<Value>()>& else_branch) {
  auto taken = builder_.subgraph("then", {}, [&](const std::vector<Value>&) { return then_branch(); });
  auto other = builder_.subgraph("else", {}, [&](const std::vector<Value>&) { return else_branch(); });
  const std::size_t outputs = taken->outputs.size();
  return builder_.emit("", "If", outputs, {condition},
                       {{"then_branch", std::move(taken)}, {"else_branch", std::move(other)}});
}

std::vector<Value> Call::scan(std::vector<Value> states, std::vector<Value> scanned, std::size_t scan_outputs,
                              const BodyFn& body) {
  Builder::NamedTypes inputs;
  for (std::size_t i = 0; i < states.size(); ++i)
    inputs.emplace_back(fmt::format("state_{}", i), states[i].type());
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    ValueType slice = scanned[i].type();
    if (slice.shape) slice.shape->erase(slice.shape->begin());
    inputs.emplace_back(fmt::format("slice_{}", i), std::move(slice));
  }
  auto graph = builder_.subgraph("scan_body", inputs, body);
  const std::size_t outputs = states.size() + scan_outputs;
  const std::size_t count = scanned.size();
  std::vector<Value> operands = std::move(states);
  operands.insert(operands.end(), scanned.begin(), scanned.end());
  return builder_.emit("", "Scan", outputs, std::move(operands),
                       {{"body", std::move(graph)}, {"num_scan_inputs", count}});
}

}  // namespace pt2onnx
