// A transform of known, moderate length is a product with a constant matrix: exact to rounding, at every opset and for
// every float type. Longer ones, and those whose length the graph decides, are ONNX `DFT` where there is one, else a
// product with a matrix that the graph makes.
#include "symbolics/fourier.h"

#include <cmath>
#include <numbers>

#include "symbolics/onnx.h"

namespace pt2onnx::fourier {
namespace {

using complex::Number;

constexpr std::int64_t kMatrixLength = 512;    // up to here the matrix is part of the model
constexpr std::int64_t kLongestMatrix = 2048;  // where there is no `DFT`

double factor_of(Norm norm, std::int64_t n) {
  if (norm == Norm::None || n == 0) return 1;
  return norm == Norm::ByRoot ? 1 / std::sqrt(static_cast<double>(n)) : 1 / static_cast<double>(n);
}

Value factor_value(Call& c, Norm norm, const Dim& n, DType dtype) {
  const Value length = onnx::cast(c, c.size_value(n), dtype);
  return onnx::reciprocal(c, norm == Norm::ByRoot ? onnx::sqrt(c, length) : length);
}

/// The length where the matrix is a constant.
std::optional<std::int64_t> matrix_length(Call& c, const Dim& n) {
  const auto known = n.known();
  return known && *known <= (c.has_opset(17) ? kMatrixLength : kLongestMatrix) ? known : std::nullopt;
}

struct Matrices {
  Value cosine, sine;  // [rows, columns]
};

Matrices constant_matrices(Call& c, std::int64_t rows, std::int64_t columns, std::int64_t n, double scale,
                           DType dtype) {
  const Waves w = waves(rows, columns, n, scale);
  return {c.constant(Tensor::of_doubles(w.cosine, {rows, columns}, dtype)),
          c.constant(Tensor::of_doubles(w.sine, {rows, columns}, dtype))};
}

/// The angle is reduced to one turn in whole numbers: k t mod n.
Matrices computed_matrices(Call& c, const Dim& rows, const Dim& columns, const Dim& n, DType dtype) {
  const Value t = onnx::unsqueeze(c, onnx::range(c, 0, rows), {1});
  const Value k = onnx::unsqueeze(c, onnx::range(c, 0, columns), {0});
  const Value turns = onnx::mul(c, t, k);
  const Value length = c.size_value(n);
  const Value rest = onnx::sub(c, turns, onnx::mul(c, onnx::div(c, turns, length), length));
  const DType wide = dtype == DType::Float16 ? DType::Float32 : dtype;
  const Value angle =
      onnx::div(c, onnx::mul(c, onnx::cast(c, rest, wide), c.constant(2 * std::numbers::pi, wide)),
                onnx::cast(c, length, wide));
  return {onnx::cast(c, c.op("Cos", {angle}), dtype), onnx::cast(c, c.op("Sin", {angle}), dtype)};
}

Value along_last(Call& c, Value x, std::int64_t axis) { return onnx::swap_axes(c, x, axis, -1); }

/// x times (C - iS), or (C + iS); the axis is the last.
Number product(Call& c, const Number& x, const Matrices& m, bool forward) {
  const Value rc = onnx::matmul(c, x.re, m.cosine), rs = onnx::matmul(c, x.re, m.sine);
  if (!x.im) return {rc, forward ? onnx::neg(c, rs) : rs};
  const Value ic = onnx::matmul(c, x.im, m.cosine), is = onnx::matmul(c, x.im, m.sine);
  if (forward) return {onnx::add(c, rc, is), onnx::sub(c, ic, rs)};
  return {onnx::sub(c, rc, is), onnx::add(c, ic, rs)};
}

/// ONNX `DFT` along the last axis. ONNX's inverse divides by n.
Number dft(Call& c, const Number& x, const Dim& n, bool forward, bool onesided) {
  const Value re = onnx::unsqueeze(c, x.re, {static_cast<std::int64_t>(c.rank(x.re))});
  const auto signal_axis = static_cast<std::int64_t>(c.rank(re)) - 2;
  const Value signal =
      x.im ? onnx::concat(c, {re, onnx::unsqueeze(c, x.im, {signal_axis + 1})}, signal_axis + 1) : re;
  // Rank 1 would leave the operator without a batch axis.
  const bool alone = signal_axis == 0;
  const Value batched = alone ? onnx::unsqueeze(c, signal, {0}) : signal;
  const std::int64_t axis = alone ? 1 : signal_axis;
  Attributes attributes{{"inverse", forward ? 0 : 1}, {"onesided", onesided ? 1 : 0}};
  std::vector<Value> inputs{batched};
  if (c.has_opset(20)) {
    inputs = {batched, Value(), c.constant(Tensor::scalar(axis, DType::Int64))};
  } else {
    attributes.set({"axis", axis});
  }
  Value result = c.op("DFT", inputs, attributes);
  Shape shape = c.sizes_of(batched);
  shape[static_cast<std::size_t>(axis)] = onesided ? floor_div(n, 2) + Dim(1) : n;
  shape.back() = 2;
  c.set_shape(result, shape);
  if (alone) result = onnx::squeeze(c, result, {0});
  return {onnx::select(c, result, signal_axis + 1, 0), onnx::select(c, result, signal_axis + 1, 1)};
}

Number times(Call& c, const Number& x, Value factor) {
  return {onnx::mul(c, x.re, factor), onnx::mul(c, x.im, factor)};
}

/// The transform along the last axis, with `columns` coefficients.
Number transformed(Call& c, const Number& x, const Dim& n, const Dim& columns, bool forward, Norm norm) {
  const DType dtype = c.dtype_of(x.re);
  if (const auto length = matrix_length(c, n)) {
    const auto count = *columns.known();
    return product(c, x, constant_matrices(c, *length, count, *length, factor_of(norm, *length), dtype),
                   forward);
  }
  const bool onesided = !(columns == n);
  if (!c.has_opset(17) || (onesided && (x.im || !forward))) {
    const Number result = product(c, x, computed_matrices(c, n, columns, n, dtype), forward);
    return norm == Norm::None ? result : times(c, result, factor_value(c, norm, n, dtype));
  }
  const Number result = dft(c, x, n, forward, onesided);
  const Value length = onnx::cast(c, c.size_value(n), dtype);
  if (forward) return norm == Norm::None ? result : times(c, result, factor_value(c, norm, n, dtype));
  if (norm == Norm::ByLength) return result;
  return times(c, result, norm == Norm::None ? length : onnx::sqrt(c, length));
}

}  // namespace

Waves waves(std::int64_t rows, std::int64_t columns, std::int64_t n, double scale) {
  Waves result;
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t k = 0; k < columns; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * t % n) / static_cast<double>(n);
      result.cosine.push_back(scale * std::cos(angle));
      result.sine.push_back(scale * std::sin(angle));
    }
  return result;
}

std::vector<double> onesided_weights(std::int64_t n) {
  std::vector<double> weights(static_cast<std::size_t>(n / 2 + 1), 2);
  weights.front() = 1;
  if (n % 2 == 0) weights.back() = 1;
  return weights;
}

Value resized(Call& c, Value x, std::int64_t axis, const Dim& n) {
  const Dim size = c.size_of(x, axis);
  if (size == n) return x;
  const auto more = n - size;
  Value result = x;
  if (provably_less(size, n) != true) result = onnx::slice(c, x, axis, 0, min(size, n));
  if (provably_less(n, size) != true && !(max(size, n) == size)) {
    std::vector<std::pair<Dim, Dim>> pads(c.rank(x), {0, 0});
    pads[static_cast<std::size_t>(axis)].second = max(more, 0);
    result = onnx::pad(c, result, pads);
  }
  Shape shape = c.sizes_of(result);
  shape[static_cast<std::size_t>(axis)] = n;
  c.set_shape(result, shape);
  return result;
}

Number c2c(Call& c, const Number& x, std::int64_t axis, const Dim& n, bool forward, Norm norm) {
  const Number turned{along_last(c, x.re, axis), x.im ? along_last(c, x.im, axis) : Value()};
  const Number result = transformed(c, turned, n, n, forward, norm);
  return {along_last(c, result.re, axis), along_last(c, result.im, axis)};
}

Number r2c(Call& c, Value x, std::int64_t axis, const Dim& n, bool onesided, Norm norm) {
  const Dim columns = onesided ? floor_div(n, 2) + Dim(1) : n;
  const Number result = transformed(c, {along_last(c, x, axis), Value()}, n, columns, true, norm);
  return {along_last(c, result.re, axis), along_last(c, result.im, axis)};
}

/// y[t] = sum over k of w[k] (re[k] cos(2 pi k t / n) - im[k] sin(2 pi k t / n)), where w[k] is 2 for the coefficients
/// that stand for two: all but the first, and but the last of an even n.
Value c2r(Call& c, const Number& x, std::int64_t axis, const Dim& n, Norm norm) {
  const DType dtype = c.dtype_of(x.re);
  const Value re = along_last(c, x.re, axis), im = along_last(c, x.im, axis);
  Value result;
  const auto length = matrix_length(c, n);
  if (length) {
    const std::int64_t rows = *length / 2 + 1;
    Waves w = waves(rows, *length, *length, factor_of(norm, *length));
    const auto weights = onesided_weights(*length);
    for (std::size_t i = 0; i < w.cosine.size(); ++i) {
      const double weight = weights[i / static_cast<std::size_t>(*length)];
      w.cosine[i] *= weight;
      w.sine[i] *= -weight;
    }
    const Value cosine = c.constant(Tensor::of_doubles(w.cosine, {rows, *length}, dtype));
    const Value sine = c.constant(Tensor::of_doubles(w.sine, {rows, *length}, dtype));
    result = onnx::add(c, onnx::matmul(c, re, cosine), onnx::matmul(c, im, sine));
  } else {
    // The other half is the mirror image, conjugated; the first coefficient (and the last of an even n) has none, and
    // its imaginary part does not count.
    const Dim mirrored = n - (floor_div(n, 2) + Dim(1));
    const auto last = static_cast<std::int64_t>(c.rank(re)) - 1;
    const auto mirror = [&](Value part) {
      return onnx::reverse(c, onnx::slice(c, part, last, 1, mirrored + Dim(1)), {last});
    };
    const Value full_re = onnx::concat(c, {re, mirror(re)}, last);
    const Value full_im = onnx::concat(c, {im, onnx::neg(c, mirror(im))}, last);
    Shape shape = c.sizes_of(full_re);
    shape.back() = n;
    c.set_shape(full_re, shape);
    c.set_shape(full_im, shape);
    result = transformed(c, {full_re, full_im}, n, n, false, norm).re;
  }
  return along_last(c, result, axis);
}

}  // namespace pt2onnx::fourier
