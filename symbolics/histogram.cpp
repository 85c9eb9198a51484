// Counts of elements by bins.
#include "blocks.h"
#include "onnx.h"
#include "tables.h"

namespace pt2onnx {
namespace {

/// For each of `bins`, the sum of the weights of the entries whose place it is, or their number. Places from 0 on; those
/// that are no bin's are left out where `outliers` says that there may be any: they are `bins` then.
Value tally(Call& c, Value places, const Dim& bins, Value weights, DType dtype, bool outliers) {
  if (c.has_opset(16)) {
    const Value counts = onnx::full(c, {bins + (outliers ? 1 : 0)}, 0, dtype);
    const Value shares = weights ? onnx::cast(c, weights, dtype) : onnx::full_like(c, places, 1, dtype);
    const Value all =
        c.op("ScatterElements", {counts, places, shares}, {{"axis", 0}, {"reduction", std::string("add")}});
    return outliers ? onnx::slice(c, all, 0, 0, bins) : all;
  }
  const Value hits =
      onnx::equal(c, onnx::unsqueeze(c, places, {1}), onnx::unsqueeze(c, onnx::range(c, 0, bins), {0}));
  Value shares = onnx::cast(c, hits, dtype);
  if (weights) shares = onnx::mul(c, shares, onnx::unsqueeze(c, onnx::cast(c, weights, dtype), {1}));
  return onnx::reduce(c, "ReduceSum", shares, {0}, false);
}

// aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor
Results bincount(Call& c) {
  const Value x = onnx::cast(c, c.tensor("self"), DType::Int64);
  const Value weights = c.optional_tensor("weights");
  const Dim least = c.size("minlength");
  if (c.size_of(x, 0) == 0) return onnx::full(c, {least}, 0, weights ? DType::Float64 : DType::Int64);
  const Dim bins = max(c.dim_from(onnx::reduce(c, "ReduceMax", x, {0}, false), "bins") + 1, least);
  DType dtype = DType::Int64;
  if (weights) dtype = c.dtype_of(weights) == DType::Float32 ? DType::Float32 : DType::Float64;
  return tally(c, x, bins, weights, dtype, false);
}

/// The ends of the range: as given, or those of the data; a range of one point is widened by 1 on both sides.
std::pair<Value, Value> ends_of_range(Call& c, Value x) {
  const double low = c.number("min"), high = c.number("max");
  if (low != high) return {onnx::constant_like(c, low, x), onnx::constant_like(c, high, x)};
  const Value least = onnx::reduce(c, "ReduceMin", x, {0}, false);
  const Value most = onnx::reduce(c, "ReduceMax", x, {0}, false);
  const Value extra = onnx::cast(c, onnx::equal(c, least, most), c.dtype_of(x));
  return {onnx::sub(c, least, extra), onnx::add(c, most, extra)};
}

// aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor
Results histc(Call& c) {
  const Value x = onnx::flatten_all(c, c.tensor("self"));
  const std::int64_t bins = c.integer("bins");
  const DType dtype = c.dtype_of(x);
  if (!is_floating(dtype)) c.reject("counts whole numbers", "cast to float before");
  if (c.size_of(x, 0) == 0) return onnx::full(c, {bins}, 0, dtype);
  const auto [low, high] = ends_of_range(c, x);
  const Value inside =
      onnx::logical_and(c, onnx::greater_equal(c, x, low), onnx::less_equal(c, x, high));  // false for NaN
  const Value scaled =
      onnx::div(c, onnx::mul(c, onnx::sub(c, x, low), onnx::constant_like(c, static_cast<double>(bins), x)),
                onnx::sub(c, high, low));
  // The upper end belongs to the last bin. What is outside is replaced before it becomes an integer.
  const Value kept = onnx::where(c, inside, scaled, onnx::constant_like(c, 0, x));
  const Value place = onnx::minimum(c, onnx::cast(c, kept, DType::Int64),
                                    c.constant(static_cast<double>(bins - 1), DType::Int64));
  const Value bin = onnx::where(c, inside, place, c.constant(static_cast<double>(bins), DType::Int64));
  return tally(c, bin, bins, {}, dtype, true);
}

constexpr Entry kTable[] = {
    {"aten::bincount", 9, bincount},
    {"aten::histc", 9, histc},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> histogram_table() { return kTable; }

}  // namespace pt2onnx
