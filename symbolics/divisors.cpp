// Greatest common divisors, by a loop.
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

struct Pair {
  Value a, b;  // int64, of one shape, not negative
};

Pair operands(Call& c, DType dtype) {
  const auto widened = [&](std::string_view name) {
    return onnx::abs(c, onnx::cast(c, as(c, operand(c, name), dtype), DType::Int64));
  };
  const Value a = widened("self"), b = widened("other");
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(a), c.sizes_of(b));
  return {onnx::expand(c, a, shape), onnx::expand(c, b, shape)};
}

/// Euclid's algorithm, until the last element is done.
Value divisor(Call& c, const Pair& pair) {
  const Value zero = c.constant(0, DType::Int64), one = c.constant(1, DType::Int64);
  const auto any_left = [&](Value b) {
    return onnx::extreme(c, true, onnx::not_equal(c, b, zero), onnx::all_axes(c, b), false);
  };
  const auto body = [&](std::vector<Value> in) -> std::vector<Value> {
    const Value a = in[2], b = in[3];
    const Value done = onnx::equal(c, b, zero);
    const Value rest = c.op("Mod", {a, onnx::where(c, done, one, b)});
    const Value next = onnx::where(c, done, zero, rest);
    return {any_left(next), onnx::where(c, done, a, b), next};
  };
  const Value result = c.loop({}, any_left(pair.b), {pair.a, pair.b}, 0, body).at(0);
  c.set_shape(result, c.sizes_of(pair.a));
  return result;
}

// aten::gcd(Tensor self, Tensor other) -> Tensor
Results gcd(Call& c) {
  const DType dtype = result_type(c, {operand(c, "self"), operand(c, "other")});
  return onnx::cast(c, divisor(c, operands(c, dtype)), dtype);
}

// aten::lcm(Tensor self, Tensor other) -> Tensor
Results lcm(Call& c) {
  const DType dtype = result_type(c, {operand(c, "self"), operand(c, "other")});
  const Pair pair = operands(c, dtype);
  const Value common =
      onnx::maximum(c, divisor(c, pair), c.constant(1, DType::Int64));  // of 0 and 0: 0 all the same
  return onnx::cast(c, onnx::abs(c, onnx::mul(c, onnx::div(c, pair.a, common), pair.b)), dtype);
}

constexpr Entry kTable[] = {
    {"aten::gcd", 10, gcd},
    {"aten::lcm", 10, lcm},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> divisors_table() { return kTable; }

}  // namespace pt2onnx
