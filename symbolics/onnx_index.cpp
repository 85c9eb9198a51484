// Words that take parts of tensors or join them.
#include <algorithm>

#include "symbolics/onnx.h"

namespace pt2onnx::onnx {
namespace {

/// Where a slice bound lands in [0, size]; nullopt when its sign is not known.
std::optional<Dim> clamped(const Dim& bound, const Dim& size) {
  if (const auto known = bound.known()) {
    if (*known == kEnd) return size;
    return *known >= 0 ? min(bound, size) : max(size + bound, 0);
  }
  if (bound.lower_bound().value_or(-1) >= 0) return min(bound, size);
  return std::nullopt;
}

bool all_constant(const std::vector<Value>& xs) {
  return std::all_of(xs.begin(), xs.end(), [](Value x) { return x.constant() != nullptr; });
}

Value slice_node(Call& c, Value x, std::int64_t axis, const Dim& start, const Dim& end, std::int64_t step) {
  if (c.has_opset(10)) {
    std::vector<Value> inputs{x, c.shape_value({start}), c.shape_value({end}), c.constant({axis})};
    if (step != 1) inputs.push_back(c.constant({step}));
    return c.op("Slice", inputs);
  }
  if (step == 1 && start.is_static() && end.is_static()) {
    using Ints = std::vector<std::int64_t>;
    return c.op("Slice", {x},
                {{"starts", Ints{*start.known()}}, {"ends", Ints{*end.known()}}, {"axes", Ints{axis}}});
  }
  const Dim size = c.size_of(x, axis);
  const auto first = clamped(start, size);
  const auto last = clamped(end, size);
  if (!first || !last) c.needs_opset(10, "slices at a place whose sign is not known");
  return gather(c, x, range(c, *first, *last, step), axis);
}

Value reverse_axis(Call& c, Value x, std::int64_t axis) {
  if (c.has_opset(10))
    return c.op("Slice", {x, c.constant({-1}), c.constant({std::numeric_limits<std::int64_t>::min() + 1}),
                          c.constant({axis}), c.constant({-1})});
  const Dim size = c.size_of(x, axis);
  return gather(c, x, sub(c, c.size_value(size - 1), range(c, 0, size)), axis);
}

/// Pad, once nothing is cropped.
Value pad_node(Call& c, Value x, const Shape& amounts, std::string_view mode, std::optional<Value> fill) {
  const bool empty = x.shape() && product(*x.shape()) == 0;  // of which ONNX Runtime does not know this mode
  if (mode == "wrap" && (!c.has_opset(19) || empty)) {
    // Ends and beginnings of the tensor itself, joined.
    const std::size_t rank = amounts.size() / 2;
    for (std::size_t i = 0; i < rank; ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      std::vector<Value> parts{x};
      if (amounts[i] != 0)
        parts.insert(parts.begin(), slice(c, x, axis, c.size_of(x, axis) - amounts[i], kEnd));
      if (amounts[rank + i] != 0) parts.push_back(slice(c, x, axis, 0, amounts[rank + i]));
      x = concat(c, parts, axis);
    }
    return x;
  }
  if (c.has_opset(11)) {
    std::vector<Value> inputs{x, c.shape_value(amounts)};
    if (fill) inputs.push_back(*fill);
    return c.op("Pad", inputs, {{"mode", mode}});
  }
  const auto known = static_shape(amounts);
  if (!known) c.needs_opset(11, "pads by an amount that is not known at export");
  Attributes attributes{{"mode", mode}, {"pads", *known}};
  if (fill) {
    const auto number = constant_number(*fill);
    if (!number) c.needs_opset(11, "pads with a value that is not known at export");
    attributes.set({"value", *number});
  }
  return c.op("Pad", {x}, attributes);
}

}  // namespace

Value concat(Call& c, std::vector<Value> xs, std::int64_t axis) {
  if (xs.empty()) c.reject("joins an empty list");
  if (xs.size() == 1) return xs.front();
  axis = c.normalize_axis(axis, c.rank(xs.front()));
  if (all_constant(xs))
    if (const auto folded = c.fold("aten::cat", {Argument(xs), Scalar(axis)})) return *folded;
  const Value result = c.op("Concat", xs, {{"axis", axis}});
  Dim total = 0;
  for (const Value x : xs) total = total + c.shape(x)[static_cast<std::size_t>(axis)];
  Shape shape = c.shape(xs.front());
  shape[static_cast<std::size_t>(axis)] = total;
  c.set_shape(result, shape);
  return result;
}

Value slice(Call& c, Value x, std::int64_t axis, const Dim& start, const Dim& end, std::int64_t step) {
  if (step <= 0) c.reject("slices by a step that is not positive");
  axis = c.normalize_axis(axis, c.rank(x));
  const Dim size = c.shape(x)[static_cast<std::size_t>(axis)];
  const auto first = clamped(start, size);
  const auto last = clamped(end, size);
  if (step == 1 && first && last && *first == 0 && *last == size) return x;
  if (x.constant() && start.is_static() && end.is_static()) {
    const auto folded =
        c.fold("aten::slice.Tensor", {x, Scalar(axis), Scalar(start), Scalar(end), Scalar(step)});
    if (folded) return *folded;
  }
  const Value result = slice_node(c, x, axis, start, end, step);
  if (first && last) {
    Shape shape = c.shape(x);
    shape[static_cast<std::size_t>(axis)] = max(ceil_div(*last - *first, step), 0);
    c.set_shape(result, shape);
  }
  return result;
}

std::vector<Value> split(Call& c, Value x, std::int64_t axis, const Shape& sizes) {
  axis = c.normalize_axis(axis, c.rank(x));
  if (sizes.size() == 1) return {x};
  const auto known = static_shape(sizes);
  std::vector<Value> parts;
  if (x.constant() || (!known && !c.has_opset(13))) {
    Dim start = 0;
    for (const Dim& size : sizes) {
      parts.push_back(slice(c, x, axis, start, start + size));
      start = start + size;
    }
    return parts;
  }
  if (c.has_opset(13))
    parts = c.op("Split", sizes.size(), {x, c.shape_value(sizes)}, {{"axis", axis}});
  else
    parts = c.op("Split", sizes.size(), {x}, {{"axis", axis}, {"split", *known}});
  Shape shape = c.shape(x);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[static_cast<std::size_t>(axis)] = sizes[i];
    c.set_shape(parts[i], shape);
  }
  return parts;
}

Value pad(Call& c, Value x, const std::vector<std::pair<Dim, Dim>>& pads, std::string_view mode,
          std::optional<Value> fill) {
  const auto crops = [](const Dim& d) { return d.known().value_or(0) < 0; };
  const auto cropped = [&](Value v) {
    for (std::size_t i = 0; i < pads.size(); ++i) {
      const auto& [low, high] = pads[i];
      v = slice(c, v, static_cast<std::int64_t>(i), crops(low) ? -low : Dim(0),
                crops(high) ? high : Dim(kEnd));
    }
    return v;
  };
  // Mirrored and repeated elements are those of the whole tensor, so these modes crop last.
  const bool crop_last = mode == "reflect" || mode == "edge";
  if (!crop_last) x = cropped(x);

  Shape before, after, shape = c.shape(x);
  bool nothing = true;
  for (std::size_t i = 0; i < c.rank(x); ++i) {
    before.push_back(crops(pads.at(i).first) ? Dim(0) : pads[i].first);
    after.push_back(crops(pads[i].second) ? Dim(0) : pads[i].second);
    nothing = nothing && before[i] == 0 && after[i] == 0;
    shape[i] = shape[i] + before[i] + after[i];
  }
  if (!nothing) {
    before.insert(before.end(), after.begin(), after.end());
    x = pad_node(c, x, before, mode, fill);
    c.set_shape(x, shape);
  }
  return crop_last ? cropped(x) : x;
}

Value reverse(Call& c, Value x, const std::vector<std::int64_t>& axes) {
  if (axes.empty() || c.rank(x) == 0) return x;
  if (const auto folded = c.fold("aten::flip", {x, int_list(axes)})) return *folded;
  const Shape shape = c.shape(x);
  Value result = x;
  for (const auto axis : axes) {
    result = reverse_axis(c, result, c.normalize_axis(axis, shape.size()));
    c.set_shape(result, shape);
  }
  return result;
}

Value select(Call& c, Value x, std::int64_t axis, const Dim& index) {
  axis = c.normalize_axis(axis, c.rank(x));
  const Dim size = c.shape(x)[static_cast<std::size_t>(axis)];
  const auto known = index.known();
  if (known && size.is_static() && (*known < -*size.known() || *known >= *size.known()))
    c.reject("index " + index.str() + " is out of range for a dim of size " + size.str());
  if (size == 1 && known) return squeeze(c, x, {axis});
  if (x.constant() && known)
    if (const auto folded = c.fold("aten::select.int", {x, Scalar(axis), Scalar(index)})) return *folded;
  // Counting from the end is in the standard from 11 on; where the size is known it is not needed anyway.
  const bool from_end = known.value_or(0) < 0;
  const Dim place = from_end && (size.is_static() || !c.has_opset(11)) ? index + size : index;
  const Value result = c.op("Gather", {x, c.size_value(place)}, {{"axis", axis}});
  Shape shape = c.shape(x);
  shape.erase(shape.begin() + axis);
  c.set_shape(result, shape);
  return result;
}

Value gather(Call& c, Value x, Value indices, std::int64_t axis) {
  axis = c.normalize_axis(axis, c.rank(x));
  const Value result = c.op("Gather", {x, indices}, {{"axis", axis}});
  if (x.shape() && indices.shape()) {
    Shape shape = *x.shape();
    const auto at = shape.erase(shape.begin() + axis);
    shape.insert(at, indices.shape()->begin(), indices.shape()->end());
    c.set_shape(result, shape);
  }
  return result;
}

Value gather_elements(Call& c, Value x, Value indices, std::int64_t axis) {
  if (!c.has_opset(11)) c.needs_opset(11, "`GatherElements` exists from opset 11 on");
  const Value result = c.op("GatherElements", {x, indices}, {{"axis", c.normalize_axis(axis, c.rank(x))}});
  if (indices.shape()) c.set_shape(result, *indices.shape());
  return result;
}

}  // namespace pt2onnx::onnx
