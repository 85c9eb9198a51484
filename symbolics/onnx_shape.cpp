// Words that change the shape and keep the elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "symbolics/onnx.h"

namespace pt2onnx::onnx {
namespace {

/// A constant with other dims over the same bytes.
Value redimensioned(Call& c, Value x, std::vector<std::int64_t> dims) {
  Tensor tensor = *x.constant();
  tensor.dims = std::move(dims);
  return c.constant(std::move(tensor));
}

bool same(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

/// The shape input of Reshape: numbers only, if they can say it (0 keeps a dim of x, one -1 stands for the rest).
std::optional<std::vector<std::int64_t>> reshape_numbers(const Value x, const Shape& shape) {
  const bool empty = std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d == 0; });
  std::vector<std::int64_t> numbers;
  std::vector<std::size_t> symbolic;
  for (const Dim& dim : shape) {
    if (!dim.is_static()) symbolic.push_back(numbers.size());
    numbers.push_back(dim.known().value_or(-1));
  }
  if (symbolic.empty()) return numbers;
  if (empty) return std::nullopt;  // 0 and -1 would mean something else
  if (symbolic.size() == 1) return numbers;
  std::size_t open = 0;
  for (const auto i : symbolic) {
    if (x.shape() && i < x.shape()->size() && (*x.shape())[i] == shape[i])
      numbers[i] = 0;
    else
      ++open;
  }
  if (open > 1) return std::nullopt;
  return numbers;
}

std::vector<std::int64_t> sorted_axes(Call& c, std::vector<std::int64_t> axes, std::size_t rank) {
  for (auto& axis : axes) axis = c.normalize_axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace

Value reshape(Call& c, Value x, const Shape& shape) {
  if (x.shape() && same(*x.shape(), shape)) return x;
  const auto dims = static_shape(shape);
  if (x.constant() && dims) return redimensioned(c, x, *dims);
  // All tensors without elements are alike, and below opset 14 no Reshape can make one.
  if (dims && product(shape) == 0) return c.constant(Tensor::of_bytes({}, *dims, c.dtype_of(x)));

  Attributes attributes;
  const auto numbers = reshape_numbers(x, shape);
  const bool has_zero = std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d == 0; });
  if (has_zero && c.has_opset(14)) attributes.set({"allowzero", 1});
  if (has_zero && !c.has_opset(14))
    c.needs_opset(14, "reshapes to a size of 0, which `Reshape` can say from opset 14 on");
  const Value result =
      c.op("Reshape", {x, numbers ? c.constant(*numbers) : c.shape_value(shape)}, attributes);
  c.set_shape(result, shape);
  return result;
}

Value flatten_all(Call& c, Value x) {
  if (x.shape()) return reshape(c, x, {product(*x.shape())});
  return c.op("Reshape", {x, c.constant({-1})});
}

Value unsqueeze(Call& c, Value x, std::vector<std::int64_t> axes) {
  if (axes.empty()) return x;
  axes = sorted_axes(c, std::move(axes), c.rank(x) + axes.size());
  Shape shape = c.shape(x);
  for (const auto axis : axes) shape.insert(shape.begin() + axis, 1);
  if (x.constant()) return redimensioned(c, x, *static_shape(shape));
  const Value result =
      c.has_opset(13) ? c.op("Unsqueeze", {x, c.constant(axes)}) : c.op("Unsqueeze", {x}, {{"axes", axes}});
  c.set_shape(result, shape);
  return result;
}

Value squeeze(Call& c, Value x, std::vector<std::int64_t> axes) {
  if (axes.empty()) return x;
  axes = sorted_axes(c, std::move(axes), c.rank(x));
  Shape shape = c.shape(x);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) shape.erase(shape.begin() + *axis);
  if (x.constant()) return redimensioned(c, x, *static_shape(shape));
  const Value result =
      c.has_opset(13) ? c.op("Squeeze", {x, c.constant(axes)}) : c.op("Squeeze", {x}, {{"axes", axes}});
  c.set_shape(result, shape);
  return result;
}

Value transpose(Call& c, Value x, std::vector<std::int64_t> permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  if (const auto folded = c.fold("aten::permute", {x, int_list(permutation)})) return *folded;
  return c.op("Transpose", {x}, {{"perm", permutation}});
}

Value at_least_dims(Call& c, Value x, std::size_t rank) {
  const Shape from = c.sizes_of(x);
  if (from.size() >= rank) return x;
  if (rank == 1) return reshape(c, x, {1});
  const Dim first = from.empty() ? Dim(1) : from[0];
  if (rank == 2) return reshape(c, x, {1, first});
  if (from.size() < 2) return reshape(c, x, {1, first, 1});
  return unsqueeze(c, x, {2});
}

Value swap_axes(Call& c, Value x, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> permutation(c.rank(x));
  std::iota(permutation.begin(), permutation.end(), 0);
  a = c.normalize_axis(a, permutation.size());
  b = c.normalize_axis(b, permutation.size());
  if (a == b) return x;
  std::swap(permutation[static_cast<std::size_t>(a)], permutation[static_cast<std::size_t>(b)]);
  return transpose(c, x, std::move(permutation));
}

Value expand(Call& c, Value x, const Shape& shape) {
  const Shape from = c.shape(x);
  if (same(from, shape)) return x;
  if (from.size() > shape.size())
    c.reject(fmt::format("a tensor of {} dims where {} are needed, which libtorch refuses", from.size(),
                         shape.size()));
  // A dim that stays may be 1 in the shape input, since Expand broadcasts both ways: so few symbolic sizes remain.
  Shape to = shape;
  const std::size_t lead = shape.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == shape[lead + i]) to[lead + i] = 1;
  const Value result = c.op("Expand", {x, c.shape_value(to)});
  c.set_shape(result, shape);
  return result;
}

Shape broadcast_shape(Call& c, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Dim& dim = shape[lead + i];
    const Dim& other = shorter[i];
    if (dim == other || other == 1) continue;
    if (dim == 1 || (!dim.is_static() && other.is_static())) {
      dim = other;  // a number other than 1 wins over a symbol, which must equal it or be 1
    } else if (dim.is_static() && other.is_static()) {
      c.reject("shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    } else {
      dim = max(dim, other);  // they are equal, or one of them is 1
    }
  }
  return shape;
}

}  // namespace pt2onnx::onnx
