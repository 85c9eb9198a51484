// Pooling. torch and ONNX differ in what a window sees beyond the border: torch drops a window that starts in the end
// padding, and its average over a window in `ceil_mode` never counts cells beyond the padding. So where the sizes are
// known, the end padding that a ceiling needs is written out and `ceil_mode` is not used.
#include <algorithm>
#include <numeric>

#include "promotion.h"
#include "spatial.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::mul;

struct Pool {
  std::size_t spatial = 0;
  std::vector<std::int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;

  std::int64_t reach(std::size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
};

Pool read_pool(Call& c, std::size_t spatial) {
  Pool pool;
  pool.spatial = spatial;
  pool.kernel = c.ints("kernel_size", spatial);
  pool.stride = c.ints("stride").empty() ? pool.kernel : c.ints("stride", spatial);
  pool.padding = c.ints("padding", spatial);
  pool.dilation = c.has("dilation") ? c.ints("dilation", spatial) : std::vector<std::int64_t>(spatial, 1);
  pool.ceil_mode = c.flag("ceil_mode");
  return pool;
}

/// How many windows torch takes along spatial axis i.
Dim windows(const Pool& pool, std::size_t i, const Dim& size) {
  const auto stride = pool.stride[i];
  const auto padding = pool.padding[i];
  const auto room = size + (2 * padding - pool.reach(i));
  if (!pool.ceil_mode) return floor_div(room, stride) + 1;
  const auto ceiling = floor_div(room + (stride - 1), stride) + 1;
  if (pool.reach(i) >= padding + stride) return ceiling;  // then no window can start in the end padding
  return min(ceiling, floor_div(size + (padding - 1), stride) + 1);
}

Shape pooled_shape(const Pool& pool, const Shape& input) {
  Shape shape = input;
  for (std::size_t i = 0; i < pool.spatial; ++i) shape[i + 2] = windows(pool, i, input[i + 2]);
  return shape;
}

/// The end padding with which a flooring pool takes torch's windows; nullopt where a size is not known, and where
/// ONNX Runtime would not take so much padding (a dilated window).
std::optional<std::vector<std::int64_t>> end_padding(const Pool& pool, const Shape& input) {
  if (!pool.ceil_mode) return pool.padding;
  std::vector<std::int64_t> after;
  for (std::size_t i = 0; i < pool.spatial; ++i) {
    const auto size = input[i + 2].known();
    if (!size) return std::nullopt;
    const auto count = *windows(pool, i, *size).known();
    const auto needed = (count - 1) * pool.stride[i] + pool.reach(i) - *size - pool.padding[i];
    after.push_back(std::max(pool.padding[i], needed));
    if (after.back() >= pool.kernel[i] && after.back() > pool.padding[i]) return std::nullopt;
  }
  return after;
}

// ---- max -----------------------------------------------------------------------------------------------------------

struct MaxPool {
  Value values, indices;
};

/// ONNX counts indices through the whole tensor, torch within each plane.
Value plane_indices(Call& c, Value indices, const Shape& input) {
  const auto plane = c.size_value(product(Shape(input.begin() + 2, input.end())));
  if (c.has_opset(10)) return c.op("Mod", {indices, plane});
  return onnx::sub(c, indices, mul(c, onnx::div(c, indices, plane), plane));
}

MaxPool emit_max_pool(Call& c, Value x, const Pool& pool, bool with_indices) {
  const auto sizes = c.sizes_of(x);
  Attributes attributes{{"kernel_shape", pool.kernel}, {"strides", pool.stride}};
  if (const auto after = end_padding(pool, sizes)) {
    attributes.set({"pads", joined(pool.padding, *after)});
  } else {
    if (!c.has_opset(10)) c.needs_opset(10, "`ceil_mode` with a size that is not known");
    attributes.set({"pads", joined(pool.padding, pool.padding)});
    attributes.set({"ceil_mode", 1});
  }
  if (std::ranges::any_of(pool.dilation, [](auto d) { return d != 1; })) {
    if (!c.has_opset(10)) c.needs_opset(10, "a dilated window");
    attributes.set({"dilations", pool.dilation});
  }
  const auto results = c.op("MaxPool", with_indices ? 2 : 1, {x}, attributes);
  for (const auto result : results) c.set_shape(result, pooled_shape(pool, sizes));
  return {results[0], with_indices ? plane_indices(c, results[1], sizes) : Value()};
}

// aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
//                  bool ceil_mode=False) -> Tensor
template <std::size_t Spatial>
Results max_pool(Call& c) {
  const auto x = with_batch(c, c.tensor("self"), Spatial);
  return x.restore(c, emit_max_pool(c, x.value, read_pool(c, Spatial), false).values);
}

// aten::max_pool2d_with_indices(...) -> (Tensor, Tensor)
template <std::size_t Spatial>
Results max_pool_with_indices(Call& c) {
  const auto x = with_batch(c, c.tensor("self"), Spatial);
  const auto result = emit_max_pool(c, x.value, read_pool(c, Spatial), true);
  return {x.restore(c, result.values), x.restore(c, result.indices)};
}

// ---- average -------------------------------------------------------------------------------------------------------

Value zero_padded(Call& c, Value x, const std::vector<std::int64_t>& before,
                  const std::vector<std::int64_t>& after) {
  std::vector<std::pair<Dim, Dim>> pads(2, {0, 0});
  for (std::size_t i = 0; i < before.size(); ++i) pads.emplace_back(before[i], after[i]);
  return onnx::pad(c, x, pads);
}

Value average(Call& c, Value x, const Pool& pool, const std::vector<std::int64_t>& before,
              const std::vector<std::int64_t>& after, bool count_padding) {
  return c.op("AveragePool", {x},
              {{"kernel_shape", pool.kernel},
               {"strides", pool.stride},
               {"pads", joined(before, after)},
               {"count_include_pad", count_padding ? 1 : 0}});
}

/// Cuts the spatial dims to `shape`: windows that torch does not take.
Value cropped(Call& c, Value y, const Shape& shape) {
  for (std::size_t i = 2; i < shape.size(); ++i)
    if (y.shape() && provably_equal((*y.shape())[i], shape[i]) != true)
      y = onnx::slice(c, y, static_cast<std::int64_t>(i), 0, shape[i]);
  return y;
}

/// Every window's sum divided by one number.
Value average_by_divisor(Call& c, Value x, const Pool& pool, double divisor) {
  const auto sizes = c.sizes_of(x);
  const std::vector<std::int64_t> none(pool.spatial, 0);
  auto after = pool.padding;
  if (const auto exact = end_padding(pool, sizes)) {
    after = *exact;
  } else {
    for (std::size_t i = 0; i < pool.spatial; ++i) after[i] += pool.stride[i] - 1;
  }
  const auto dtype = c.dtype_of(x);
  const bool integers = !is_floating(dtype);
  if (integers) x = onnx::cast(c, x, DType::Float32);
  auto y = average(c, zero_padded(c, x, pool.padding, after), pool, none, none, true);
  y = cropped(c, y, pooled_shape(pool, sizes));
  const auto cells = std::accumulate(pool.kernel.begin(), pool.kernel.end(), 1.0, std::multiplies<>());
  if (!integers) return mul(c, y, onnx::constant_like(c, cells / divisor, y));
  // Integers are divided as such, towards zero.
  const auto sums = onnx::cast(c, onnx::round(c, mul(c, y, onnx::constant_like(c, cells, y))), dtype);
  return onnx::div(c, sums, onnx::constant_like(c, divisor, sums));
}

Value emit_average_pool(Call& c, Value x, const Pool& pool, bool count_padding) {
  const auto sizes = c.sizes_of(x);
  const auto shape = pooled_shape(pool, sizes);
  const std::vector<std::int64_t> none(pool.spatial, 0);
  const auto after = end_padding(pool, sizes);

  Value y;
  if (after == pool.padding) {  // no window reaches beyond the padding
    y = average(c, x, pool, pool.padding, pool.padding, count_padding && pool.padding != none);
  } else if (after && (!count_padding || pool.padding == none)) {
    y = average(c, x, pool, pool.padding, *after, false);
  } else {
    // Cells of the padding count, those beyond do not: the padding becomes part of the tensor.
    const bool padded = count_padding && pool.padding != none;
    if (padded) x = zero_padded(c, x, pool.padding, pool.padding);
    const auto before = padded ? none : pool.padding;
    if (after) {
      std::vector<std::int64_t> beyond;
      for (std::size_t i = 0; i < pool.spatial; ++i) beyond.push_back((*after)[i] - pool.padding[i]);
      y = average(c, x, pool, before, beyond, false);
    } else {
      if (!c.has_opset(10)) c.needs_opset(10, "`ceil_mode` with a size that is not known");
      y = c.op("AveragePool", {x},
               {{"kernel_shape", pool.kernel},
                {"strides", pool.stride},
                {"pads", joined(before, before)},
                {"count_include_pad", 0},
                {"ceil_mode", 1}});
      y = cropped(c, y, shape);
    }
  }
  c.set_shape(y, shape);
  return y;
}

// aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
//                  bool count_include_pad=True, int? divisor_override=None) -> Tensor
template <std::size_t Spatial>
Results avg_pool(Call& c) {
  const auto x = with_batch(c, c.tensor("self"), Spatial);
  const auto pool = read_pool(c, Spatial);
  const auto divisor = c.has("divisor_override") ? c.optional_integer("divisor_override") : std::nullopt;
  if (divisor) return x.restore(c, average_by_divisor(c, x.value, pool, static_cast<double>(*divisor)));
  return x.restore(c, emit_average_pool(c, x.value, pool, c.flag("count_include_pad")));
}

// ---- adaptive ------------------------------------------------------------------------------------------------------

/// An adaptive pool with known output sizes; along axis i, window w covers [floor(w * in / out), ceil((w + 1) * in / out)).
struct Adaptive {
  Batched x;
  Shape input;   // [N, C, spatial...]
  Shape output;  // spatial only
  std::size_t spatial() const { return output.size(); }
  const Dim& in(std::size_t i) const { return input[i + 2]; }

  bool to_one() const {
    return std::ranges::all_of(output, [](const Dim& d) { return d == Dim(1); });
  }

  /// Kernel of an ordinary pool with stride = kernel, where every axis divides evenly.
  std::optional<std::vector<std::int64_t>> even_kernel() const {
    std::vector<std::int64_t> kernel;
    for (std::size_t i = 0; i < spatial(); ++i) {
      const auto size = in(i).known();
      const auto count = output[i].known();
      if (in(i) == output[i]) {
        kernel.push_back(1);
      } else if (size && count && *count > 0 && *size % *count == 0) {
        kernel.push_back(*size / *count);
      } else {
        return std::nullopt;
      }
    }
    return kernel;
  }

  Dim start(std::size_t i, std::int64_t window) const { return floor_div(in(i)*window, output[i]); }
  Dim end(std::size_t i, std::int64_t window) const { return ceil_div(in(i) * (window + 1), output[i]); }
};

Adaptive read_adaptive(Call& c, std::size_t spatial) {
  Adaptive pool;
  pool.x = with_batch(c, c.tensor("self"), spatial);
  pool.input = c.sizes_of(pool.x.value);
  pool.output = c.sizes("output_size");
  if (pool.output.size() == 1) pool.output.resize(spatial, pool.output[0]);
  if (pool.output.size() != spatial)
    c.reject("`output_size` has " + std::to_string(pool.output.size()) + " entries, not " +
             std::to_string(spatial));
  return pool;
}

std::int64_t window_count(Call& c, const Adaptive& pool, std::size_t i) {
  const auto count = pool.output[i].known();
  if (!count) c.reject("an output size that is not known and differs from the input size");
  constexpr std::int64_t kMost = 256;
  if (*count > kMost)
    c.reject("an output size of " + std::to_string(*count) + " that does not divide the input size");
  return *count;
}

/// One axis after another, each a concatenation of reduced slices.
Value adaptive_by_slices(Call& c, const Adaptive& pool, std::string_view reduction) {
  auto y = pool.x.value;
  for (std::size_t i = 0; i < pool.spatial(); ++i) {
    if (pool.in(i) == pool.output[i]) continue;
    const auto axis = static_cast<std::int64_t>(i) + 2;
    std::vector<Value> cells;
    const auto count = window_count(c, pool, i);
    for (std::int64_t w = 0; w < count; ++w)
      cells.push_back(onnx::reduce(c, reduction, onnx::slice(c, y, axis, pool.start(i, w), pool.end(i, w)),
                                   {axis}, true));
    y = onnx::concat(c, cells, axis);
  }
  return y;
}

/// Averaging along one axis with known sizes is a product with a constant matrix.
Value averaged_axis(Call& c, Value y, const Adaptive& pool, std::size_t i) {
  const auto in = *pool.in(i).known();
  const auto out = *pool.output[i].known();
  std::vector<double> weights(static_cast<std::size_t>(in * out), 0.0);
  for (std::int64_t w = 0; w < out; ++w) {
    const auto start = *pool.start(i, w).known();
    const auto end = *pool.end(i, w).known();
    for (auto k = start; k < end; ++k)
      weights[static_cast<std::size_t>(k * out + w)] = 1.0 / static_cast<double>(end - start);
  }
  const auto matrix = c.constant(Tensor::of_doubles(weights, {in, out}, c.dtype_of(y)));
  const auto axis = static_cast<std::int64_t>(i) + 2;
  const auto last = static_cast<std::int64_t>(pool.spatial()) + 1;
  return onnx::swap_axes(c, onnx::matmul(c, onnx::swap_axes(c, y, axis, last), matrix), axis, last);
}

// aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor
template <std::size_t Spatial>
Results adaptive_avg_pool(Call& c) {
  const auto pool = read_adaptive(c, Spatial);
  const auto x = pool.x.value;
  if (pool.to_one()) return pool.x.restore(c, c.op("GlobalAveragePool", {x}));
  if (const auto kernel = pool.even_kernel()) {
    if (std::ranges::all_of(*kernel, [](auto k) { return k == 1; })) return pool.x.restore(c, x);
    const auto y = c.op("AveragePool", {x}, {{"kernel_shape", *kernel}, {"strides", *kernel}});
    Shape shape(pool.input.begin(), pool.input.begin() + 2);
    shape.insert(shape.end(), pool.output.begin(), pool.output.end());
    c.set_shape(y, shape);
    return pool.x.restore(c, y);
  }
  const bool known = std::ranges::all_of(pool.input.begin() + 2, pool.input.end(), &Dim::is_static) &&
                     std::ranges::all_of(pool.output, &Dim::is_static);
  if (!known) return pool.x.restore(c, adaptive_by_slices(c, pool, "ReduceMean"));
  auto y = x;
  for (std::size_t i = 0; i < Spatial; ++i)
    if (pool.in(i) != pool.output[i]) y = averaged_axis(c, y, pool, i);
  return pool.x.restore(c, y);
}

/// Of one cell: where in its plane the maximum of its window is, as [N, C, 1].
Value cell_index(Call& c, const Adaptive& pool, const std::vector<std::int64_t>& cell) {
  auto window = pool.x.value;
  Shape extent;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto start = pool.start(i, cell[i]);
    const auto end = pool.end(i, cell[i]);
    window = onnx::slice(c, window, static_cast<std::int64_t>(i) + 2, start, end);
    extent.push_back(end - start);
  }
  window = onnx::reshape(c, window, {pool.input[0], pool.input[1], product(extent)});
  auto within = onnx::arg_extreme(c, true, window, 2, true);  // row-major in the window
  Value flat;
  Dim plane = 1;
  for (std::size_t i = cell.size(); i-- > 0;) {
    const auto size = c.size_value(extent[i]);
    const auto rest = onnx::div(c, within, size);
    auto position = onnx::sub(c, within, mul(c, rest, size));
    position = onnx::add(c, position, c.size_value(pool.start(i, cell[i])));
    position = mul(c, position, c.size_value(plane));
    flat = flat ? onnx::add(c, flat, position) : position;
    within = rest;
    plane = plane * pool.in(i);
  }
  return flat;
}

Value adaptive_indices(Call& c, const Adaptive& pool) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < pool.spatial(); ++i) count *= window_count(c, pool, i);
  std::vector<Value> cells;
  for (std::int64_t k = 0; k < count; ++k) {
    std::vector<std::int64_t> cell(pool.spatial());
    auto rest = k;
    for (std::size_t i = cell.size(); i-- > 0;) {
      cell[i] = rest % *pool.output[i].known();
      rest /= *pool.output[i].known();
    }
    cells.push_back(cell_index(c, pool, cell));
  }
  Shape shape(pool.input.begin(), pool.input.begin() + 2);
  shape.insert(shape.end(), pool.output.begin(), pool.output.end());
  return onnx::reshape(c, onnx::concat(c, cells, 2), shape);
}

// aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor indices)
template <std::size_t Spatial>
Results adaptive_max_pool(Call& c) {
  const auto pool = read_adaptive(c, Spatial);
  const auto x = pool.x.value;
  if (pool.to_one()) {
    const auto values = c.op("GlobalMaxPool", {x});
    return {pool.x.restore(c, values), pool.x.restore(c, adaptive_indices(c, pool))};
  }
  if (const auto kernel = pool.even_kernel()) {
    const std::vector<std::int64_t> zeros(Spatial, 0), ones(Spatial, 1);
    const auto result = emit_max_pool(c, x, {Spatial, *kernel, *kernel, zeros, ones, false}, true);
    return {pool.x.restore(c, result.values), pool.x.restore(c, result.indices)};
  }
  return {pool.x.restore(c, adaptive_by_slices(c, pool, "ReduceMax")),
          pool.x.restore(c, adaptive_indices(c, pool))};
}

// ---- unpooling -----------------------------------------------------------------------------------------------------

// aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor
// Indices count within each plane; ONNX MaxUnpool counts through the whole tensor and cannot tell a plane's end.
template <std::size_t Spatial>
Results max_unpool(Call& c) {
  const auto x = with_batch(c, c.tensor("self"), Spatial);
  const auto indices = with_batch(c, c.tensor("indices"), Spatial);
  const auto sizes = c.sizes_of(x.value);
  const auto output = c.sizes("output_size");
  const Shape planes = {sizes[0], sizes[1], product(Shape(sizes.begin() + 2, sizes.end()))};
  const auto empty = onnx::full(c, {sizes[0], sizes[1], product(output)}, 0, c.dtype_of(x.value));
  const auto flat = c.op("ScatterElements",
                         {empty, onnx::reshape(c, indices.value, planes), onnx::reshape(c, x.value, planes)},
                         {{"axis", 2}});
  Shape shape = {sizes[0], sizes[1]};
  shape.insert(shape.end(), output.begin(), output.end());
  return x.restore(c, onnx::reshape(c, flat, shape));
}

constexpr Entry kTable[] = {
    {"aten::_adaptive_avg_pool2d", 9, adaptive_avg_pool<2>},
    {"aten::_adaptive_avg_pool3d", 9, adaptive_avg_pool<3>},
    {"aten::adaptive_avg_pool1d", 9, adaptive_avg_pool<1>},
    {"aten::adaptive_avg_pool2d", 9, adaptive_avg_pool<2>},
    {"aten::adaptive_avg_pool3d", 9, adaptive_avg_pool<3>},
    {"aten::adaptive_max_pool1d", 9, adaptive_max_pool<1>},
    {"aten::adaptive_max_pool2d", 9, adaptive_max_pool<2>},
    {"aten::adaptive_max_pool3d", 9, adaptive_max_pool<3>},
    {"aten::avg_pool1d", 9, avg_pool<1>},
    {"aten::avg_pool2d", 9, avg_pool<2>},
    {"aten::avg_pool3d", 9, avg_pool<3>},
    {"aten::max_pool1d", 9, max_pool<1>},
    {"aten::max_pool1d_with_indices", 9, max_pool_with_indices<1>},
    {"aten::max_pool2d", 9, max_pool<2>},
    {"aten::max_pool2d_with_indices", 9, max_pool_with_indices<2>},
    {"aten::max_pool3d", 9, max_pool<3>},
    {"aten::max_pool3d_with_indices", 9, max_pool_with_indices<3>},
    {"aten::max_unpool2d", 11, max_unpool<2>},
    {"aten::max_unpool3d", 11, max_unpool<3>},
    {"aten::mkldnn_adaptive_avg_pool2d", 9, adaptive_avg_pool<2>},
    {"aten::mkldnn_max_pool2d", 9, max_pool<2>},
    {"aten::mkldnn_max_pool3d", 9, max_pool<3>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> pool_table() { return kTable; }

}  // namespace pt2onnx
