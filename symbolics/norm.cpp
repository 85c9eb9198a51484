// Normalisations: batch, instance, layer, group, root mean square, weight norm.
#include <limits>
#include <numeric>

#include "blocks.h"
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::add;
using onnx::div;
using onnx::mul;
using onnx::sqrt;
using onnx::sub;

std::vector<std::int64_t> axes_from(std::int64_t first, std::size_t rank) {
  std::vector<std::int64_t> axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Value filled(Call& c, const Shape& shape, double value, DType dtype) {
  return onnx::full(c, shape, value, dtype);
}

/// Half precision is normalised in float32, as torch's kernels do.
DType compute_dtype(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
}

/// The last part of every normalisation: times weight, plus bias, each perhaps absent.
Value affine(Call& c, Value x, Value weight, Value bias) {
  if (weight) x = mul(c, x, weight);
  return bias ? add(c, x, bias) : x;
}

struct Moments {
  Value mean, centred, inverse_deviation;
  Value normalised(Call& c) const { return mul(c, centred, inverse_deviation); }
};

/// Mean and 1 / sqrt(biased variance + eps) over `axes`, which stay as dims of size 1.
Moments moments(Call& c, Value x, const std::vector<std::int64_t>& axes, double eps) {
  Moments m;
  m.mean = onnx::reduce(c, "ReduceMean", x, axes, true);
  m.centred = sub(c, x, m.mean);
  const auto variance = onnx::reduce(c, "ReduceMean", mul(c, m.centred, m.centred), axes, true);
  const auto deviation = sqrt(c, add(c, variance, onnx::constant_like(c, eps, variance)));
  m.inverse_deviation = c.op("Reciprocal", {deviation});
  return m;
}

// ---- batch norm ----------------------------------------------------------------------------------------------------

struct BatchNorm {
  Value x, weight, bias, mean, variance;
  double eps = 0;
  bool batch_statistics = false;
  DType result = DType::Float32;  // dtype of x as given
};

/// x and the parameters in one dtype: torch allows float32 parameters beside a half-precision x.
BatchNorm read_batch_norm(Call& c) {
  BatchNorm norm;
  norm.x = c.tensor("input");
  norm.weight = c.optional_tensor("weight");
  norm.bias = c.optional_tensor("bias");
  if (c.has("running_mean")) norm.mean = c.optional_tensor("running_mean");
  if (c.has("running_var")) norm.variance = c.optional_tensor("running_var");
  norm.eps = c.number(c.has("epsilon") ? "epsilon" : "eps");
  const bool training = c.has("training") && c.flag("training");
  norm.batch_statistics = training || !norm.mean || !norm.variance;
  norm.result = c.dtype_of(norm.x);

  auto dtype = norm.result;
  for (const auto parameter : {norm.weight, norm.bias, norm.mean, norm.variance})
    if (parameter) dtype = promote(dtype, c.dtype_of(parameter));
  for (auto* value : {&norm.x, &norm.weight, &norm.bias, &norm.mean, &norm.variance})
    if (*value) *value = onnx::cast(c, *value, dtype);
  return norm;
}

/// [C] as [C, 1, 1, ...], to meet [N, C, ...].
Value per_channel(Call& c, Value parameter, std::size_t rank) {
  return parameter ? onnx::unsqueeze(c, parameter, axes_from(1, rank - 1)) : parameter;
}

struct Normalised {
  Value y;
  Value mean, inverse_deviation;  // [C]; empty where running statistics were used, as on the CPU
};

Normalised batch_norm_by_batch(Call& c, const BatchNorm& norm) {
  const auto rank = c.rank(norm.x);
  auto axes = axes_from(1, rank);  // all but 1
  axes.front() = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i) + 1;
  const auto dtype = c.dtype_of(norm.x);
  const auto wide = compute_dtype(dtype);
  const auto parameter = [&](Value v) { return v ? per_channel(c, onnx::cast(c, v, wide), rank) : v; };
  const auto m = moments(c, onnx::cast(c, norm.x, wide), axes, norm.eps);
  const auto y = affine(c, m.normalised(c), parameter(norm.weight), parameter(norm.bias));
  const auto statistic = [&](Value v) { return onnx::cast(c, onnx::squeeze(c, v, axes), dtype); };
  return {onnx::cast(c, y, norm.result), statistic(m.mean), statistic(m.inverse_deviation)};
}

Normalised batch_norm_of(Call& c, const BatchNorm& norm) {
  if (c.rank(norm.x) < 2) c.reject("an input of less than 2 dims");
  if (norm.batch_statistics) return batch_norm_by_batch(c, norm);
  const Shape channels = {c.size_of(norm.mean, 0)};
  const auto dtype = c.dtype_of(norm.x);
  const auto scale = norm.weight ? norm.weight : filled(c, channels, 1, dtype);
  const auto bias = norm.bias ? norm.bias : filled(c, channels, 0, dtype);
  const auto y =
      c.op("BatchNormalization", {norm.x, scale, bias, norm.mean, norm.variance}, {{"epsilon", norm.eps}});
  const auto none = c.constant(Tensor::of_doubles({}, {0}, dtype));
  return {onnx::cast(c, y, norm.result), none, none};
}

// aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
//                  bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor
Results batch_norm(Call& c) { return batch_norm_of(c, read_batch_norm(c)).y; }

std::vector<Argument> with_statistics(const Normalised& result) {
  return {result.y, result.mean, result.inverse_deviation};
}

// aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
//                         bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)
Results native_batch_norm(Call& c) { return Results(with_statistics(batch_norm_of(c, read_batch_norm(c)))); }

// aten::cudnn_batch_norm(Tensor input, Tensor weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
//                        bool training, float exponential_average_factor, float epsilon)
//     -> (Tensor, Tensor, Tensor, Tensor reserve)
// aten::_batch_norm_impl_index(..., bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor reserve, int)
Results batch_norm_with_reserve(Call& c) {
  auto results = with_statistics(batch_norm_of(c, read_batch_norm(c)));
  results.emplace_back(c.constant(Tensor::of_ints({}, {0}, DType::UInt8)));
  if (c.schema().returns.size() == 5) results.emplace_back(Scalar(0));
  return Results(results);
}

// aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
//                     bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor
Results instance_norm(Call& c) {
  auto norm = read_batch_norm(c);
  if (!c.flag("use_input_stats")) return batch_norm_of(c, norm).y;
  const auto rank = c.rank(norm.x);
  if (rank < 3) c.reject("an input of less than 3 dims");
  const Shape channels = {c.size_of(norm.x, 1)};
  const auto dtype = c.dtype_of(norm.x);
  const auto scale = norm.weight ? norm.weight : filled(c, channels, 1, dtype);
  const auto bias = norm.bias ? norm.bias : filled(c, channels, 0, dtype);
  return onnx::cast(c, c.op("InstanceNormalization", {norm.x, scale, bias}, {{"epsilon", norm.eps}}),
                    norm.result);
}

// ---- layer norm ----------------------------------------------------------------------------------------------------

std::int64_t first_axis_of(Call& c, Value x, std::size_t count) {
  const auto rank = c.rank(x);
  if (count == 0 || count > rank) c.reject("a `normalized_shape` of " + std::to_string(count) + " dims");
  return static_cast<std::int64_t>(rank - count);
}

/// The first of the normalised axes.
std::int64_t first_axis(Call& c, Value x) { return first_axis_of(c, x, c.sizes("normalized_shape").size()); }

Value layer_norm_of(Call& c) {
  return layer_norm(c, c.tensor("input"), c.sizes("normalized_shape"), c.optional_tensor("weight"),
                    c.optional_tensor("bias"), c.number("eps"));
}

// aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
//                  bool cudnn_enable=True) -> Tensor
Results layer_norm(Call& c) { return layer_norm_of(c); }

// aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps)
//     -> (Tensor, Tensor mean, Tensor rstd)
Results native_layer_norm(Call& c) {
  const auto x = c.tensor("input");
  const auto wide = onnx::cast(c, x, compute_dtype(c.dtype_of(x)));
  const auto m = moments(c, wide, axes_from(first_axis(c, x), c.rank(x)), c.number("eps"));
  // Statistics are as wide as the widest of the arguments.
  auto dtype = c.dtype_of(x);
  for (const auto parameter : {c.optional_tensor("weight"), c.optional_tensor("bias")})
    if (parameter) dtype = promote(dtype, c.dtype_of(parameter));
  return {layer_norm_of(c), onnx::cast(c, m.mean, dtype), onnx::cast(c, m.inverse_deviation, dtype)};
}

// ---- group norm ----------------------------------------------------------------------------------------------------

struct GroupNorm {
  Value x, weight, bias;
  std::int64_t groups = 1;
  double eps = 0;
};

/// [N, C, ...] as [N, groups, C / groups * ...].
Value grouped(Call& c, Value x, std::int64_t groups) {
  const auto sizes = c.sizes_of(x);
  const Dim elements = product(Shape(sizes.begin() + 1, sizes.end()));
  return onnx::reshape(c, x, {sizes[0], Dim(groups), floor_div(elements, Dim(groups))});
}

Value group_norm_of(Call& c, const GroupNorm& norm) {
  const auto rank = c.rank(norm.x);
  if (rank < 2) c.reject("an input of less than 2 dims");
  const auto dtype = c.dtype_of(norm.x);
  const auto channels = c.size_of(norm.x, 1);
  const auto as_x = [&](Value v) { return v ? onnx::cast(c, v, dtype) : v; };
  // GroupNormalization 18 takes weights per group instead of per channel and is deprecated.
  if (c.has_opset(21) && rank > 2) {
    const auto scale = norm.weight ? as_x(norm.weight) : filled(c, {channels}, 1, dtype);
    const auto bias = norm.bias ? as_x(norm.bias) : filled(c, {channels}, 0, dtype);
    return c.op("GroupNormalization", {norm.x, scale, bias},
                {{"num_groups", norm.groups}, {"epsilon", norm.eps}});
  }
  const auto y = c.op("InstanceNormalization",
                      {grouped(c, norm.x, norm.groups), filled(c, {Dim(norm.groups)}, 1, dtype),
                       filled(c, {Dim(norm.groups)}, 0, dtype)},
                      {{"epsilon", norm.eps}});
  return affine(c, onnx::reshape(c, y, c.sizes_of(norm.x)), per_channel(c, as_x(norm.weight), rank),
                per_channel(c, as_x(norm.bias), rank));
}

// aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
//                  bool cudnn_enabled=True) -> Tensor
Results group_norm(Call& c) {
  return group_norm_of(c, {c.tensor("input"), c.optional_tensor("weight"), c.optional_tensor("bias"),
                           c.integer("num_groups"), c.number("eps")});
}

// aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
//                         float eps) -> (Tensor, Tensor mean, Tensor rstd)
Results native_group_norm(Call& c) {
  const GroupNorm norm{c.tensor("input"), c.optional_tensor("weight"), c.optional_tensor("bias"),
                       c.integer("group"), c.number("eps")};
  const auto wide = onnx::cast(c, grouped(c, norm.x, norm.groups), compute_dtype(c.dtype_of(norm.x)));
  const auto m = moments(c, wide, {2}, norm.eps);
  const auto statistic = [&](Value v) { return onnx::cast(c, onnx::squeeze(c, v, {2}), c.dtype_of(norm.x)); };
  return {group_norm_of(c, norm), statistic(m.mean), statistic(m.inverse_deviation)};
}

// ---- root mean square ----------------------------------------------------------------------------------------------

/// torch's default eps: the distance from 1 to the next number of the dtype that is computed in.
double machine_epsilon(DType dtype) {
  return dtype == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                 : double{std::numeric_limits<float>::epsilon()};
}

struct RmsNorm {
  Value y, inverse_root;
};

RmsNorm rms_norm_by_parts(Call& c) {
  const auto x = c.tensor("input");
  const auto weight = c.optional_tensor("weight");
  const auto dtype = c.dtype_of(x);
  const auto wide = compute_dtype(dtype);
  const auto eps = c.optional_number("eps").value_or(machine_epsilon(wide));
  const auto v = onnx::cast(c, x, wide);
  const auto mean = onnx::reduce(c, "ReduceMean", mul(c, v, v), axes_from(first_axis(c, x), c.rank(x)), true);
  const auto inverse = c.op("Reciprocal", {sqrt(c, add(c, mean, onnx::constant_like(c, eps, mean)))});
  const auto y = mul(c, v, inverse);
  return {onnx::cast(c, weight ? mul(c, y, onnx::cast(c, weight, wide)) : y, dtype), inverse};
}

// aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor
Results rms_norm_by_parts_only(Call& c) { return rms_norm_by_parts(c).y; }

Results rms_norm(Call& c) {
  const auto x = c.tensor("input");
  const auto weight = c.optional_tensor("weight");
  const auto dtype = c.dtype_of(x);
  const auto eps = c.optional_number("eps").value_or(machine_epsilon(compute_dtype(dtype)));
  const auto scale = weight ? onnx::cast(c, weight, dtype) : filled(c, c.sizes("normalized_shape"), 1, dtype);
  const auto axis = first_axis(c, x) - static_cast<std::int64_t>(c.rank(x));
  return c.op("RMSNormalization", {x, scale}, {{"axis", axis}, {"epsilon", eps}});
}

// aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor rstd)
Results fused_rms_norm(Call& c) {
  const auto norm = rms_norm_by_parts(c);
  return {norm.y, norm.inverse_root};
}

// ---- norms of weights ----------------------------------------------------------------------------------------------

/// The p-norm over every axis but one; -1 for none.
Value norm_except(Call& c, Value x, std::int64_t axis, double p) {
  auto axes = axes_from(0, c.rank(x));
  std::erase(axes, axis);
  return p_norm(c, x, axes, p);
}

/// The axis of weight norm, where -1 means the norm of the whole.
std::int64_t kept_axis(Call& c, Value v) {
  const auto axis = c.integer("dim");
  return axis == -1 ? -1 : c.normalize_axis(axis, c.rank(v));
}

// aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor
Results norm_except_dim(Call& c) {
  const auto v = c.tensor("v");
  const auto axis = kept_axis(c, v);
  const auto norm = norm_except(c, v, axis, static_cast<double>(c.integer("pow")));
  return axis == -1 ? onnx::squeeze(c, norm, axes_from(0, c.rank(v))) : norm;
}

// aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor
Results weight_norm(Call& c) {
  const auto v = c.tensor("v");
  return mul(c, v, div(c, c.tensor("g"), norm_except(c, v, kept_axis(c, v), 2)));
}

// aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor norm)
Results weight_norm_interface(Call& c) {
  const auto v = c.tensor("v");
  const auto norm = norm_except(c, v, kept_axis(c, v), 2);
  return {mul(c, v, div(c, c.tensor("g"), norm)), norm};
}

// aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor
Results renorm(Call& c) {
  const auto x = c.tensor("self");
  const auto norm = norm_except(c, x, c.axis("dim", c.rank(x)), c.number("p"));
  const auto limit = onnx::constant_like(c, c.number("maxnorm"), norm);
  const auto factor = div(c, limit, add(c, norm, onnx::constant_like(c, 1e-7, norm)));
  const auto one = onnx::constant_like(c, 1, norm);
  return mul(c, x, onnx::where(c, onnx::greater(c, norm, limit), factor, one));
}

constexpr Entry kTable[] = {
    {"aten::_batch_norm_impl_index", 9, batch_norm_with_reserve},
    {"aten::_batch_norm_no_update", 9, batch_norm_with_reserve},
    {"aten::_fused_rms_norm", 9, fused_rms_norm},
    {"aten::_native_batch_norm_legit", 9, native_batch_norm},
    {"aten::_native_batch_norm_legit_no_training", 9, native_batch_norm},
    {"aten::_weight_norm", 9, weight_norm},
    {"aten::_weight_norm_interface", 9, weight_norm_interface},
    {"aten::batch_norm", 9, batch_norm},
    {"aten::cudnn_batch_norm", 9, batch_norm_with_reserve},
    {"aten::group_norm", 9, group_norm},
    {"aten::instance_norm", 9, instance_norm},
    {"aten::layer_norm", 9, layer_norm},
    {"aten::native_batch_norm", 9, native_batch_norm},
    {"aten::native_group_norm", 9, native_group_norm},
    {"aten::native_layer_norm", 9, native_layer_norm},
    {"aten::norm_except_dim", 9, norm_except_dim},
    {"aten::renorm", 9, renorm},
    {"aten::rms_norm", 9, rms_norm_by_parts_only},
    {"aten::rms_norm", 23, rms_norm},
};
static_assert(strictly_ascending(kTable));

}  // namespace

Value p_norm(Call& c, Value x, const std::vector<std::int64_t>& axes, double p) {
  if (p == 1) return onnx::reduce(c, "ReduceL1", x, axes, true);
  if (p == 2) return onnx::reduce(c, "ReduceL2", x, axes, true);
  const auto magnitude = onnx::abs(c, x);
  if (p == std::numeric_limits<double>::infinity())
    return onnx::reduce(c, "ReduceMax", magnitude, axes, true);
  if (p == 0) {
    const auto zero = onnx::constant_like(c, 0, x);
    return onnx::reduce(c, "ReduceSum", onnx::cast(c, onnx::not_equal(c, x, zero), c.dtype_of(x)), axes,
                        true);
  }
  const auto sum =
      onnx::reduce(c, "ReduceSum", onnx::pow(c, magnitude, onnx::constant_like(c, p, x)), axes, true);
  return onnx::pow(c, sum, onnx::constant_like(c, 1 / p, x));
}

Value layer_norm(Call& c, Value x, const Shape& normalized, Value weight, Value bias, double eps) {
  const auto axis = first_axis_of(c, x, normalized.size());
  const auto dtype = c.dtype_of(x);
  if (c.has_opset(17)) {
    const auto as_x = [&](Value v) { return v ? onnx::cast(c, v, dtype) : v; };
    const auto scale = weight ? as_x(weight) : filled(c, normalized, 1, dtype);
    // Counted from the end: the node then reads the same whatever the batch dims are.
    return c.op("LayerNormalization", {x, scale, as_x(bias)},
                {{"axis", axis - static_cast<std::int64_t>(c.rank(x))}, {"epsilon", eps}});
  }
  const auto wide = compute_dtype(dtype);
  const auto in_wide = [&](Value v) { return v ? onnx::cast(c, v, wide) : v; };
  const auto m = moments(c, in_wide(x), axes_from(axis, c.rank(x)), eps);
  return onnx::cast(c, affine(c, m.normalised(c), in_wide(weight), in_wide(bias)), dtype);
}

std::span<const Entry> norm_table() { return kTable; }

}  // namespace pt2onnx
