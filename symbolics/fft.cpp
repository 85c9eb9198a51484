// The fft family: torch's names for transforms over one or more axes.
#include <algorithm>
#include <numeric>

#include "symbolics/fourier.h"
#include "symbolics/onnx.h"
#include "symbolics/promotion.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using complex::Number;
using fourier::Norm;

/// `norm` says which direction is scaled: "backward" (the default), "forward" or both ("ortho").
Norm norm_of(Call& c, bool forward) {
  const std::string mode = c.optional_text("norm").value_or("backward");
  if (mode == "ortho") return Norm::ByRoot;
  if (mode != "backward" && mode != "forward") c.reject("has an unknown `norm`: '" + mode + "'");
  return (mode == "forward") == forward ? Norm::ByLength : Norm::None;
}

struct Axis {
  std::int64_t axis;
  std::optional<Dim> size;  // what the axis is cut or filled to, or (c2r) what comes out
};

/// `n` and `dim`, or `s` and `dim`.
std::vector<Axis> axes_of(Call& c, std::size_t rank) {
  std::vector<Axis> axes;
  if (c.has("n")) {
    axes.push_back({c.axis("dim", rank), c.optional_size("n")});
    return axes;
  }
  const auto sizes = c.optional_sizes("s");
  std::vector<std::int64_t> dims;
  if (const auto given = c.optional_ints("dim")) {
    for (const auto dim : *given) dims.push_back(c.normalize_axis(dim, rank));
  } else {
    const std::size_t count = sizes ? sizes->size() : rank;
    if (count > rank) c.reject("`s` has more entries than the tensor has dims");
    dims.resize(count);
    std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(rank - count));
  }
  if (sizes && sizes->size() != dims.size()) c.reject("`s` and `dim` have different lengths");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool given = sizes && !((*sizes)[i] == Dim(-1));
    axes.push_back({dims[i], given ? std::optional((*sizes)[i]) : std::nullopt});
  }
  return axes;
}

/// The operand: its imaginary part is absent for a real one.
Number signal(Call& c) {
  const Value x = c.tensor("self");
  if (!is_complex(c.dtype_of(x))) return {float_tensor(c, "self"), Value()};
  return complex::number_of(c, x);
}

Number resized(Call& c, Number x, const Axis& a) {
  if (!a.size) return x;
  x.re = fourier::resized(c, x.re, a.axis, *a.size);
  if (x.im) x.im = fourier::resized(c, x.im, a.axis, *a.size);
  return x;
}

Number transformed(Call& c, Number x, const std::vector<Axis>& axes, bool forward, Norm norm) {
  for (const Axis& a : axes) {
    x = resized(c, x, a);
    x = fourier::c2c(c, x, a.axis, c.size_of(x.re, a.axis), forward, norm);
  }
  if (!x.im) x.im = onnx::full_like(c, x.re, Scalar(0));
  return x;
}

// aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
// aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor
template <bool Forward>
Results fft(Call& c) {
  const Number x = signal(c);
  return joined(c, transformed(c, x, axes_of(c, c.rank(x.re)), Forward, norm_of(c, Forward)));
}

/// The axis that a real signal is halved along: the last of those named.
Axis take_last(Call& c, std::vector<Axis>& axes) {
  if (axes.empty()) c.reject("transforms no axis");
  const Axis last = axes.back();
  axes.pop_back();
  return last;
}

/// Real in, the coefficients of the last axis (the first half with `onesided`) out. Not `forward`: the conjugates.
Value from_real(Call& c, std::vector<Axis> axes, bool forward, bool onesided, Norm norm) {
  Number x = signal(c);
  if (x.im) c.reject("expects a real tensor");
  const Axis last = take_last(c, axes);
  x = resized(c, x, last);
  Number y = fourier::r2c(c, x.re, last.axis, c.size_of(x.re, last.axis), onesided, norm);
  if (!forward) y = complex::conj(c, y);
  return joined(c, transformed(c, y, axes, forward, norm));
}

/// Half of the coefficients in, real out. `forward`: of the conjugates, scaled as a forward transform.
Value to_real(Call& c, std::vector<Axis> axes, bool forward, Norm norm) {
  Number x = signal(c);
  if (!x.im) x.im = onnx::full_like(c, x.re, Scalar(0));
  const Axis last = take_last(c, axes);
  x = transformed(c, x, axes, forward, norm);
  const Dim n = last.size ? *last.size : (c.size_of(x.re, last.axis) - Dim(1)) * Dim(2);
  x = resized(c, x, {last.axis, floor_div(n, 2) + Dim(1)});
  if (forward) x = complex::conj(c, x);
  return fourier::c2r(c, x, last.axis, n, norm);
}

std::size_t rank_of_self(Call& c) { return c.rank(c.tensor("self")); }

// aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
template <bool Forward>
Results rfft(Call& c) {
  return from_real(c, axes_of(c, rank_of_self(c)), Forward, true, norm_of(c, Forward));
}

// aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor
template <bool Forward>
Results irfft(Call& c) {
  return to_real(c, axes_of(c, rank_of_self(c)), Forward, norm_of(c, Forward));
}

// ---- what the above are made of in torch, as a trace of an expanded graph shows it -----------------------------------

Norm norm_of_code(Call& c) {
  const auto code = c.integer("normalization");
  if (code < 0 || code > 2) c.reject("has an unknown `normalization`");
  return static_cast<Norm>(code);
}

std::vector<Axis> whole_axes(Call& c) {
  std::vector<Axis> axes;
  for (const auto dim : c.ints("dim")) axes.push_back({c.normalize_axis(dim, rank_of_self(c)), std::nullopt});
  return axes;
}

// aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor
Results fft_c2c(Call& c) {
  return joined(c, transformed(c, signal(c), whole_axes(c), c.flag("forward"), norm_of_code(c)));
}

// aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor
Results fft_r2c(Call& c) { return from_real(c, whole_axes(c), true, c.flag("onesided"), norm_of_code(c)); }

// aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor
Results fft_c2r(Call& c) {
  auto axes = whole_axes(c);
  if (!axes.empty()) axes.back().size = c.size("last_dim_size");
  return to_real(c, std::move(axes), false, norm_of_code(c));
}

// ---- around them -----------------------------------------------------------------------------------------------------

/// The zero frequency to the middle, or back: the axes are turned by half their length.
template <bool Forward>
Results shift(Call& c) {
  Value x = c.tensor("self");
  const auto rank = c.rank(x);
  std::vector<std::int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  if (const auto given = c.optional_ints("dim")) dims = *given;
  for (const auto dim : dims) {
    const auto axis = c.normalize_axis(dim, rank);
    const Dim size = c.size_of(x, axis);
    const Dim cut = Forward ? size - floor_div(size, 2) : floor_div(size, 2);
    const Value turned =
        onnx::concat(c, {onnx::slice(c, x, axis, cut, size), onnx::slice(c, x, axis, 0, cut)}, axis);
    c.set_shape(turned, c.sizes_of(x));
    x = turned;
  }
  return x;
}

/// Frequencies 0, 1, ... and then (unless `Half`) the negative ones, over n * d.
// aten::fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, ...) -> Tensor
template <bool Half>
Results frequencies(Call& c) {
  const Dim n = c.size("n");
  const DType dtype = c.dtype("dtype").value_or(DType::Float32);
  const Dim positive = floor_div(n + Dim(1), 2);
  Value bins = Half ? onnx::range(c, 0, floor_div(n, 2) + Dim(1))
                    : onnx::concat(c, {onnx::range(c, 0, positive), onnx::range(c, positive - n, 0)}, 0);
  if (!Half) c.set_shape(bins, {n});
  const Value step = onnx::mul(c, onnx::cast(c, c.size_value(n), dtype), c.constant(c.number("d"), dtype));
  return onnx::div(c, onnx::cast(c, bins, dtype), step);
}

constexpr Entry kTable[] = {
    {"aten::_fft_c2c", 9, fft_c2c, takes_complex},
    {"aten::_fft_c2r", 9, fft_c2r, takes_complex},
    {"aten::_fft_r2c", 9, fft_r2c},
    {"aten::fft_fft", 9, fft<true>, takes_complex},
    {"aten::fft_fft2", 9, fft<true>, takes_complex},
    {"aten::fft_fftfreq", 9, frequencies<false>},
    {"aten::fft_fftn", 9, fft<true>, takes_complex},
    {"aten::fft_fftshift", 9, shift<true>, by_parts},
    {"aten::fft_hfft", 9, irfft<true>, takes_complex},
    {"aten::fft_hfft2", 9, irfft<true>, takes_complex},
    {"aten::fft_hfftn", 9, irfft<true>, takes_complex},
    {"aten::fft_ifft", 9, fft<false>, takes_complex},
    {"aten::fft_ifft2", 9, fft<false>, takes_complex},
    {"aten::fft_ifftn", 9, fft<false>, takes_complex},
    {"aten::fft_ifftshift", 9, shift<false>, by_parts},
    {"aten::fft_ihfft", 9, rfft<false>},
    {"aten::fft_ihfft2", 9, rfft<false>},
    {"aten::fft_ihfftn", 9, rfft<false>},
    {"aten::fft_irfft", 9, irfft<false>, takes_complex},
    {"aten::fft_irfft2", 9, irfft<false>, takes_complex},
    {"aten::fft_irfftn", 9, irfft<false>, takes_complex},
    {"aten::fft_rfft", 9, rfft<true>},
    {"aten::fft_rfft2", 9, rfft<true>},
    {"aten::fft_rfftfreq", 9, frequencies<true>},
    {"aten::fft_rfftn", 9, rfft<true>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> fft_table() { return kTable; }

}  // namespace pt2onnx
