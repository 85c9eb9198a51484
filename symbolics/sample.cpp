// Sampling at places of a grid, and the grids of affine maps.
#include <algorithm>

#include "symbolics/onnx.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

constexpr const char* kPadding[] = {"zeros", "border", "reflection"};

struct Sampling {
  Value x, grid;  // [N, C, spatial...] and [N, places..., d], the last spatial axis first
  std::int64_t mode = 0, padding = 0;
  bool align_corners = false;
};

Value number(Call& c, double v, Value like) { return onnx::constant_like(c, v, like); }

/// The places along one axis, in cells: 0 is the centre of the first.
Value unnormalized(Call& c, const Sampling& s, Value places, Value size) {
  const Value from_zero = onnx::add(c, places, number(c, 1, places));
  const Value scaled = s.align_corners ? onnx::mul(c, from_zero, onnx::sub(c, size, number(c, 1, places)))
                                       : onnx::sub(c, onnx::mul(c, from_zero, size), number(c, 1, places));
  return onnx::div(c, scaled, number(c, 2, places));
}

/// Mirrored at the border (of the cells, or of their centres with align_corners) until it is inside.
Value reflected(Call& c, const Sampling& s, Value places, Value last) {
  const Value low = number(c, s.align_corners ? 0 : -0.5, places);
  const Value raw_span = s.align_corners ? last : onnx::add(c, last, number(c, 1, places));
  // One cell with align_corners has no extent; whatever is divided by then is clipped to 0 afterwards.
  const Value span = onnx::maximum(c, raw_span, number(c, 1, places));
  const Value distance = onnx::abs(c, onnx::sub(c, places, low));
  const Value flips = onnx::floor(c, onnx::div(c, distance, span));
  const Value rest = onnx::sub(c, distance, onnx::mul(c, flips, span));
  const Value half = onnx::div(c, flips, number(c, 2, places));
  const Value even = onnx::equal(c, onnx::floor(c, half), half);
  return onnx::add(c, onnx::where(c, even, rest, onnx::sub(c, span, rest)), low);
}

/// One of the cells next to a place along an axis, and its share.
struct Neighbour {
  Value cell;   // whole numbers, in the dtype of the places
  Value share;  // absent: 1
};

std::vector<Neighbour> neighbours(Call& c, const Sampling& s, Value places, Value last) {
  if (s.padding == 2) places = reflected(c, s, places, last);
  if (s.padding != 0) places = onnx::clip(c, places, number(c, 0, places), last);
  if (s.mode == 1) return {{onnx::round(c, places), Value()}};
  const Value below = onnx::floor(c, places);
  const Value share = onnx::sub(c, places, below);
  return {{below, onnx::sub(c, number(c, 1, places), share)},
          {onnx::add(c, below, number(c, 1, places)), share}};
}

/// Gathers of all neighbours, weighted: linear and nearest sampling in any number of dims.
Value sampled_by_gathers(Call& c, const Sampling& s) {
  const auto spatial = c.rank(s.x) - 2;
  const Shape sizes = c.sizes_of(s.x), places = c.sizes_of(s.grid);
  const DType dtype = c.dtype_of(s.x);
  const Dim cells = product({sizes.begin() + 2, sizes.end()});
  const Dim count = product({places.begin() + 1, places.end() - 1});
  const Value flat = onnx::reshape(c, s.x, {sizes[0], sizes[1], cells});

  // Every combination of neighbours: its index among the cells, its weight, whether it is inside.
  struct Corner {
    Value index, weight, inside;
  };
  std::vector<Corner> corners{{}};
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    const Value size = onnx::cast(c, c.size_value(sizes[axis + 2]), dtype);
    const Value last = onnx::sub(c, size, number(c, 1, size));
    const Value along = onnx::reshape(c,
                                      onnx::select(c, s.grid, static_cast<std::int64_t>(spatial + 1),
                                                   static_cast<std::int64_t>(spatial - 1 - axis)),
                                      {sizes[0], 1, count});
    std::vector<Corner> next;
    for (const auto& [cell, share] : neighbours(c, s, unnormalized(c, s, along, size), last)) {
      const Value clipped = onnx::clip(c, cell, number(c, 0, cell), last);
      const Value index = onnx::cast(c, clipped, DType::Int64);
      const Value inside = s.padding == 0 ? onnx::equal(c, clipped, cell) : Value();
      for (const Corner& corner : corners) {
        Corner both = corner;
        both.index = corner.index
                         ? onnx::add(c, onnx::mul(c, corner.index, c.size_value(sizes[axis + 2])), index)
                         : index;
        if (share) both.weight = corner.weight ? onnx::mul(c, corner.weight, share) : share;
        if (inside) both.inside = corner.inside ? onnx::logical_and(c, corner.inside, inside) : inside;
        next.push_back(both);
      }
    }
    corners = std::move(next);
  }

  Value sum;
  for (const Corner& corner : corners) {
    const Value index = onnx::expand(c, corner.index, {sizes[0], sizes[1], count});
    Value part = onnx::gather_elements(c, flat, index, 2);
    if (corner.weight) part = onnx::mul(c, part, corner.weight);
    if (corner.inside) part = onnx::where(c, corner.inside, part, number(c, 0, part));
    sum = sum ? onnx::add(c, sum, part) : part;
  }
  Shape shape{sizes[0], sizes[1]};
  shape.insert(shape.end(), places.begin() + 1, places.end() - 1);
  return onnx::reshape(c, sum, shape);
}

// aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor
Results grid_sampler(Call& c) {
  Sampling s;
  s.x = c.tensor("input");
  s.grid = c.tensor("grid");
  s.mode = c.integer("interpolation_mode");
  s.padding = c.integer("padding_mode");
  s.align_corners = c.flag("align_corners");
  if (s.mode < 0 || s.mode > 2 || s.padding < 0 || s.padding > 2)
    c.reject("an interpolation or padding mode out of range");
  const auto spatial = c.rank(s.x) - 2;
  if (spatial != 2 && s.mode == 2)
    c.reject("samples volumes by cubic interpolation, which torch has not either");
  if (spatial != 2 && !c.has_opset(20)) return sampled_by_gathers(c, s);  // GridSample of images only
  static constexpr const char* kMode16[] = {"bilinear", "nearest", "bicubic"};
  static constexpr const char* kMode20[] = {"linear", "nearest", "cubic"};
  const auto y = c.op("GridSample", {s.x, s.grid},
                      {{"mode", c.has_opset(20) ? kMode20[s.mode] : kMode16[s.mode]},
                       {"padding_mode", kPadding[s.padding]},
                       {"align_corners", s.align_corners}});
  const auto sizes = c.sizes_of(s.x);
  const auto places = c.sizes_of(s.grid);
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
