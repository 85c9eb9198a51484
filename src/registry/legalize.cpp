#include "registry/legalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "pt2onnx/call.h"
#include "registry/runtime_types.h"

namespace pt2onnx {
namespace {

/// Types that can stand in for `dtype`, best first: the nearest that holds every value, then wider ones, at last float
/// types of less precision (a double model on an operator that only has floats).
std::span<const DType> stand_ins(DType dtype) {
  using enum DType;
  static constexpr DType kBool[] = {UInt8, Int32, Int64, Float32};
  static constexpr DType kSmall[] = {Int32, Int64, Float32, Float64};
  static constexpr DType kInt32[] = {Int64, Float64, Float32};
  static constexpr DType kInt64[] = {Float64, Float32};
  static constexpr DType kHalf[] = {Float32, Float64};
  static constexpr DType kDouble[] = {Float32};
  static constexpr DType kUInt32[] = {Int64, UInt64, Float64};
  switch (dtype) {
    case Bool: return kBool;
    case Int8:
    case UInt8:
    case Int16:
    case UInt16: return kSmall;
    case Int32: return kInt32;
    case UInt32: return kUInt32;
    case Int64:
    case UInt64: return kInt64;
    case Float16:
    case BFloat16:
    case Float8E4M3FN:
    case Float8E5M2: return kHalf;
    case Float64: return kDouble;
    default: return {};
  }
}

bool takes(const OpSignature& op, const OpParameter& parameter, DType dtype) {
  if (parameter.dtypes.empty()) return true;
  return std::find(parameter.dtypes.begin(), parameter.dtypes.end(), dtype) != parameter.dtypes.end() &&
         runtime_takes(op.name, op.since, parameter.type_variable, dtype);
}

/// The formal parameter of an actual input or output; a variadic last one repeats.
const OpParameter* parameter_at(const std::vector<OpParameter>& parameters, std::size_t i) {
  if (i < parameters.size()) return &parameters[i];
  if (!parameters.empty() && parameters.back().variadic) return &parameters.back();
  return nullptr;
}

}  // namespace

Legalized legalize(const OpSignature& op, std::vector<Value> inputs, std::size_t outputs,
                   const std::function<Value(Value, DType)>& cast) {
  struct Group {
    DType from;
    std::optional<DType> to;
  };
  std::map<std::string, Group> groups;  // by type variable
  Legalized result;
  result.restore.resize(outputs);

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OpParameter* parameter = parameter_at(op.inputs, i);
    if (!parameter || !inputs[i] || inputs[i].type().kind != ValueType::Kind::Tensor || !inputs[i].dtype())
      continue;
    const DType dtype = *inputs[i].dtype();
    if (takes(op, *parameter, dtype)) {
      if (!parameter->type_variable.empty())
        groups.try_emplace(parameter->type_variable, Group{dtype, std::nullopt});
      continue;
    }
    const auto candidates = stand_ins(dtype);
    const auto to = std::find_if(candidates.begin(), candidates.end(),
                                 [&](DType candidate) { return takes(op, *parameter, candidate); });
    if (to == candidates.end())
      throw Rejection(fmt::format("ONNX `{}` (since opset {}) does not take {} for `{}`", op.name, op.since,
                                  to_string(dtype), parameter->name));
    if (parameter->type_variable.empty())
      inputs[i] = cast(inputs[i], *to);
    else
      groups.insert_or_assign(parameter->type_variable, Group{dtype, *to});
  }

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const OpParameter* parameter = parameter_at(op.inputs, i);
    if (!parameter || !inputs[i] || inputs[i].type().kind != ValueType::Kind::Tensor) continue;
    if (const auto group = groups.find(parameter->type_variable); group != groups.end() && group->second.to)
      inputs[i] = cast(inputs[i], *group->second.to);
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    const OpParameter* parameter = parameter_at(op.outputs, i);
    if (!parameter) continue;
    if (const auto group = groups.find(parameter->type_variable); group != groups.end() && group->second.to)
      result.restore[i] = group->second.from;
  }
  result.inputs = std::move(inputs);
  return result;
}

}  // namespace pt2onnx
