// Random numbers. The distribution is kept, not torch's sequence.
#include <cmath>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

/// Drawn as float32 and cast; sizes that are not known come from a tensor of zeros.
Value drawn(Call& c, std::string_view op, const Shape& shape, DType dtype, Attributes attributes) {
  Value numbers;
  if (const auto known = static_shape(shape)) {
    attributes.set({"shape", *known});
    numbers = c.op(op, {}, attributes);
  } else {
    const Value like = onnx::full(c, shape, 0.0, DType::Float32);
    numbers = c.op(std::string(op) + "Like", {like}, attributes);
  }
  c.set_shape(numbers, shape);
  return onnx::cast(c, numbers, dtype);
}

Value uniform(Call& c, const Shape& shape, DType dtype, double low = 0, double high = 1) {
  return drawn(c, "RandomUniform", shape, dtype, {{"low", low}, {"high", high}});
}

Value normal(Call& c, const Shape& shape, DType dtype, double mean = 0, double deviation = 1) {
  return drawn(c, "RandomNormal", shape, dtype, {{"mean", mean}, {"scale", deviation}});
}

using Draw = Value (*)(Call&, const Shape&, DType, double, double);

// aten::rand(SymInt[] size, *, ScalarType? dtype=None, ...) -> Tensor
template <Draw From>
Results fresh(Call& c) {
  return From(c, c.sizes("size"), c.dtype("dtype").value_or(DType::Float32), 0, 1);
}

// aten::rand_like(Tensor self, *, ScalarType? dtype=None, ...) -> Tensor
template <Draw From>
Results fresh_like(Call& c) {
  const Value x = c.tensor("self");
  return From(c, c.sizes_of(x), c.dtype("dtype").value_or(c.dtype_of(x)), 0, 1);
}

/// Whole numbers from `low` on, below `high`.
Value whole(Call& c, const Shape& shape, DType dtype, double low, double high) {
  return onnx::cast(c, onnx::floor(c, uniform(c, shape, DType::Float32, low, high)), dtype);
}

double lowest(Call& c) { return c.has("low") ? static_cast<double>(c.integer("low")) : 0; }

// aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, ...) -> Tensor
Results randint(Call& c) {
  const DType dtype = c.dtype("dtype").value_or(DType::Int64);
  return whole(c, c.sizes("size"), dtype, lowest(c), static_cast<double>(c.integer("high")));
}

// aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? dtype=None, ...) -> Tensor
Results randint_like(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype("dtype").value_or(c.dtype_of(x));
  return whole(c, c.sizes_of(x), dtype, lowest(c), static_cast<double>(c.integer("high")));
}

/// The largest whole number that random_ draws, and one: every whole number that the element type holds exactly.
double drawn_up_to(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 2;
    case DType::Float16: return 2049;
    case DType::BFloat16: return 257;
    case DType::Int8: return 128;
    case DType::UInt8: return 256;
    case DType::Int16: return 32768;
    default: return 16777217;  // as many as a float32, in which it is drawn, tells apart
  }
}

// aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor
Results random_into(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype_of(x);
  const double low = c.has("from") ? static_cast<double>(c.integer("from")) : 0;
  const auto to = c.has("to") ? c.optional_integer("to") : std::nullopt;
  return whole(c, c.sizes_of(x), dtype, low, to ? static_cast<double>(*to) : drawn_up_to(dtype));
}

// aten::randperm(SymInt n, *, ScalarType? dtype=4, ...) -> Tensor: the order of random numbers
Results randperm(Call& c) {
  const Dim n = c.size("n");
  const Value order = onnx::top_k(c, uniform(c, {n}, DType::Float32), n, 0, true, true).second;
  return onnx::cast(c, order, c.dtype("dtype").value_or(DType::Int64));
}

// aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor
Results normal_into(Call& c) {
  const Value x = c.tensor("self");
  return normal(c, c.sizes_of(x), c.dtype_of(x), c.number("mean"), c.number("std"));
}

// aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor(a!)
// aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor
// aten::normal.float_float(float mean, float std, SymInt[] size, *, ...) -> Tensor
Results normal_around(Call& c) {
  if (c.has("self")) return normal_into(c);
  if (c.has("size"))
    return normal(c, c.sizes("size"), c.dtype("dtype").value_or(DType::Float32), c.number("mean"),
                  c.number("std"));
  const Operand mean = operand(c, "mean"), deviation = operand(c, "std");
  const DType dtype = float_result_type(c, {mean, deviation});
  const Value center = as(c, mean, dtype), scale = as(c, deviation, dtype);
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(center), c.sizes_of(scale));
  return onnx::add(c, center, onnx::mul(c, normal(c, shape, dtype), scale));
}

// aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor
Results uniform_into(Call& c) {
  const Value x = c.tensor("self");
  return uniform(c, c.sizes_of(x), c.dtype_of(x), c.number("from"), c.number("to"));
}

// aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor
Results exponential_into(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype_of(x);
  const Value left = onnx::sub(c, c.constant(1, dtype), uniform(c, c.sizes_of(x), dtype));  // in (0, 1]
  return onnx::div(c, onnx::neg(c, onnx::log(c, left)), c.constant(c.number("lambd"), dtype));
}

// aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor
Results log_normal_into(Call& c) {
  const Value x = c.tensor("self");
  return onnx::exp(c, normal(c, c.sizes_of(x), c.dtype_of(x), c.number("mean"), c.number("std")));
}

// aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor
Results cauchy_into(Call& c) {
  const Value x = c.tensor("self");
  const DType dtype = c.dtype_of(x);
  const double quarter = std::numbers::pi / 2;
  const Value slope = c.op("Tan", {uniform(c, c.sizes_of(x), dtype, -quarter, quarter)});
  return onnx::add(c, c.constant(c.number("median"), dtype),
                   onnx::mul(c, c.constant(c.number("sigma"), dtype), slope));
}

// aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor: trials up to the first success
Results geometric_into(Call& c) {
  const Value x = c.tensor("self");
  const Value left =
      onnx::sub(c, c.constant(1, DType::Float32), uniform(c, c.sizes_of(x), DType::Float32));  // in (0, 1]
  const Value trials =
      onnx::ceil(c, onnx::div(c, onnx::log(c, left), c.constant(std::log1p(-c.number("p")), DType::Float32)));
  return onnx::cast(c, onnx::maximum(c, trials, c.constant(1, DType::Float32)), c.dtype_of(x));
}

// aten::rrelu(Tensor self, Scalar lower, Scalar upper, bool training=False, Generator? generator=None) -> Tensor
Results rrelu(Call& c) {
  const Value x = c.tensor("self");
  const double lower = c.number("lower"), upper = c.number("upper");
  if (!c.flag("training")) return c.op("LeakyRelu", {x}, {{"alpha", (lower + upper) / 2}});
  const Value slopes = uniform(c, c.sizes_of(x), c.dtype_of(x), lower, upper);
  return onnx::where(c, onnx::less(c, x, onnx::constant_like(c, 0, x)), onnx::mul(c, x, slopes), x);
}

// aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor
// aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor
// aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor
Results bernoulli(Call& c) {
  const Value x = c.tensor("self");
  const DType compared = is_floating(c.dtype_of(x)) ? c.dtype_of(x) : DType::Float32;
  const Value chance = as(c, operand(c, c.has("p") ? "p" : "self"), compared);
  return onnx::cast(c, onnx::less(c, uniform(c, c.sizes_of(x), compared), chance), c.dtype_of(x));
}

/// Of waiting times that are exponential with the weights as rates, the shortest: draws without replacement, in order
/// (Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006).
Value first_arrivals(Call& c, Value weights, std::int64_t count) {
  const DType dtype = c.dtype_of(weights);
  const Value left = onnx::sub(c, c.constant(1, dtype), uniform(c, c.sizes_of(weights), dtype));  // in (0, 1]
  const Value waiting = onnx::div(c, onnx::neg(c, onnx::log(c, left)), weights);
  return onnx::top_k(c, waiting, count, static_cast<std::int64_t>(c.rank(weights)) - 1, false, true).second;
}

// aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor
Results multinomial(Call& c) {
  const std::int64_t samples = c.integer("num_samples");
  const Value x = c.tensor("self");
  const bool lone = c.rank(x) == 1;
  const Value weights = lone ? onnx::unsqueeze(c, x, {0}) : x;
  const bool again = c.flag("replacement") || samples == 1;
  const Value indices =
      again ? onnx::cast(c, c.op("Multinomial", {onnx::log(c, weights)}, {{"sample_size", samples}}),
                         DType::Int64)
            : first_arrivals(c, weights, samples);
  return lone ? onnx::squeeze(c, indices, {0}) : indices;
}

constexpr Entry kTable[] = {
    {"aten::bernoulli", 9, bernoulli},
    {"aten::cauchy", 9, cauchy_into},
    {"aten::exponential", 9, exponential_into},
    {"aten::geometric", 9, geometric_into},
    {"aten::log_normal", 9, log_normal_into},
    {"aten::multinomial", 7, multinomial},
    {"aten::normal", 1, normal_around},
    {"aten::normal_functional", 1, normal_into},
    {"aten::rand", 1, fresh<uniform>},
    {"aten::rand_like", 1, fresh_like<uniform>},
    {"aten::randint", 1, randint},
    {"aten::randint_like", 1, randint_like},
    {"aten::randn", 1, fresh<normal>},
    {"aten::randn_like", 1, fresh_like<normal>},
    {"aten::random", 1, random_into},
    {"aten::randperm", 10, randperm},
    {"aten::rrelu", 9, rrelu},
    {"aten::uniform", 1, uniform_into},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> random_table() { return kTable; }

}  // namespace pt2onnx
