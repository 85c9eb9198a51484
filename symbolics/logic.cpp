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

struct Shift {
  Value number;
  Value factor;   // 2^places; 1 where `outside`
  Value outside;  // by fewer than 0 places, or by at least `limit`; absent: nowhere
};

/// BitShift takes unsigned integers only (below 28), torch mostly has signed ones: a product with a power of two.
Shift shift_operands(Call& c, std::int64_t limit) {
  const auto [a, places] = promoted(c, "self", "other");
  if (!is_integral(c.dtype_of(a))) c.reject("shifts a tensor that holds no integers");
  const auto power = [&, dtype = c.dtype_of(a)](std::int64_t n) {
    return c.cast(c.constant({static_cast<std::int64_t>(std::uint64_t{1} << n)}), dtype);
  };
  const auto known = onnx::constant_number(places);
  if (known && c.rank(places) == 0 && *known >= 0 && *known < static_cast<double>(limit))
    return {a, onnx::reshape(c, power(static_cast<std::int64_t>(*known)), {}), {}};
  std::vector<Value> powers;
  for (std::int64_t n = 0; n < limit; ++n) powers.push_back(power(n));
  const Value index = onnx::cast(c, places, DType::Int64);
  const Value zero = c.constant(0, DType::Int64);
  const Value outside =
      onnx::logical_or(c, onnx::less(c, index, zero),
                       onnx::greater(c, index, c.constant(static_cast<double>(limit - 1), DType::Int64)));
  return {a, onnx::gather(c, onnx::concat(c, powers, 0), onnx::where(c, outside, zero, index), 0), outside};
}

std::int64_t bits_of(Call& c) {
  return static_cast<std::int64_t>(8 * size_of(result_type(c, {operand(c, "self"), operand(c, "other")})));
}

// aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor: by all bits or more, 0
Results left_shift(Call& c) {
  const Shift s = shift_operands(c, bits_of(c));
  const Value shifted = onnx::mul(c, s.number, s.factor);
  return s.outside ? onnx::where(c, s.outside, onnx::constant_like(c, 0, shifted), shifted) : shifted;
}

// aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor: rounds towards minus infinity
Results right_shift(Call& c) {
  const bool is_signed = !is_unsigned(result_type(c, {operand(c, "self"), operand(c, "other")}));
  const Shift s = shift_operands(c, bits_of(c) - (is_signed ? 1 : 0));
  const DType dtype = c.dtype_of(s.number);
  const Value zero = onnx::constant_like(c, 0, s.number);
  Value quotient = onnx::div(c, s.number, s.factor);
  if (is_signed) {
    const Value rest = onnx::sub(c, s.number, onnx::mul(c, quotient, s.factor));
    quotient = onnx::sub(c, quotient, onnx::cast(c, onnx::less(c, rest, zero), dtype));
  }
  if (!s.outside) return quotient;
  // Nothing but copies of the sign is left.
  const Value sign = is_signed ? onnx::neg(c, onnx::cast(c, onnx::less(c, s.number, zero), dtype)) : zero;
  return onnx::where(c, s.outside, sign, quotient);
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
