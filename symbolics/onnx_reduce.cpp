// Reductions, extremes and running sums.
#include <algorithm>
#include <numeric>

#include "symbolics/onnx.h"

namespace pt2onnx::onnx {
namespace {

Shape reduced_shape(Shape shape, const std::vector<std::int64_t>& axes, bool keepdims) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (keepdims)
      shape[static_cast<std::size_t>(*axis)] = 1;
    else
      shape.erase(shape.begin() + *axis);
  }
  return shape;
}

/// What a reduction does to a single element.
Value of_one_element(Call& c, std::string_view op, Value x) {
  if (op == "ReduceL1" || op == "ReduceL2") return abs(c, x);
  if (op == "ReduceSumSquare") return mul(c, x, x);
  return x;
}

/// {x with at least one dim, whether that dim was added}.
std::pair<Value, bool> at_least_1d(Call& c, Value x) {
  if (c.rank(x) > 0) return {x, false};
  return {reshape(c, x, {1}), true};
}

}  // namespace

Value reduce(Call& c, std::string_view op, Value x, std::vector<std::int64_t> axes, bool keepdims) {
  const std::size_t rank = c.rank(x);
  for (auto& axis : axes) axis = c.normalize_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (rank == 0 || axes.empty()) return of_one_element(c, op, x);

  const Shape shape = reduced_shape(c.shape(x), axes, keepdims);
  const auto is_empty = [&](std::int64_t axis) { return c.shape(x)[static_cast<std::size_t>(axis)] == 0; };
  if (op == "ReduceMean" && std::any_of(axes.begin(), axes.end(), is_empty))
    return full(c, shape, std::numeric_limits<double>::quiet_NaN(), c.dtype_of(x));  // ONNX Runtime says 0

  Attributes attributes{{"keepdims", keepdims}};
  std::vector<Value> inputs{x};
  const bool as_input = c.has_opset(op == "ReduceSum" ? 13 : 18);
  if (axes.size() < rank) {
    if (as_input)
      inputs.push_back(c.constant(axes));
    else
      attributes.set({"axes", axes});
  }
  const Value result = c.op(op, inputs, attributes);
  c.set_shape(result, shape);
  return result;
}

std::vector<std::int64_t> all_axes(Call& c, Value x) {
  std::vector<std::int64_t> axes(c.rank(x));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Value extreme(Call& c, bool maximum, Value x, std::vector<std::int64_t> axes, bool keepdims) {
  const std::string_view op = maximum ? "ReduceMax" : "ReduceMin";
  if (c.dtype_of(x) != DType::Bool || c.has_opset(20)) return reduce(c, op, x, std::move(axes), keepdims);
  return cast(c, reduce(c, op, cast(c, x, DType::Int32), std::move(axes), keepdims), DType::Bool);
}

Value count(Call& c, Value x, const std::vector<std::int64_t>& axes, DType dtype) {
  Dim total = 1;
  if (c.rank(x) > 0)
    for (const auto axis : axes) total = total * c.size_of(x, axis);
  return c.scalar_value(Scalar(total), dtype);
}

Value arg_extreme(Call& c, bool maximum, Value x, std::int64_t axis, bool keepdims, bool last) {
  if (c.rank(x) == 0) return c.constant(0, DType::Int64);
  axis = c.normalize_axis(axis, c.rank(x));
  Attributes attributes{{"axis", axis}, {"keepdims", keepdims}};
  if (last) {
    if (!c.has_opset(12)) c.needs_opset(12, "asks for the last of equal elements");
    attributes.set({"select_last_index", 1});
  }
  const Shape shape = reduced_shape(c.shape(x), {axis}, keepdims);
  const Value result = c.op(maximum ? "ArgMax" : "ArgMin", {x}, attributes);
  c.set_shape(result, shape);
  return result;
}

Value cumulative_sum(Call& c, Value x, std::int64_t axis) {
  if (c.rank(x) == 0) return x;
  axis = c.normalize_axis(axis, c.rank(x));
  if (c.has_opset(11)) {
    const Value result = c.op("CumSum", {x, c.constant(static_cast<double>(axis), DType::Int64)});
    c.set_shape(result, c.shape(x));
    return result;
  }
  // A product with a triangle of ones along the last axis.
  const auto last = static_cast<std::int64_t>(c.rank(x)) - 1;
  const Dim size = c.size_of(x, axis);
  const Value ones = cast(c, triangle(c, size, size, 0, true), c.dtype_of(x));
  Value moved = swap_axes(c, x, axis, last);
  if (last == 0) moved = unsqueeze(c, moved, {0});
  Value sums = matmul(c, moved, ones);
  if (last == 0) sums = squeeze(c, sums, {0});
  return swap_axes(c, sums, axis, last);
}

std::pair<Value, Value> top_k(Call& c, Value x, const Dim& k, std::int64_t axis, bool largest, bool sorted) {
  const auto [source, added] = at_least_1d(c, x);
  axis = c.normalize_axis(axis, c.rank(source));
  Shape shape = c.shape(source);
  shape[static_cast<std::size_t>(axis)] = k;

  std::vector<Value> results;
  if (c.has_opset(11)) {
    results = c.op("TopK", 2, {source, c.shape_value({k})},
                   {{"axis", axis}, {"largest", largest}, {"sorted", sorted}});
  } else {
    // Only the largest can be asked for here.
    const Value signed_source = largest ? source : neg(c, source);
    if (c.has_opset(10)) {
      results = c.op("TopK", 2, {signed_source, c.shape_value({k})}, {{"axis", axis}});
    } else {
      if (!k.is_static())
        c.needs_opset(10, "`TopK` takes a number of elements that is not known at export from 10 on");
      results = c.op("TopK", 2, {signed_source}, {{"axis", axis}, {"k", *k.known()}});
    }
    if (!largest) results[0] = neg(c, results[0]);
  }
  for (const Value v : results) c.set_shape(v, shape);
  if (!added) return {results[0], results[1]};
  return {reshape(c, results[0], {}), reshape(c, results[1], {})};
}

}  // namespace pt2onnx::onnx
