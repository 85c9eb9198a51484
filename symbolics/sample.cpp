// Sampling at places of a grid, and the grids of affine maps.
#include "symbolics/sample.h"

#include "symbolics/formula.h"
#include "symbolics/tables.h"

namespace pt2onnx {

Value sampled(Call& c, Value x, const std::vector<Value>& places, Between method) {
  const DType dtype = c.dtype_of(x);
  const Shape sizes = c.sizes_of(x);
  const std::size_t spatial = places.size();
  Dim cells = 1;
  for (std::size_t i = 0; i < spatial; ++i) cells = cells * sizes[i + 2];
  const Dim count = c.size_of(places[0], 1);
  const Value flat = onnx::reshape(c, x, {sizes[0], sizes[1], cells});

  std::vector<Value> first;
  for (const auto& place : places)
    first.push_back(method == Between::Nearest ? onnx::round(c, place) : onnx::floor(c, place));

  Value sum;
  const std::size_t corners = method == Between::Nearest ? 1 : std::size_t{1} << spatial;
  for (std::size_t corner = 0; corner < corners; ++corner) {
    Value weight, inside, index;
    for (std::size_t i = 0; i < spatial; ++i) {
      const Dim size = sizes[i + 2];
      const bool upper = (corner >> i & 1) != 0;
      const Value cell = upper ? formula::plus(c, first[i], 1) : first[i];
      const Value last = onnx::cast(c, c.size_value(size - 1), dtype);
      const Value within = onnx::logical_and(c, onnx::greater_equal(c, cell, formula::number(c, 0, cell)),
                                             onnx::less_equal(c, cell, last));
      inside = inside ? onnx::logical_and(c, inside, within) : within;
      // Outside, and for NaN, any cell will do: what it holds is not used.
      const Value safe =
          onnx::cast(c, onnx::where(c, within, cell, formula::number(c, 0, cell)), DType::Int64);
      index = index ? onnx::add(c, onnx::mul(c, index, c.size_value(size)), safe) : safe;
      if (method == Between::Nearest) continue;
      const Value part = onnx::sub(c, places[i], first[i]);
      const Value factor = upper ? part : formula::minus_from(c, 1, part);
      weight = weight ? onnx::mul(c, weight, factor) : factor;
    }
    const Value indices = onnx::expand(c, onnx::unsqueeze(c, index, {1}), {sizes[0], sizes[1], count});
    Value part = onnx::gather_elements(c, flat, indices, 2);
    part = formula::where_else(c, onnx::unsqueeze(c, inside, {1}), part, 0);
    if (weight)
      part = onnx::mul(c, part, onnx::unsqueeze(c, weight, {1}));  // NaN at a place that is NaN, as in torch
    sum = sum ? onnx::add(c, sum, part) : part;
  }
  return sum;
}

namespace {

enum class Outside { Zeros = 0, Border = 1, Reflection = 2 };

/// Cells from -1 ... 1: between the centres of the first and the last cell with `align_corners`, else between the edges.
Value cell_place(Call& c, Value place, const Dim& size, bool align_corners) {
  const auto dim = [&](const Dim& d) { return onnx::cast(c, c.size_value(d), c.dtype_of(place)); };
  const Value grown = formula::plus(c, place, 1);
  if (align_corners) return onnx::mul(c, formula::times(c, grown, 0.5), dim(size - 1));
  return formula::times(c, formula::plus(c, onnx::mul(c, grown, dim(size)), -1), 0.5);
}

/// A place outside mirrored to the inside as often as it takes, at the centres of the border cells (`align_corners`) or
/// at their outer edges.
Value reflected(Call& c, Value place, const Dim& size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const Dim width = align_corners ? max(size - 1, 1) : size;  // of one cell: whatever, it is clipped
  const Value span = onnx::cast(c, c.size_value(width), c.dtype_of(place));
  const Value way = onnx::abs(c, formula::plus(c, place, -low));
  const Value flips = onnx::floor(c, onnx::div(c, way, span));
  const Value rest = onnx::sub(c, way, onnx::mul(c, flips, span));
  const Value pairs = formula::times(c, onnx::floor(c, formula::times(c, flips, 0.5)), 2);
  const Value there = formula::plus(c, rest, low);
  const Value back = formula::plus(c, onnx::sub(c, span, rest), low);
  return onnx::where(c, onnx::equal(c, flips, pairs), there, back);
}

Value composed(Call& c, Value x, Value grid, Between method, Outside outside, bool align_corners) {
  // Halves cannot count many cells.
  const DType dtype = c.dtype_of(x);
  if (dtype == DType::Float16 || dtype == DType::BFloat16) {
    x = onnx::cast(c, x, DType::Float32);
    grid = onnx::cast(c, grid, DType::Float32);
  }
  const Shape sizes = c.sizes_of(x);
  const Shape shape = c.sizes_of(grid);
  const std::size_t spatial = sizes.size() - 2;
  Dim count = 1;
  for (std::size_t i = 0; i < spatial; ++i) count = count * shape[i + 1];
  const Value flat = onnx::reshape(c, grid, {sizes[0], count, static_cast<std::int64_t>(spatial)});
  std::vector<Value> places;
  for (std::size_t i = 0; i < spatial; ++i) {
    const Dim size = sizes[i + 2];
    // The grid holds x first, the tensor has it last.
    const auto coordinate = static_cast<std::int64_t>(spatial - 1 - i);
    Value place = cell_place(c, onnx::select(c, flat, 2, coordinate), size, align_corners);
    if (outside == Outside::Reflection) place = reflected(c, place, size, align_corners);
    if (outside != Outside::Zeros)
      place = onnx::clip(c, place, formula::number(c, 0, place),
                         onnx::cast(c, c.size_value(size - 1), c.dtype_of(place)));
    places.push_back(place);
  }
  Shape result = {sizes[0], sizes[1]};
  result.insert(result.end(), shape.begin() + 1, shape.end() - 1);
  return onnx::cast(c, onnx::reshape(c, sampled(c, x, places, method), result), dtype);
}

// aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor
Results grid_sampler(Call& c) {
  const auto x = c.tensor("input");
  const auto grid = c.tensor("grid");
  const auto spatial = c.rank(x) - 2;
  const auto mode = c.integer("interpolation_mode");
  const auto padding = c.integer("padding_mode");
  const bool align_corners = c.flag("align_corners");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    c.reject("an interpolation or padding mode out of range");
  if (spatial != 2 && mode == 2)
    c.reject("samples volumes by cubic interpolation, which torch has not either");
  const int since = spatial == 2 ? 16 : 20;  // GridSample of images only below 20
  if (!c.has_opset(since)) {
    if (mode == 2) c.needs_opset(since, "bicubic sampling");
    return composed(c, x, grid, mode == 0 ? Between::Linear : Between::Nearest, static_cast<Outside>(padding),
                    align_corners);
  }
  static constexpr const char* kPadding[] = {"zeros", "border", "reflection"};
  static constexpr const char* kMode16[] = {"bilinear", "nearest", "bicubic"};
  static constexpr const char* kMode20[] = {"linear", "nearest", "cubic"};
  const auto y = c.op("GridSample", {x, grid},
                      {{"mode", c.has_opset(20) ? kMode20[mode] : kMode16[mode]},
                       {"padding_mode", kPadding[padding]},
                       {"align_corners", align_corners}});
  const auto sizes = c.sizes_of(x);
  const auto places = c.sizes_of(grid);
  Shape shape = {sizes[0], sizes[1]};
  shape.insert(shape.end(), places.begin() + 1, places.end() - 1);
  c.set_shape(y, shape);
  return y;
}

/// -1 ... 1 over n cells: at their centres, or from the first to the last centre with align_corners.
std::vector<double> grid_line(std::int64_t n, bool align_corners) {
  std::vector<double> line;
  for (std::int64_t i = 0; i < n; ++i) {
    if (align_corners) {
      line.push_back(n > 1 ? -1.0 + 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) : 0.0);
    } else {
      line.push_back((2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(n) - 1.0);
    }
  }
  return line;
}

/// Homogeneous coordinates of every cell, x first: [cells, spatial + 1].
Value base_grid(Call& c, const std::vector<std::int64_t>& sizes, bool align_corners, DType dtype) {
  const auto spatial = sizes.size();
  std::vector<std::vector<double>> lines;
  std::int64_t cells = 1;
  for (const auto n : sizes) {
    lines.push_back(grid_line(n, align_corners));
    cells *= n;
  }
  std::vector<double> grid;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    auto rest = cell;
    for (std::size_t i = spatial; i-- > 0;) {
      grid.push_back(lines[i][static_cast<std::size_t>(rest % sizes[i])]);
      rest /= sizes[i];
    }
    grid.push_back(1.0);
  }
  return c.constant(Tensor::of_doubles(grid, {cells, static_cast<std::int64_t>(spatial) + 1}, dtype));
}

// aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor
// theta [N, d, d + 1] -> [N, spatial..., d]
Results affine_grid(Call& c) {
  const auto theta = c.tensor("theta");
  const auto size = c.sizes("size");
  const auto align_corners = c.flag("align_corners");
  if (size.size() < 4) c.reject("a `size` of " + std::to_string(size.size()) + " dims");
  const Shape cells(size.begin() + 2, size.end());
  Shape shape = cells;
  shape.insert(shape.begin(), c.size_of(theta, 0));
  shape.push_back(static_cast<std::int64_t>(cells.size()));
  if (const auto known = static_shape(cells)) {
    const auto base = base_grid(c, *known, align_corners, c.dtype_of(theta));
    return onnx::reshape(c, onnx::matmul(c, base, onnx::swap_axes(c, theta, 1, 2)), shape);
  }
  if (!c.has_opset(20)) c.needs_opset(20, "a grid whose size is not known");
  const auto y = c.op("AffineGrid", {theta, c.shape_value(size)}, {{"align_corners", align_corners}});
  c.set_shape(y, shape);
  return y;
}

constexpr Entry kTable[] = {
    {"aten::affine_grid_generator", 9, affine_grid},
    {"aten::grid_sampler", 16, grid_sampler},
    {"aten::grid_sampler_2d", 16, grid_sampler},
    {"aten::grid_sampler_3d", 11, grid_sampler},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> sample_table() { return kTable; }

}  // namespace pt2onnx
