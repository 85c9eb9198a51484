// Resizing and sampling of images.
#include <algorithm>
#include <cmath>

#include "promotion.h"
#include "spatial.h"
#include "tables.h"

namespace pt2onnx {
namespace {

enum class Method { Nearest, NearestExact, Linear, Cubic };

struct Resize {
  Value x;
  std::size_t spatial = 0;
  Method method = Method::Nearest;
  bool align_corners = false;
  bool antialias = false;
  Shape input, output;                        // sizes of the spatial dims
  std::vector<std::optional<double>> scales;  // as given: they, not the sizes, then define the coordinates

  bool is_linear_or_cubic() const { return method == Method::Linear || method == Method::Cubic; }
};

/// floor(size * scale), where that has an expression: scales with a small power of two as denominator.
std::optional<Dim> scaled(const Dim& size, double scale) {
  if (const auto known = size.known())
    return Dim(static_cast<std::int64_t>(std::floor(static_cast<double>(*known) * scale)));
  for (std::int64_t denominator = 1; denominator <= 64; denominator *= 2) {
    const double numerator = scale * static_cast<double>(denominator);
    if (numerator == std::floor(numerator) && numerator < 1e6)
      return floor_div(size * static_cast<std::int64_t>(numerator), Dim(denominator));
  }
  return std::nullopt;
}

/// The scale of one axis under its schema name: `scales` of 1-d forms, `scales_d`, `scales_h`, `scales_w` of others.
std::optional<double> scale_argument(Call& c, std::size_t spatial, std::size_t axis) {
  static constexpr std::string_view kNames[] = {"scales_d", "scales_h", "scales_w"};
  const auto name = spatial == 1 ? std::string_view("scales") : kNames[3 - spatial + axis];
  return c.has(name) ? c.optional_number(name) : std::nullopt;
}

Resize read_resize(Call& c, std::size_t spatial, Method method, bool antialias) {
  Resize r;
  r.spatial = spatial;
  r.method = method;
  r.antialias = antialias;
  r.x = c.tensor(c.has("input") ? "input" : "self");
  if (c.rank(r.x) != spatial + 2) c.reject("an input of " + std::to_string(c.rank(r.x)) + " dims");
  if (c.has("align_corners")) r.align_corners = c.flag("align_corners");
  const auto sizes = c.sizes_of(r.x);
  r.input.assign(sizes.begin() + 2, sizes.end());

  auto output = c.optional_sizes("output_size");
  r.scales.resize(spatial);
  if (c.has("scale_factors")) {
    if (const auto factors = c.optional_numbers("scale_factors"))
      for (std::size_t i = 0; i < spatial; ++i) r.scales[i] = factors->at(factors->size() == 1 ? 0 : i);
  } else {
    for (std::size_t i = 0; i < spatial; ++i) r.scales[i] = scale_argument(c, spatial, i);
  }
  if (output) {
    if (output->size() == 1) output->resize(spatial, output->front());
    r.output = *output;
    return r;
  }
  for (std::size_t i = 0; i < spatial; ++i) {
    if (!r.scales[i]) c.reject("neither output sizes nor scales");
    if (const auto size = scaled(r.input[i], *r.scales[i])) {
      r.output.push_back(*size);
    } else {  // the node computes it; this stands for what it finds
      r.output.clear();
      break;
    }
  }
  return r;
}

// ---- evaluation by constants, for what an opset cannot say -----------------------------------------------------------

struct Tap {
  std::int64_t index;
  double weight;
};

/// How far apart the source coordinates of neighbours are. torch ignores a given scale under align_corners.
double step_of(const Resize& r, std::size_t axis, std::int64_t in, std::int64_t out) {
  if (r.align_corners && r.is_linear_or_cubic())
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
  if (r.scales[axis] && *r.scales[axis] > 0) return 1.0 / *r.scales[axis];
  return static_cast<double>(in) / static_cast<double>(out);
}

/// Keys' cubic kernel at a distance.
double cubic_weight(double distance, double a) {
  const double d = std::abs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

double kernel_weight(const Resize& r, double distance) {
  if (r.method == Method::Linear) return std::max(0.0, 1 - std::abs(distance));
  return cubic_weight(distance, r.antialias ? -0.5 : -0.75);
}

/// The kernel is as wide as the step when that is above 1, and its weights sum to one. torch takes the same centres with
/// and without align_corners.
std::vector<Tap> antialias_taps(const Resize& r, double step, std::int64_t position, std::int64_t in) {
  const double width = std::max(step, 1.0);
  const double support = (r.method == Method::Linear ? 1.0 : 2.0) * width;
  const double centre = step * (static_cast<double>(position) + 0.5);
  const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
  const auto end = std::min(static_cast<std::int64_t>(centre + support + 0.5), in);
  std::vector<Tap> taps;
  double total = 0;
  for (auto k = first; k < end; ++k) {
    taps.push_back({k, kernel_weight(r, (static_cast<double>(k) - centre + 0.5) / width)});
    total += taps.back().weight;
  }
  if (total != 0)
    for (auto& tap : taps) tap.weight /= total;
  return taps;
}

std::vector<Tap> taps_of(const Resize& r, std::size_t axis, std::int64_t position, std::int64_t in,
                         std::int64_t out) {
  const double step = step_of(r, axis, in, out);
  const auto at = [&](std::int64_t index) { return std::clamp<std::int64_t>(index, 0, in - 1); };
  const auto place = static_cast<double>(position);
  if (r.method == Method::Nearest) return {{at(static_cast<std::int64_t>(std::floor(place * step))), 1.0}};
  if (r.method == Method::NearestExact)
    return {{at(static_cast<std::int64_t>(std::floor((place + 0.5) * step))), 1.0}};
  if (r.antialias) return antialias_taps(r, step, position, in);
  double source = r.align_corners ? place * step : (place + 0.5) * step - 0.5;
  if (r.method == Method::Linear) source = std::max(source, 0.0);
  const auto before = static_cast<std::int64_t>(std::floor(source));
  const std::int64_t reach = r.method == Method::Linear ? 1 : 2;
  std::vector<Tap> taps;
  for (auto k = before - reach + 1; k <= before + reach; ++k)
    taps.push_back({at(k), kernel_weight(r, source - static_cast<double>(k))});
  return taps;
}

/// Axis by axis: a Gather with constant indices, or a product with a constant matrix.
Value by_constants(Call& c, const Resize& r) {
  auto y = r.x;
  const auto last = static_cast<std::int64_t>(r.spatial) + 1;
  for (std::size_t i = 0; i < r.spatial; ++i) {
    const auto in = *r.input[i].known();
    const auto out = *r.output[i].known();
    const auto axis = static_cast<std::int64_t>(i) + 2;
    if (!r.is_linear_or_cubic()) {
      std::vector<std::int64_t> indices;
      for (std::int64_t k = 0; k < out; ++k) indices.push_back(taps_of(r, i, k, in, out)[0].index);
      y = onnx::gather(c, y, c.constant(indices), axis);
      continue;
    }
    std::vector<double> weights(static_cast<std::size_t>(in * out), 0.0);
    for (std::int64_t k = 0; k < out; ++k)
      for (const auto& tap : taps_of(r, i, k, in, out))
        weights[static_cast<std::size_t>(tap.index * out + k)] += tap.weight;
    const auto matrix = c.constant(Tensor::of_doubles(weights, {in, out}, c.dtype_of(y)));
    y = onnx::swap_axes(c, onnx::matmul(c, onnx::swap_axes(c, y, axis, last), matrix), axis, last);
  }
  return y;
}

// ---- the Resize node -------------------------------------------------------------------------------------------------

/// One scale per spatial axis, with which floor(in * scale) is the output size; nullopt if the sizes do not tell.
std::optional<std::vector<double>> node_scales(const Resize& r) {
  std::vector<double> scales;
  for (std::size_t i = 0; i < r.spatial; ++i) {
    const auto in = r.input[i].known();
    const auto out = i < r.output.size() ? r.output[i].known() : std::nullopt;
    float scale = 0;
    if (r.scales[i] && !(r.align_corners && r.is_linear_or_cubic())) {
      scale = static_cast<float>(*r.scales[i]);
    } else if (in && out) {
      scale = static_cast<float>(*out) / static_cast<float>(*in);
      // Not below: whoever multiplies, in whatever precision, is to find the size again.
      if (static_cast<double>(*in) * scale < static_cast<double>(*out))
        scale = std::nextafter(scale, INFINITY);
    } else if (!r.output.empty() && r.input[i] == r.output[i]) {
      scale = 1;
    } else if (r.scales[i]) {
      scale = static_cast<float>(*r.scales[i]);
    } else {
      return std::nullopt;
    }
    // Sizes that the scale does not give: torch was asked for both, and they disagree.
    if (in && out && std::floor(static_cast<double>(*in) * scale) != static_cast<double>(*out))
      return std::nullopt;
    scales.push_back(scale);
  }
  return scales;
}

/// Whether the coordinates follow from the sizes alone.
bool sizes_define(const Resize& r) {
  if (r.output.size() != r.spatial) return false;
  if (r.align_corners && r.is_linear_or_cubic()) return true;
  for (std::size_t i = 0; i < r.spatial; ++i) {
    if (!r.scales[i]) continue;
    const auto in = r.input[i].known();
    const auto out = r.output[i].known();
    const bool whole = *r.scales[i] == std::floor(*r.scales[i]) && *r.scales[i] >= 1 &&
                       r.output[i] == r.input[i] * static_cast<std::int64_t>(*r.scales[i]);
    const bool exact = in && out && static_cast<double>(*out) == static_cast<double>(*in) * *r.scales[i];
    if (!whole && !exact) return false;
  }
  return true;
}

Attributes resize_attributes(const Resize& r) {
  Attributes attributes;
  switch (r.method) {
    case Method::Nearest:
      attributes = {
          {"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}};
      break;
    case Method::NearestExact:
      attributes = {{"mode", "nearest"},
                    {"coordinate_transformation_mode", "half_pixel"},
                    {"nearest_mode", "round_prefer_ceil"}};
      break;
    case Method::Linear:
    case Method::Cubic:
      attributes = {{"mode", r.method == Method::Linear ? "linear" : "cubic"},
                    {"coordinate_transformation_mode", r.align_corners ? "align_corners" : "half_pixel"}};
  }
  if (r.method == Method::Cubic) attributes.set({"cubic_coeff_a", r.antialias ? -0.5 : -0.75});
  if (r.antialias) {
    attributes.set({"antialias", 1});
    attributes.set({"exclude_outside", 1});  // weights of the cells inside sum to one
  }
  return attributes;
}

Value float_vector(Call& c, const std::vector<double>& values) {
  return c.constant(Tensor::of_doubles(values, {static_cast<std::int64_t>(values.size())}, DType::Float32));
}

/// Resize from 11 on. From 18 on only the spatial axes are named; before, N and C have a scale of 1 or their own size.
Value resize_node(Call& c, const Resize& r) {
  auto attributes = resize_attributes(r);
  const bool by_axes = c.has_opset(18);
  if (by_axes) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < r.spatial; ++i) axes.push_back(static_cast<std::int64_t>(i) + 2);
    attributes.set({"axes", axes});
  }
  const Value roi = c.has_opset(13) ? Value() : float_vector(c, {});
  const auto sizes = c.sizes_of(r.x);

  // Sizes cannot be misread by rounding, but a symbolic one is read by nodes where scales are a constant; and below 18
  // the sizes of N and C are needed too.
  const bool plain_sizes = (by_axes || (sizes[0].is_static() && sizes[1].is_static())) &&
                           std::ranges::all_of(r.output, &Dim::is_static);
  auto scales = node_scales(r);
  if (sizes_define(r) && (plain_sizes || !scales)) {
    Shape target = r.output;
    if (!by_axes) target.insert(target.begin(), {sizes[0], sizes[1]});
    const Value none = c.has_opset(13) ? Value() : float_vector(c, {});
    return c.op("Resize", {r.x, roi, none, c.shape_value(target)}, attributes);
  }
  if (!scales) c.reject("a scale factor beside an output size that does not follow from it");
  if (!by_axes) scales->insert(scales->begin(), {1.0, 1.0});
  return c.op("Resize", {r.x, roi, float_vector(c, *scales)}, attributes);
}

/// Upsample 9 and Resize 10: nearest by whole scales only is what torch means.
std::optional<Value> old_resize_node(Call& c, const Resize& r) {
  if (r.method != Method::Nearest) return std::nullopt;
  auto scales = node_scales(r);
  if (!scales) return std::nullopt;
  const bool whole = std::ranges::all_of(*scales, [](double s) { return s == std::floor(s); });
  const bool known = std::ranges::all_of(r.input, &Dim::is_static) && r.output.size() == r.spatial;
  if (!whole && known) return std::nullopt;  // exact by constants
  scales->insert(scales->begin(), {1.0, 1.0});
  return c.op(c.has_opset(10) ? "Resize" : "Upsample", {r.x, float_vector(c, *scales)},
              {{"mode", "nearest"}});
}

Value resized(Call& c, const Resize& r) {
  if (r.output.size() == r.spatial && r.output == r.input && !r.antialias &&
      std::ranges::all_of(r.scales, [](const auto& s) { return !s || *s == 1; }))
    return r.x;
  const auto sizes = c.sizes_of(r.x);
  const bool known = r.output.size() == r.spatial && std::ranges::all_of(r.input, &Dim::is_static) &&
                     std::ranges::all_of(r.output, &Dim::is_static);
  Value y;
  if (c.has_opset(r.antialias ? 18 : 11)) {
    // Where both sizes and scales were given and disagree, no attribute of Resize says it; and its antialias does not
    // go with align_corners as torch's does.
    const bool expressible = (sizes_define(r) || node_scales(r)) && !(r.antialias && r.align_corners);
    if (!expressible && !known) c.reject("this interpolation of an input whose sizes are not known");
    y = expressible ? resize_node(c, r) : by_constants(c, r);
  } else if (const auto node = old_resize_node(c, r)) {
    y = *node;
  } else if (known) {
    y = by_constants(c, r);
  } else {
    c.needs_opset(r.antialias ? 18 : 11, "this interpolation of an input whose sizes are not known");
  }
  if (r.output.size() == r.spatial) {
    Shape shape = {sizes[0], sizes[1]};
    shape.insert(shape.end(), r.output.begin(), r.output.end());
    c.set_shape(y, shape);
  }
  return y;
}

// aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
//                           float? scales_w=None) -> Tensor
// aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)
template <std::size_t Spatial, Method Kind, bool Antialias = false>
Results upsample(Call& c) {
  return resized(c, read_resize(c, Spatial, Kind, Antialias));
}

constexpr Entry kTable[] = {
    {"aten::_upsample_bicubic2d_aa", 9, upsample<2, Method::Cubic, true>},
    {"aten::_upsample_bilinear2d_aa", 9, upsample<2, Method::Linear, true>},
    {"aten::_upsample_nearest_exact1d", 9, upsample<1, Method::NearestExact>},
    {"aten::_upsample_nearest_exact2d", 9, upsample<2, Method::NearestExact>},
    {"aten::_upsample_nearest_exact3d", 9, upsample<3, Method::NearestExact>},
    {"aten::upsample_bicubic2d", 9, upsample<2, Method::Cubic>},
    {"aten::upsample_bilinear2d", 9, upsample<2, Method::Linear>},
    {"aten::upsample_linear1d", 9, upsample<1, Method::Linear>},
    {"aten::upsample_nearest1d", 9, upsample<1, Method::Nearest>},
    {"aten::upsample_nearest2d", 9, upsample<2, Method::Nearest>},
    {"aten::upsample_nearest3d", 9, upsample<3, Method::Nearest>},
    {"aten::upsample_trilinear3d", 9, upsample<3, Method::Linear>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> resize_table() { return kTable; }

}  // namespace pt2onnx
