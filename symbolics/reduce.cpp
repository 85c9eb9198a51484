// Reductions over dims.
#include <cmath>
#include <limits>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Ints = std::vector<std::int64_t>;

/// The dims that the overload reduces: those named, or all.
Ints reduced_axes(Call& c, Value x) { return c.has("dim") ? c.axes("dim", c.rank(x)) : onnx::all_axes(c, x); }

bool keeps(Call& c) { return c.has("keepdim") && c.flag("keepdim"); }

// ---- sums and products ---------------------------------------------------------------------------------------------

/// The operand of sum and prod: the dtype asked for, else int64 for whatever counts.
Value counting_operand(Call& c) {
  const Value x = c.tensor("self");
  if (const auto dtype = c.dtype("dtype")) return onnx::cast(c, x, *dtype);
  return is_floating(c.dtype_of(x)) || is_complex(c.dtype_of(x)) ? x : onnx::cast(c, x, DType::Int64);
}

// aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
template <onnx::Name Op>
Results accumulated(Call& c) {
  const Value x = counting_operand(c);
  return onnx::reduce(c, Op.text, x, reduced_axes(c, x), keeps(c));
}

// aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
Results mean(Call& c) {
  Value x = c.tensor("self");
  if (const auto dtype = c.dtype("dtype")) x = onnx::cast(c, x, *dtype);
  if (!is_floating(c.dtype_of(x))) c.reject("takes the mean of whole numbers, which torch refuses too");
  return onnx::reduce(c, "ReduceMean", x, reduced_axes(c, x), keeps(c));
}

/// x with 0 in the place of NaN.
Value without_nan(Call& c, Value x) {
  return is_floating(c.dtype_of(x)) ? onnx::where(c, onnx::is_nan(c, x), onnx::constant_like(c, 0, x), x) : x;
}

// aten::sum_to_size(Tensor self, SymInt[] size) -> Tensor: the reverse of expand
Results sum_to_size(Call& c) {
  const Value x = c.tensor("self");
  const Shape from = c.sizes_of(x), to = c.sizes("size");
  if (to.size() > from.size()) c.reject("sums to more dims than the tensor has");
  const std::size_t lead = from.size() - to.size();
  Ints axes;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (i < lead || (to[i - lead] == 1 && from[i] != 1)) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty() && !to.empty()) return x;
  const Value counted = is_floating(c.dtype_of(x)) ? x : onnx::cast(c, x, DType::Int64);
  return onnx::reshape(c, onnx::reduce(c, "ReduceSum", counted, axes, true), to);
}

// aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
Results nansum(Call& c) {
  const Value x = counting_operand(c);
  return onnx::reduce(c, "ReduceSum", without_nan(c, x), reduced_axes(c, x), keeps(c));
}

// aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
Results nanmean(Call& c) {
  const Value x = counting_operand(c);
  const Ints axes = reduced_axes(c, x);
  const Value present = onnx::cast(c, onnx::logical_not(c, onnx::is_nan(c, x)), c.dtype_of(x));
  return onnx::div(c, onnx::reduce(c, "ReduceSum", without_nan(c, x), axes, keeps(c)),
                   onnx::reduce(c, "ReduceSum", present, axes, keeps(c)));
}

// aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor
Results count_nonzero(Call& c) {
  const Value x = c.tensor("self");
  const Value ones = onnx::cast(c, onnx::cast(c, x, DType::Bool), DType::Int64);
  return onnx::reduce(c, "ReduceSum", ones, reduced_axes(c, x), false);
}

// aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
Results logsumexp(Call& c) {
  const Value x = float_tensor(c, "self");
  return onnx::reduce(c, "ReduceLogSumExp", x, c.axes("dim", c.rank(x)), c.flag("keepdim"));
}

// ---- extremes ------------------------------------------------------------------------------------------------------

// aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor
// aten::max(Tensor self) -> Tensor
template <bool Maximum>
Results extreme(Call& c) {
  const Value x = c.tensor("self");
  return onnx::extreme(c, Maximum, x, reduced_axes(c, x), keeps(c));
}

// aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
template <bool Maximum>
Results extreme_and_place(Call& c) {
  const Value x = c.tensor("self");
  const auto axis = c.axis("dim", c.rank(x));
  const bool keep = c.flag("keepdim");
  return {onnx::extreme(c, Maximum, x, {axis}, keep), onnx::arg_extreme(c, Maximum, x, axis, keep)};
}

// aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)
Results aminmax(Call& c) {
  const Value x = c.tensor("self");
  const Ints axes = reduced_axes(c, x);
  return {onnx::extreme(c, false, x, axes, keeps(c)), onnx::extreme(c, true, x, axes, keeps(c))};
}

// aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
template <bool Maximum>
Results place_of_extreme(Call& c) {
  const Value x = c.tensor("self");
  if (!c.is_none("dim")) return onnx::arg_extreme(c, Maximum, x, c.axis("dim", c.rank(x)), c.flag("keepdim"));
  const Value place = onnx::arg_extreme(c, Maximum, onnx::flatten_all(c, x), 0, false);
  return c.flag("keepdim") ? onnx::reshape(c, place, Shape(c.rank(x), Dim(1))) : place;
}

// aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor; a uint8 tensor gives uint8, as it once was bool
template <bool Any>
Results quantified(Call& c) {
  const Value x = c.tensor("self");
  const Value result = onnx::extreme(c, Any, onnx::cast(c, x, DType::Bool), reduced_axes(c, x), keeps(c));
  return c.dtype_of(x) == DType::UInt8 ? onnx::cast(c, result, DType::UInt8) : result;
}

constexpr Entry kTable[] = {
    {"aten::_is_all_true", 1, quantified<false>},
    {"aten::_is_any_true", 1, quantified<true>},
    {"aten::all", 1, quantified<false>, by_truth},
    {"aten::amax", 1, extreme<true>},
    {"aten::amin", 1, extreme<false>},
    {"aten::aminmax", 1, aminmax},
    {"aten::any", 1, quantified<true>, by_truth},
    {"aten::argmax", 1, place_of_extreme<true>},
    {"aten::argmin", 1, place_of_extreme<false>},
    {"aten::count_nonzero", 9, count_nonzero, by_truth},
    {"aten::logsumexp", 1, logsumexp},
    {"aten::max", 1, extreme<true>},
    {"aten::max.dim", 1, extreme_and_place<true>},
    {"aten::mean", 1, mean, by_parts},
    {"aten::min", 1, extreme<false>},
    {"aten::min.dim", 1, extreme_and_place<false>},
    {"aten::nanmean", 9, nanmean},
    {"aten::nansum", 9, nansum, by_parts},
    {"aten::prod", 1, accumulated<"ReduceProd">},
    {"aten::special_logsumexp", 1, logsumexp},
    {"aten::sum", 1, accumulated<"ReduceSum">, by_parts},
    {"aten::sum_to_size", 5, sum_to_size, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> reduce_table() { return kTable; }

}  // namespace pt2onnx
