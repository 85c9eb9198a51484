// Logic, bits and choice.
#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

Value truth(Call& c, std::string_view argument) { return as(c, operand(c, argument), DType::Bool); }

// aten::logical_and(Tensor self, Tensor other) -> Tensor
Results logical_and(Call& c) { return onnx::logical_and(c, truth(c, "self"), truth(c, "other")); }
Results logical_or(Call& c) { return onnx::logical_or(c, truth(c, "self"), truth(c, "other")); }
Results logical_xor(Call& c) { return c.op("Xor", {truth(c, "self"), truth(c, "other")}); }
Results logical_not(Call& c) { return onnx::logical_not(c, truth(c, "self")); }

/// Bool operands have a logical operator, integers one on bits from 18 on.
template <onnx::Name OnBool, onnx::Name OnBits>
Results bitwise(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  if (c.dtype_of(a) == DType::Bool) return c.op(OnBool.text, {a, b});
  if (!c.has_opset(18))
    c.needs_opset(18, std::string("`") + OnBits.text + "` on integers exists from opset 18 on");
  return c.op(OnBits.text, {a, b});
}

// aten::bitwise_not(Tensor self) -> Tensor
Results bitwise_not(Call& c) {
  const Value x = c.tensor("self");
  if (c.dtype_of(x) == DType::Bool) return onnx::logical_not(c, x);
  if (c.has_opset(18)) return c.op("BitwiseNot", {x});
  if (is_unsigned(c.dtype_of(x))) c.needs_opset(18, "`BitwiseNot` exists from opset 18 on");
  return onnx::sub(c, onnx::constant_like(c, -1, x), x);  // two's complement
}

/// {self, 2^other} as integers.
std::pair<Value, Value> shift_operands(Call& c) {
  const auto [a, places] = promoted(c, "self", "other");
  if (!is_integral(c.dtype_of(a))) c.reject("shifts a tensor that holds no integers");
  if (const auto known = onnx::constant_number(places); known && c.rank(places) == 0) {
    // One more place than the number has bits.
    const auto bits = static_cast<double>(8 * size_of(c.dtype_of(a)) - (is_unsigned(c.dtype_of(a)) ? 0 : 1));
    if (*known < 0 || *known >= bits) c.reject("shifts by more places than the integers have bits");
    return {a, c.constant(Tensor::scalar(std::int64_t{1} << static_cast<int>(*known), c.dtype_of(a)))};
  }
  return {a, onnx::pow(c, onnx::constant_like(c, 2, a), places)};
}

// aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor
// BitShift takes unsigned integers only, torch mostly has signed ones.
Results left_shift(Call& c) {
  const auto [a, factor] = shift_operands(c);
  return onnx::mul(c, a, factor);
}

// aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor: rounds towards minus infinity
Results right_shift(Call& c) {
  const auto [a, factor] = shift_operands(c);
  const Value quotient = onnx::div(c, a, factor);
  if (is_unsigned(c.dtype_of(a))) return quotient;
  const Value rest = onnx::sub(c, a, onnx::mul(c, quotient, factor));
  const Value below = onnx::less(c, rest, onnx::constant_like(c, 0, a));
  return onnx::sub(c, quotient, onnx::cast(c, below, c.dtype_of(a)));
}

// aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
// aten::where.ScalarSelf, .ScalarOther, .Scalar: numbers instead of tensors
Results where(Call& c) {
  const auto [a, b] = promoted(c, "self", "other");
  return onnx::where(c, c.tensor("condition"), a, b);
}

// aten::where(Tensor condition) -> Tensor[]: the places of what is true, one tensor per dim
Results where_true(Call& c) {
  Value x = c.tensor("condition");
  if (c.rank(x) == 0) x = onnx::reshape(c, x, {1});
  const Value places = c.op("NonZero", {onnx::cast(c, x, DType::Bool)});
  std::vector<Value> per_dim;
  for (std::size_t i = 0; i < c.rank(x); ++i)
    per_dim.push_back(onnx::select(c, places, 0, static_cast<std::int64_t>(i)));
  return Results::list(per_dim);
}

// aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor
// aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor
Results masked_fill(Call& c) {
  const Value x = c.tensor("self");
  return onnx::where(c, c.tensor("mask"), as(c, operand(c, "value"), c.dtype_of(x)), x);
}

constexpr Entry kTable[] = {
    {"aten::__and__", 7, bitwise<"And", "BitwiseAnd">},
    {"aten::__iand__", 7, bitwise<"And", "BitwiseAnd">},
    {"aten::__ilshift__", 9, left_shift},
    {"aten::__ior__", 7, bitwise<"Or", "BitwiseOr">},
    {"aten::__irshift__", 9, right_shift},
    {"aten::__ixor__", 7, bitwise<"Xor", "BitwiseXor">},
    {"aten::__lshift__", 9, left_shift},
    {"aten::__or__", 7, bitwise<"Or", "BitwiseOr">},
    {"aten::__rshift__", 9, right_shift},
    {"aten::__xor__", 7, bitwise<"Xor", "BitwiseXor">},
    {"aten::bitwise_and", 7, bitwise<"And", "BitwiseAnd">},
    {"aten::bitwise_left_shift", 9, left_shift},
    {"aten::bitwise_not", 7, bitwise_not},
    {"aten::bitwise_or", 7, bitwise<"Or", "BitwiseOr">},
    {"aten::bitwise_right_shift", 9, right_shift},
    {"aten::bitwise_xor", 7, bitwise<"Xor", "BitwiseXor">},
    {"aten::logical_and", 7, logical_and, by_truth},
    {"aten::logical_not", 7, logical_not, by_truth},
    {"aten::logical_or", 7, logical_or, by_truth},
    {"aten::logical_xor", 7, logical_xor, by_truth},
    {"aten::masked_fill", 9, masked_fill, by_parts},
    {"aten::where", 9, where_true, by_parts},
    {"aten::where.Scalar", 9, where, by_parts},
    {"aten::where.ScalarOther", 9, where, by_parts},
    {"aten::where.ScalarSelf", 9, where, by_parts},
    {"aten::where.self", 9, where, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> logic_table() { return kTable; }

}  // namespace pt2onnx
