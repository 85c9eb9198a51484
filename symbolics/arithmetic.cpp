// Arithmetic of two or three operands.
#include <cmath>
#include <numbers>

#include "symbolics/blocks.h"
#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using onnx::constant_like;

bool is_float(Call& c, Value x) { return is_floating(c.dtype_of(x)); }
Value zero_like(Call& c, Value x) { return constant_like(c, 0, x); }

bool is_power_of_two(double v) {
  int exponent = 0;
  return std::isfinite(v) && v != 0 && std::abs(std::frexp(v, &exponent)) == 0.5;
}

// ---- sums and products ---------------------------------------------------------------------------------------------

/// `first + alpha * second`, or minus.
Value sum(Call& c, const Operand& first, const Operand& second, bool subtract) {
  const DType dtype = result_type(c, {first, second});
  const Value a = as(c, first, dtype);
  Value b = as(c, second, dtype);
  if (c.has("alpha"))
    if (const Scalar alpha = c.scalar("alpha"); !alpha.equals(1))
      b = onnx::mul(c, b, c.scalar_value(alpha, dtype));
  if (!subtract) return onnx::add(c, a, b);
  if (dtype == DType::Bool) c.reject("subtracts bool tensors, which torch refuses too");
  return onnx::sub(c, a, b);
}

// aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
// aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
Results add(Call& c) { return sum(c, operand(c, "self"), operand(c, "other"), false); }
Results sub(Call& c) { return sum(c, operand(c, "self"), operand(c, "other"), true); }
Results rsub(Call& c) { return sum(c, operand(c, "other"), operand(c, "self"), true); }

// ---- division ------------------------------------------------------------------------------------------------------

/// The remainder with the sign of the dividend.
Value fmod_of(Call& c, Value a, Value b) {
  if (c.has_opset(10)) return c.op("Mod", {a, b}, {{"fmod", 1}});
  return onnx::sub(c, a, onnx::mul(c, onnx::trunc(c, onnx::div(c, a, b)), b));
}

/// Whether a remainder is not 0 and has another sign than the divisor.
Value on_other_side(Call& c, Value remainder, Value divisor) {
  const Value zero = zero_like(c, remainder);
  if (const auto number = onnx::constant_number(divisor))
    return *number > 0 ? onnx::less(c, remainder, zero) : onnx::greater(c, remainder, zero);
  return onnx::less(c, onnx::mul(c, onnx::sign(c, remainder), onnx::sign(c, divisor)), zero);
}

/// The remainder with the sign of the divisor, as Python's %.
Value remainder_of(Call& c, Value a, Value b) {
  if (c.dtype_of(a) == DType::Bool) c.reject("takes the remainder of bool tensors, which torch refuses too");
  if (!is_float(c, a) && c.has_opset(10)) return c.op("Mod", {a, b});
  const Value rest = fmod_of(c, a, b);
  return onnx::where(c, on_other_side(c, rest, b), onnx::add(c, rest, b), rest);
}

/// Rounds towards minus infinity, as Python's //.
Value floor_quotient(Call& c, Value a, Value b) {
  if (!is_float(c, a)) {
    if (is_unsigned(c.dtype_of(a))) return onnx::div(c, a, b);
    return onnx::div(c, onnx::sub(c, a, remainder_of(c, a, b)), b);  // divides without rest
  }
  const auto divisor = onnx::constant_number(b);
  const Value quotient = onnx::div(c, a, b);
  if (!c.has_opset(10) || (divisor && is_power_of_two(*divisor))) return onnx::floor(c, quotient);
  // 1 // 0.1 is 9, though 1 / 0.1 rounds to 10: what is left after taking the rest away divides evenly.
  const Value even = onnx::div(c, onnx::sub(c, a, remainder_of(c, a, b)), b);
  const Value exact = onnx::round(c, even);
  if (divisor && *divisor != 0) return exact;
  return onnx::where(c, onnx::equal(c, b, zero_like(c, b)), quotient, exact);
}

Value true_quotient(Call& c, std::string_view first, std::string_view second) {
  const Operand a = operand(c, first), b = operand(c, second);
  const DType dtype = float_result_type(c, {a, b});
  return onnx::div(c, as(c, a, dtype), as(c, b, dtype));
}

// aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor
Results div(Call& c) {
  const auto mode = c.has("rounding_mode") ? c.optional_text("rounding_mode") : std::nullopt;
  if (!mode) return true_quotient(c, "self", "other");
  const auto [a, b] = promoted(c, "self", "other");
  if (*mode == "floor") return floor_quotient(c, a, b);
  return onnx::trunc(c, onnx::div(c, a, b));
}

// ---- powers --------------------------------------------------------------------------------------------------------

// Integers by repeated squaring: ONNX Runtime's Pow computes them as doubles, torch in their own ring.

Value integer_power(Call& c, Value base, std::int64_t exponent) {
  Value result;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result ? onnx::mul(c, result, base) : base;
    if (exponent > 1) base = onnx::mul(c, base, base);
  }
  return result ? result : onnx::full_like(c, base, 1);
}

Value integer_power_of_tensor(Call& c, Value base, Value exponent) {
  const DType dtype = c.dtype_of(base);
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(base), c.sizes_of(exponent));
  const Value one = c.constant(1, dtype), two = c.constant(2, dtype), zero = c.constant(0, dtype);
  const auto odd = [&](Value n) { return onnx::not_equal(c, n, onnx::mul(c, onnx::div(c, n, two), two)); };
  const auto more = [&](Value n) {
    return onnx::reduce(c, "ReduceMax", onnx::cast(c, onnx::flatten_all(c, n), DType::Float32), {0}, false);
  };
  // A negative power is 0, but for the bases 1 and -1, whose sign only asks whether the exponent is odd.
  const Value left = is_unsigned(dtype) ? exponent : onnx::maximum(c, exponent, zero);
  const Value some = onnx::full(c, shape, 1, dtype);
  const auto end = c.loop(
      {}, c.constant(1, DType::Bool), {some, onnx::expand(c, base, shape), onnx::expand(c, left, shape)}, 0,
      [&](std::vector<Value> in) {
        const Value result = onnx::where(c, odd(in[4]), onnx::mul(c, in[2], in[3]), in[2]);
        const Value rest = onnx::div(c, in[4], two);
        const Value go_on = onnx::greater(c, more(rest), c.constant(0, DType::Float32));
        return std::vector<Value>{go_on, result, onnx::mul(c, in[3], in[3]), rest};
      });
  c.set_shape(end[0], shape);
  if (is_unsigned(dtype)) return end[0];
  const Value unit = onnx::equal(c, onnx::mul(c, base, base), one);
  const Value inverse = onnx::where(c, unit, onnx::where(c, odd(exponent), base, one), zero);
  return onnx::where(c, onnx::less(c, exponent, zero), inverse, end[0]);
}

// aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
// aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor
// aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor
Results pow(Call& c) {
  const auto [base, exponent] = promoted(c, "self", "exponent");
  const auto number = onnx::constant_number(exponent);
  if (is_integral(c.dtype_of(base))) {
    if (!number || c.rank(exponent) != 0) return integer_power_of_tensor(c, base, exponent);
    if (*number >= 0) return integer_power(c, base, static_cast<std::int64_t>(*number));
    if (c.schema().overload == "Tensor_Scalar") c.reject("integers to a negative power, which torch refuses");
    return integer_power_of_tensor(c, base, exponent);
  }
  if (number && c.rank(exponent) == 0) {
    if (*number == 1) return base;
    if (is_float(c, base) && *number == 0.5) return onnx::sqrt(c, base);
    if (is_float(c, base) && *number == -1) return onnx::reciprocal(c, base);
    if (is_float(c, base) && *number == -0.5) return onnx::reciprocal(c, onnx::sqrt(c, base));
  }
  return onnx::pow(c, base, exponent);
}

// aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor
Results float_power(Call& c) {
  return onnx::pow(c, as(c, operand(c, "self"), DType::Float64),
                   as(c, operand(c, "exponent"), DType::Float64));
}

// aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor
Results ldexp(Call& c) {
  const Operand self = operand(c, "self"), other = operand(c, "other");
  const DType dtype = float_result_type(c, {self, other});
  const Value power = onnx::pow(c, c.constant(2, dtype), as(c, other, dtype));
  return onnx::mul(c, as(c, self, dtype), power);
}

// ---- extremes ------------------------------------------------------------------------------------------------------

/// A NaN gives way to the other operand.
template <Value (*Word)(Call&, Value, Value)>
Value without_nan(Call& c, Value a, Value b) {
  if (!is_float(c, a)) return Word(c, a, b);
  const Value chosen = onnx::where(c, onnx::is_nan(c, b), a, Word(c, a, b));
  return onnx::where(c, onnx::is_nan(c, a), b, chosen);
}

/// Clamps to the bounds that are there, in the common dtype of all.
Value clamped(Call& c, const std::optional<std::string_view> low,
              const std::optional<std::string_view> high) {
  const auto bound = [&](std::optional<std::string_view> name) -> std::optional<Operand> {
    if (!name || c.is_none(*name)) return std::nullopt;
    return operand(c, *name);
  };
  const auto least = bound(low), most = bound(high);
  std::vector<Operand> operands{c.tensor("self")};
  if (least) operands.push_back(*least);
  if (most) operands.push_back(*most);
  const DType dtype = result_type(c, operands);
  return onnx::clip(c, as(c, operands.front(), dtype), least ? as(c, *least, dtype) : Value(),
                    most ? as(c, *most, dtype) : Value());
}

// aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
Results clamp(Call& c) { return clamped(c, "min", "max"); }
Results clamp_min(Call& c) { return clamped(c, "min", {}); }
Results clamp_max(Call& c) { return clamped(c, {}, "max"); }

// ---- the rest ------------------------------------------------------------------------------------------------------

/// self + value * (tensor1 op tensor2)
template <Value (*Word)(Call&, Value, Value)>
Results accumulate(Call& c) {
  const Operand self = operand(c, "self"), first = operand(c, "tensor1"), second = operand(c, "tensor2");
  const DType dtype = result_type(c, {self, first, second});
  Value term = Word(c, as(c, first, dtype), as(c, second, dtype));
  if (const Scalar value = c.scalar("value"); !value.equals(1))
    term = onnx::mul(c, term, c.scalar_value(value, dtype));
  return onnx::add(c, as(c, self, dtype), term);
}

// aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
// aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor
Results lerp(Call& c) {
  const Value start = c.tensor("self"), end = c.tensor("end");
  const DType dtype = c.dtype_of(start);
  const Value weight = as(c, operand(c, "weight"), dtype);
  return onnx::add(c, start, onnx::mul(c, weight, onnx::sub(c, end, start)));
}

// aten::atan2(Tensor self, Tensor other) -> Tensor: the angle of (other, self), from -pi to pi
Results atan2(Call& c) {
  const Operand self = operand(c, "self"), other = operand(c, "other");
  const DType dtype = float_result_type(c, {self, other});
  return pt2onnx::atan2(c, as(c, self, dtype), as(c, other, dtype));
}

// aten::hypot(Tensor self, Tensor other) -> Tensor
Value hypot_of(Call& c, Value a, Value b) {
  return onnx::sqrt(c, onnx::add(c, onnx::mul(c, a, a), onnx::mul(c, b, b)));
}

/// x * f(y), and 0 where x is 0 (whatever y is, but NaN).
Value zero_times(Call& c, Value x, Value y, Value f) {
  const Value zero = zero_like(c, x);
  const Value silent =
      onnx::logical_and(c, onnx::equal(c, x, zero), onnx::logical_not(c, onnx::is_nan(c, y)));
  return onnx::where(c, silent, zero, onnx::mul(c, x, f));
}

// aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor
Results xlogy(Call& c) {
  const Operand self = operand(c, "self"), other = operand(c, "other");
  const DType dtype = float_result_type(c, {self, other});
  const Value x = as(c, self, dtype), y = as(c, other, dtype);
  return zero_times(c, x, y, onnx::log(c, y));
}

// aten::special_xlog1py(Tensor self, Tensor other) -> Tensor
Results xlog1py(Call& c) {
  const Operand self = operand(c, "self"), other = operand(c, "other");
  const DType dtype = float_result_type(c, {self, other});
  const Value x = as(c, self, dtype), y = as(c, other, dtype);
  return zero_times(c, x, y, onnx::log(c, onnx::add(c, y, c.constant(1, dtype))));
}

/// log(base^a + base^b), without overflow: max + log(1 + base^-|a - b|).
Value log_add(Call& c, double log_of_base) {
  const auto [a, b] = promoted(c, "self", "other");
  const Value scale = constant_like(c, log_of_base, a);
  const Value high = onnx::maximum(c, a, b);
  // Equal infinities have no difference.
  const Value same = onnx::equal(c, a, b);
  const Value gap = onnx::where(c, same, zero_like(c, a), onnx::abs(c, onnx::sub(c, a, b)));
  const Value small = onnx::exp(c, onnx::neg(c, log_of_base == 1 ? gap : onnx::mul(c, gap, scale)));
  const Value rise = onnx::log(c, onnx::add(c, small, constant_like(c, 1, a)));
  return onnx::add(c, high, log_of_base == 1 ? rise : onnx::div(c, rise, scale));
}

Results logaddexp(Call& c) { return log_add(c, 1); }
Results logaddexp2(Call& c) { return log_add(c, std::numbers::ln2); }

// aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor
Results copysign(Call& c) {
  const Operand self = operand(c, "self"), other = operand(c, "other");
  const DType dtype = float_result_type(c, {self, other});
  const Value size = onnx::abs(c, as(c, self, dtype));
  const Value sign = as(c, other, dtype);
  // Minus zero shows its sign only in its reciprocal.
  const Value zero = c.constant(0, dtype);
  const Value visible = onnx::where(c, onnx::equal(c, sign, zero), onnx::reciprocal(c, sign), sign);
  return onnx::where(c, onnx::less(c, visible, zero), onnx::neg(c, size), size);
}

// aten::heaviside(Tensor self, Tensor values) -> Tensor
Results heaviside(Call& c) {
  const auto [x, at_zero] = promoted(c, "self", "values");
  const Value zero = zero_like(c, x);
  const Value step = onnx::cast(c, onnx::greater(c, x, zero), c.dtype_of(x));
  return onnx::where(c, onnx::equal(c, x, zero), at_zero, step);
}

constexpr Entry kTable[] = {
    {"aten::add", 7, add, by_parts},
    {"aten::addcdiv", 7, accumulate<onnx::div>},
    {"aten::addcmul", 7, accumulate<onnx::mul>, multilinear},
    {"aten::arctan2", 9, atan2},
    {"aten::atan2", 9, atan2},
    {"aten::clamp", 6, clamp},
    {"aten::clamp_max", 6, clamp_max},
    {"aten::clamp_min", 6, clamp_min},
    {"aten::clip", 6, clamp},
    {"aten::copysign", 9, copysign},
    {"aten::div", 7, div},
    {"aten::divide", 7, div},
    {"aten::float_power", 7, float_power},
    {"aten::floor_divide", 7, of_both<floor_quotient>},
    {"aten::fmax", 9, of_both<without_nan<onnx::maximum>>},
    {"aten::fmin", 9, of_both<without_nan<onnx::minimum>>},
    {"aten::fmod", 9, of_both<fmod_of>},
    {"aten::heaviside", 9, heaviside},
    {"aten::hypot", 7, of_both<hypot_of>},
    {"aten::ldexp", 7, ldexp},
    {"aten::lerp", 7, lerp},
    {"aten::logaddexp", 9, logaddexp},
    {"aten::logaddexp2", 9, logaddexp2},
    {"aten::max.other", 8, of_both<onnx::maximum>},
    {"aten::maximum", 8, of_both<onnx::maximum>},
    {"aten::min.other", 8, of_both<onnx::minimum>},
    {"aten::minimum", 8, of_both<onnx::minimum>},
    {"aten::mul", 7, of_both<onnx::mul>, multilinear},
    {"aten::multiply", 7, of_both<onnx::mul>, multilinear},
    {"aten::pow", 7, pow},
    {"aten::remainder", 9, of_both<remainder_of>},
    {"aten::rsub", 7, rsub, by_parts},
    {"aten::special_xlog1py", 9, xlog1py},
    {"aten::special_xlogy", 9, xlogy},
    {"aten::sub", 7, sub, by_parts},
    {"aten::subtract", 7, sub, by_parts},
    {"aten::true_divide", 7, div},
    {"aten::xlogy", 9, xlogy},
};
static_assert(strictly_ascending(kTable));

}  // namespace

Value atan2(Call& c, Value y, Value x) {
  const DType dtype = c.dtype_of(x);
  const Value zero = c.constant(0, dtype);
  const Value angle = c.op("Atan", {onnx::div(c, y, x)});
  const Value half_turn = c.constant(std::numbers::pi, dtype);
  const Value turn = onnx::where(c, onnx::less(c, y, zero), onnx::neg(c, half_turn), half_turn);
  const Value turned = onnx::where(c, onnx::less(c, x, zero), onnx::add(c, angle, turn), angle);
  const Value at_origin = onnx::logical_and(c, onnx::equal(c, x, zero), onnx::equal(c, y, zero));
  return onnx::where(c, at_origin, zero, turned);
}

std::span<const Entry> arithmetic_table() { return kTable; }

}  // namespace pt2onnx
