// ONNX words for symbolic functions, the same at every opset. Where opsets spell a thing differently (axes as attribute
// or input, Clip's bounds, Pad, Slice, Split ...), the difference is hidden here and nowhere else.
//
// All of them fold at once when their input is constant (through libtorch), and return the input itself when there is
// nothing to do.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pt2onnx/call.h"

namespace pt2onnx::onnx {

/// Only in constexpr tables: `unary<"Relu">`.
template <std::size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&s)[N]) {  // NOLINT
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
};

// ---- types ---------------------------------------------------------------------------------------------------------

Value cast(Call& c, Value x, DType to);
/// Constant of the same dtype as `like`, 0-d.
Value constant_like(Call& c, double value, Value like);
/// The number of a constant with one element, else nothing.
std::optional<double> constant_number(Value x);
/// A list of integers as an argument of Call::fold.
Argument int_list(std::span<const std::int64_t> ints);
/// "Open end" of a slice, as torch writes it.
inline constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// ---- shape ---------------------------------------------------------------------------------------------------------

/// To exactly that shape; one Reshape with a constant shape wherever at most one dim is symbolic (as -1) or symbolic
/// dims stay in their place (as 0).
Value reshape(Call& c, Value x, const Shape& shape);
/// To 1-d.
Value flatten_all(Call& c, Value x);
Value unsqueeze(Call& c, Value x, std::vector<std::int64_t> axes);  // axes of the result
Value squeeze(Call& c, Value x, std::vector<std::int64_t> axes);  // the caller knows that they are of size 1
Value transpose(Call& c, Value x, std::vector<std::int64_t> permutation);
/// With at least 1, 2 or 3 dims, the new ones where torch's atleast_*d puts them.
Value at_least_dims(Call& c, Value x, std::size_t rank);
/// Exchanges two axes.
Value swap_axes(Call& c, Value x, std::int64_t a, std::int64_t b);
/// Broadcasts to `shape` (which has at least the rank of x; -1 is not allowed here).
Value expand(Call& c, Value x, const Shape& shape);
Value concat(Call& c, std::vector<Value> xs, std::int64_t axis);
/// `x[..., start:end:step, ...]`; start and end are clamped by ONNX as by Python; step is positive.
Value slice(Call& c, Value x, std::int64_t axis, const Dim& start, const Dim& end, std::int64_t step = 1);
std::vector<Value> split(Call& c, Value x, std::int64_t axis, const Shape& sizes);
/// Pads per axis {before, after}; negative amounts crop. `mode`: constant, reflect, edge, wrap.
Value pad(Call& c, Value x, const std::vector<std::pair<Dim, Dim>>& pads, std::string_view mode = "constant",
          std::optional<Value> fill = std::nullopt);
/// Mirrors the axes.
Value reverse(Call& c, Value x, const std::vector<std::int64_t>& axes);
/// The part of the last two axes on and below (above, if `upper`) a diagonal; the rest becomes 0 (false).
Value trilu(Call& c, Value x, std::int64_t diagonal, bool upper);
/// bool [rows, columns]: true on and below the diagonal (`column <= row + diagonal`), or on and above if `upper`.
Value triangle(Call& c, const Dim& rows, const Dim& columns, const Dim& diagonal, bool upper);
/// One index along an axis, axis removed.
Value select(Call& c, Value x, std::int64_t axis, const Dim& index);
Value gather(Call& c, Value x, Value indices, std::int64_t axis);
Value gather_elements(Call& c, Value x, Value indices, std::int64_t axis);
/// 1-d int64 `start, start + step, ...` below `end`.
Value range(Call& c, const Dim& start, const Dim& end, std::int64_t step = 1);
/// A new symbol for the size of an axis of v that depends on data, for set_shape where inference says nothing.
Dim open_size(Call& c, Value v, std::int64_t axis, std::string_view hint);
/// A tensor of that shape filled with one value.
Value full(Call& c, const Shape& shape, const Scalar& value, DType dtype);
/// The same, in the shape of x (whose rank need not be known) and its dtype or another.
Value full_like(Call& c, Value x, const Scalar& value, std::optional<DType> dtype = std::nullopt);
/// Broadcasts to the shape of `like`, whose rank need not be known.
Value expand_as(Call& c, Value x, Value like);
/// The shape that both broadcast to.
Shape broadcast_shape(Call& c, const Shape& a, const Shape& b);

// ---- reductions (axes as attribute below 13 / 18, as input from there) ----------------------------------------------

/// `op`: "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp",
/// "ReduceSumSquare". All axes when `axes` holds all of them; none when it is empty (the input itself).
/// 0, 1, ... for every dim of x.
std::vector<std::int64_t> all_axes(Call& c, Value x);
Value reduce(Call& c, std::string_view op, Value x, std::vector<std::int64_t> axes, bool keepdims);
/// ReduceMax or ReduceMin; on bool, any or all.
Value extreme(Call& c, bool maximum, Value x, std::vector<std::int64_t> axes, bool keepdims);
Value arg_extreme(Call& c, bool maximum, Value x, std::int64_t axis, bool keepdims, bool last = false);
/// Running sum along an axis, in the dtype of x.
Value cumulative_sum(Call& c, Value x, std::int64_t axis);
/// How many elements the axes hold together, as a 0-d value of that dtype.
Value count(Call& c, Value x, const std::vector<std::int64_t>& axes, DType dtype);
/// {values, indices}; k may be symbolic.
std::pair<Value, Value> top_k(Call& c, Value x, const Dim& k, std::int64_t axis, bool largest, bool sorted);

// ---- element-wise --------------------------------------------------------------------------------------------------

// Both operands have the same dtype. On bool, `add` is or, `mul` is and, as in torch.
Value add(Call& c, Value a, Value b);
Value sub(Call& c, Value a, Value b);
Value mul(Call& c, Value a, Value b);
Value div(Call& c, Value a, Value b);  // ONNX Div: truncates integers
Value neg(Call& c, Value x);
Value abs(Call& c, Value x);  // unsigned and bool: themselves
Value exp(Call& c, Value x);
Value log(Call& c, Value x);
Value reciprocal(Call& c, Value x);
Value sigmoid(Call& c, Value x);
Value tanh(Call& c, Value x);
Value maximum(Call& c, Value a, Value b);
Value minimum(Call& c, Value a, Value b);
Value pow(Call& c, Value a, Value b);
Value sqrt(Call& c, Value x);
Value floor(Call& c, Value x);  // integers: themselves
Value ceil(Call& c, Value x);   // integers: themselves
Value trunc(Call& c, Value x);  // towards zero; integers: themselves
Value round(Call& c, Value x);  // halves to even; integers: themselves
Value sign(Call& c, Value x);
Value where(Call& c, Value condition, Value a, Value b);
Value equal(Call& c, Value a, Value b);
Value not_equal(Call& c, Value a, Value b);
Value less(Call& c, Value a, Value b);
Value greater(Call& c, Value a, Value b);
Value less_equal(Call& c, Value a, Value b);  // composed below 12, false on NaN as in torch
Value greater_equal(Call& c, Value a, Value b);
Value logical_not(Call& c, Value x);
Value logical_and(Call& c, Value a, Value b);
Value logical_or(Call& c, Value a, Value b);
/// Bounds may be absent handles.
Value clip(Call& c, Value x, Value low, Value high);
/// NaN test; false for integers.
Value is_nan(Call& c, Value x);
/// Infinity test; false for integers.
Value is_inf(Call& c, Value x, bool negative = true, bool positive = true);

// ---- linear --------------------------------------------------------------------------------------------------------

Value matmul(Call& c, Value a, Value b);
/// Softmax and LogSoftmax over one axis; below 13 the axis is moved to the end.
Value softmax(Call& c, Value x, std::int64_t axis);
Value log_softmax(Call& c, Value x, std::int64_t axis);

}  // namespace pt2onnx::onnx
