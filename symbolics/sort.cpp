// Sorting and ranks.
#include <cmath>
#include <limits>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using Pair = std::pair<Value, Value>;

Results both(const Pair& p) { return {p.first, p.second}; }

/// TopK over the whole dim. Equal elements keep their order, as a stable sort has it.
Pair sorted(Call& c, Value x, std::int64_t axis, bool descending) {
  if (c.rank(x) == 0) return {x, c.constant(0, DType::Int64)};
  return onnx::top_k(c, x, c.size_of(x, axis), axis, descending, true);
}

// aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)
Pair sort_call(Call& c) {
  const Value x = c.tensor("self");
  return sorted(c, x, c.axis("dim", c.rank(x)), c.flag("descending"));
}

Results sort(Call& c) { return both(sort_call(c)); }
Results argsort(Call& c) { return sort_call(c).second; }

// aten::msort(Tensor self) -> Tensor
Results msort(Call& c) { return sorted(c, c.tensor("self"), 0, false).first; }

// aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True)
Results topk(Call& c) {
  const Value x = c.tensor("self");
  return both(onnx::top_k(c, x, c.size("k"), c.axis("dim", c.rank(x)), c.flag("largest"), c.flag("sorted")));
}

/// The k-th smallest, counted from 1, with its place.
Pair kth_smallest(Call& c, Value x, std::int64_t axis, const Dim& k, bool keep) {
  if (c.rank(x) == 0) return {x, c.constant(0, DType::Int64)};
  const auto [values, indices] = onnx::top_k(c, x, k, axis, false, true);
  const auto last = [&](Value v) {
    return keep ? onnx::slice(c, v, axis, k - 1, k) : onnx::select(c, v, axis, k - 1);
  };
  return {last(values), last(indices)};
}

// aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
Results kthvalue(Call& c) {
  const Value x = c.tensor("self");
  return both(kth_smallest(c, x, c.axis("dim", c.rank(x)), c.size("k"), c.flag("keepdim")));
}

/// The lower one of two elements in the middle.
Pair median_along(Call& c, Value x, std::int64_t axis, bool keep) {
  const Dim size = c.rank(x) == 0 ? Dim(1) : c.size_of(x, axis);
  return kth_smallest(c, x, axis, floor_div(size + 1, 2), keep);
}

// aten::median(Tensor self) -> Tensor
Results median(Call& c) { return median_along(c, onnx::flatten_all(c, c.tensor("self")), 0, false).first; }

// aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
Results median_by_dim(Call& c) {
  const Value x = c.tensor("self");
  return both(median_along(c, x, c.axis("dim", c.rank(x)), c.flag("keepdim")));
}

/// The median of what is not NaN; NaN where there is nothing else.
Pair nanmedian_along(Call& c, Value x, std::int64_t axis, bool keep) {
  if (c.rank(x) == 0) return {x, c.constant(0, DType::Int64)};
  const Value missing = onnx::is_nan(c, x);
  const Value behind = onnx::constant_like(c, std::numeric_limits<double>::infinity(), x);
  const auto [values, indices] = sorted(c, onnx::where(c, missing, behind, x), axis, false);
  const Value present = onnx::cast(c, onnx::logical_not(c, missing), DType::Int64);
  const Value count = onnx::reduce(c, "ReduceSum", present, {axis}, true);
  const Value one = c.constant(1, DType::Int64), zero = c.constant(0, DType::Int64);
  const Value middle =
      onnx::div(c, onnx::maximum(c, onnx::sub(c, count, one), zero), c.constant(2, DType::Int64));
  Value value = onnx::gather_elements(c, values, middle, axis);
  value = onnx::where(c, onnx::equal(c, count, zero), onnx::constant_like(c, std::nan(""), x), value);
  Value index = onnx::gather_elements(c, indices, middle, axis);
  if (keep) return {value, index};
  return {onnx::squeeze(c, value, {axis}), onnx::squeeze(c, index, {axis})};
}

// aten::nanmedian(Tensor self) -> Tensor
Results nanmedian(Call& c) {
  const Value x = onnx::flatten_all(c, c.tensor("self"));
  if (!is_floating(c.dtype_of(x))) return median_along(c, x, 0, false).first;
  return nanmedian_along(c, x, 0, false).first;
}

// aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
Results nanmedian_by_dim(Call& c) {
  const Value x = c.tensor("self");
  if (!is_floating(c.dtype_of(x))) return median_by_dim(c);
  return both(nanmedian_along(c, x, c.axis("dim", c.rank(x)), c.flag("keepdim")));
}

// aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)
// The smallest of the values that are there most often, and where it is last.
Results mode(Call& c) {
  const DType dtype = c.dtype_of(c.tensor("self"));
  const Value x = dtype == DType::Bool ? onnx::cast(c, c.tensor("self"), DType::Int32) : c.tensor("self");
  if (c.rank(x) == 0) return {c.tensor("self"), c.constant(0, DType::Int64)};
  const auto axis = c.axis("dim", c.rank(x));
  const bool keep = c.flag("keepdim");
  // Each element beside each other one of its line.
  const Value line = onnx::swap_axes(c, x, axis, -1);
  const Value same = onnx::equal(c, onnx::unsqueeze(c, line, {-1}), onnx::unsqueeze(c, line, {-2}));
  const Value count = onnx::reduce(c, "ReduceSum", onnx::cast(c, same, DType::Int64), {-1}, false);
  const Value often = onnx::equal(c, count, onnx::extreme(c, true, count, {-1}, true));
  const Value above = is_floating(dtype)
                          ? onnx::constant_like(c, std::numeric_limits<double>::infinity(), line)
                          : onnx::extreme(c, true, line, {-1}, true);
  const Value least = onnx::extreme(c, false, onnx::where(c, often, line, above), {-1}, true);
  const Value found = onnx::cast(c, onnx::equal(c, line, least), DType::Int32);
  const auto result = [&](Value v) {
    v = onnx::swap_axes(c, v, axis, -1);
    return keep ? v : onnx::squeeze(c, v, {axis});
  };
  return {onnx::cast(c, result(least), dtype), result(onnx::arg_extreme(c, true, found, -1, true, true))};
}

// aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation="linear")
// aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor
Results quantile(Call& c) {
  Value x = c.tensor("self");
  const std::size_t rank = c.rank(x);
  const bool everything = c.is_none("dim") || rank == 0;
  const auto axis = everything ? 0 : c.axis("dim", rank);
  if (everything) x = onnx::flatten_all(c, x);
  const DType dtype = c.dtype_of(x);
  const Operand portion = operand(c, "q");
  const Value q = as(c, portion, dtype);
  const bool several = c.rank(q) == 1;

  const Value ordered = sorted(c, x, axis, false).first;
  const Value rank_of_q = onnx::mul(c, q, c.scalar_value(Scalar(c.size_of(x, axis) - 1), dtype));
  const std::string mode = c.text("interpolation");
  const auto element = [&](Value place) {
    return onnx::gather(c, ordered, onnx::cast(c, place, DType::Int64), axis);
  };

  Value result;
  if (mode == "lower") {
    result = element(onnx::floor(c, rank_of_q));
  } else if (mode == "higher") {
    result = element(onnx::ceil(c, rank_of_q));
  } else if (mode == "nearest") {
    result = element(onnx::round(c, rank_of_q));
  } else {
    const Value below = onnx::floor(c, rank_of_q);
    const Value low = element(below), high = element(onnx::ceil(c, rank_of_q));
    Value weight = onnx::constant_like(c, 0.5, x);
    if (mode == "linear") {
      weight = onnx::sub(c, rank_of_q, below);
      if (several) {
        Shape along(c.rank(low), Dim(1));
        along[static_cast<std::size_t>(axis)] = c.size_of(weight, 0);
        weight = onnx::reshape(c, weight, along);
      }
    }
    result = onnx::add(c, low, onnx::mul(c, onnx::sub(c, high, low), weight));
  }
  // Several portions stand in a dim of their own, which goes to the front.
  if (several) {
    std::vector<std::int64_t> order{axis};
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(c.rank(result)); ++i)
      if (i != axis) order.push_back(i);
    result = onnx::transpose(c, result, order);
  }
  if (!c.flag("keepdim")) return result;
  const std::int64_t lead = several ? 1 : 0;
  if (!everything) return onnx::unsqueeze(c, result, {axis + lead});
  std::vector<std::int64_t> ones;
  for (std::size_t i = 0; i < rank; ++i) ones.push_back(static_cast<std::int64_t>(i) + lead);
  return onnx::unsqueeze(c, result, ones);
}

// ---- unique --------------------------------------------------------------------------------------------------------

struct Distinct {
  Value values, inverse, counts;
};

Distinct distinct(Call& c, Value x, std::optional<std::int64_t> axis) {
  if (!c.has_opset(11)) c.needs_opset(11, "`Unique` exists from opset 11 on");
  const auto outputs = c.op("Unique", 4, {x}, {{"axis", axis}, {"sorted", 1}});
  return {outputs[0], outputs[2], outputs[3]};
}

// aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False)
Results unique(Call& c) {
  const Value x = c.tensor("self");
  const Distinct d = distinct(c, x, std::nullopt);
  return {d.values, onnx::reshape(c, d.inverse, c.sizes_of(x)), d.counts};
}

// aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False)
Results unique_along(Call& c) {
  const Value x = c.tensor("self");
  const Distinct d = distinct(c, x, c.axis("dim", c.rank(x)));
  return {d.values, d.inverse, d.counts};
}

// aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)
Results unique_without_counts(Call& c) {
  const Value x = c.tensor("self");
  const Distinct d = distinct(c, x, std::nullopt);
  return {d.values, onnx::reshape(c, d.inverse, c.sizes_of(x))};
}

// aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None)
Results unique_consecutive(Call& c) {
  if (!c.is_none("dim")) c.reject("drops rows that repeat the one before", "leave out `dim`");
  const Value x = c.tensor("self");
  const Value flat = onnx::flatten_all(c, x);
  const Dim size = c.size_of(flat, 0);
  const Value differs =
      onnx::not_equal(c, onnx::slice(c, flat, 0, 1, onnx::kEnd), onnx::slice(c, flat, 0, 0, -1));
  const Value first = onnx::full(c, {min(size, 1)}, true, DType::Bool);
  const Value begins = onnx::concat(c, {first, differs}, 0);
  const Value run = onnx::cumulative_sum(c, onnx::cast(c, begins, DType::Int64), 0);
  const Value starts = onnx::flatten_all(c, c.op("NonZero", {begins}));
  const Value ends = onnx::concat(c, {onnx::slice(c, starts, 0, 1, onnx::kEnd), c.shape_value({size})}, 0);
  const Value inverse = onnx::sub(c, run, c.constant(1, DType::Int64));
  return {onnx::gather(c, flat, starts, 0), onnx::reshape(c, inverse, c.sizes_of(x)),
          onnx::sub(c, ends, starts)};
}

constexpr Entry kTable[] = {
    {"aten::_unique", 11, unique_without_counts},
    {"aten::_unique2", 11, unique},
    {"aten::argsort", 1, argsort},
    {"aten::kthvalue", 9, kthvalue},
    {"aten::median", 9, median},
    {"aten::median.dim", 9, median_by_dim},
    {"aten::mode", 12, mode},
    {"aten::msort", 9, msort},
    {"aten::nanmedian", 11, nanmedian},
    {"aten::nanmedian.dim", 11, nanmedian_by_dim},
    {"aten::quantile", 9, quantile},
    {"aten::sort", 9, sort},
    {"aten::topk", 9, topk},
    {"aten::unique_consecutive", 9, unique_consecutive},
    {"aten::unique_dim", 11, unique_along},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> sort_table() { return kTable; }

}  // namespace pt2onnx
