// Short-time Fourier transform and its inverse. With a known window of moderate length both are one convolution: the
// window times the waves of each frequency is the kernel, the hop its stride. Else the signal is cut into frames, and
// these are transformed (fourier.h).
#include <cmath>

#include "symbolics/fourier.h"
#include "symbolics/onnx.h"
#include "symbolics/promotion.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using complex::Number;
using fourier::Norm;

constexpr std::int64_t kKernelLength = 1024;   // kernels grow with the square
constexpr std::int64_t kLongestKernel = 2048;  // below opset 17, where ONNX has no `DFT`
constexpr std::int64_t kMaxOverlap = 64;       // frames that share a sample

struct Frames {
  std::int64_t length, hop;
  Value window;                                // [length]; absent: all ones
  std::optional<std::vector<double>> weights;  // of a window that is known
};

/// n_fft, hop_length, win_length and window; a shorter window is centred in the frame.
Frames frames_of(Call& c) {
  Frames f;
  f.length = c.integer("n_fft");
  if (f.length < 1) c.reject("has frames without samples");
  f.hop = c.optional_integer("hop_length").value_or(f.length / 4);
  if (f.hop < 1) c.reject("has a hop that is not positive");
  const std::int64_t width = c.optional_integer("win_length").value_or(f.length);
  if (width < 1 || width > f.length) c.reject("has a window that is longer than the frame");
  const std::int64_t left = (f.length - width) / 2;
  f.window = c.optional_tensor("window");
  if (f.window && is_complex(c.dtype_of(f.window))) c.reject("has a complex window");
  if (!f.window || f.window.constant()) {
    std::vector<double> given(static_cast<std::size_t>(width), 1);
    if (f.window) given = f.window.constant()->to_doubles();
    if (given.size() != static_cast<std::size_t>(width))
      c.reject("has a window of another length than `win_length`");
    f.weights.emplace(static_cast<std::size_t>(f.length), 0);
    std::copy(given.begin(), given.end(), f.weights->begin() + left);
  }
  if (f.window && width < f.length) f.window = onnx::pad(c, f.window, {{left, f.length - width - left}});
  if (!f.window && width < f.length)
    f.window = c.constant(Tensor::of_doubles(*f.weights, {f.length}, DType::Float32));
  return f;
}

/// Whether a convolution does it: ONNX Runtime has none in double precision.
bool by_convolution(Call& c, const Frames& f, DType dtype) {
  return f.weights && dtype == DType::Float32 &&
         f.length <= (c.has_opset(17) ? kKernelLength : kLongestKernel);
}

Value windowed(Call& c, Value frames, const Frames& f) {
  return f.window ? onnx::mul(c, frames, onnx::cast(c, f.window, c.dtype_of(frames))) : frames;
}

// ---- forward ---------------------------------------------------------------------------------------------------------

/// [batch, samples] -> [batch, frames, length], where each frame starts `hop` behind the last.
Value cut(Call& c, Value x, const Frames& f, const Dim& count) {
  const Value starts =
      onnx::mul(c, onnx::range(c, 0, count), c.constant(static_cast<double>(f.hop), DType::Int64));
  const Value positions =
      onnx::add(c, onnx::unsqueeze(c, starts, {1}), onnx::unsqueeze(c, onnx::range(c, 0, f.length), {0}));
  return onnx::gather(c, x, positions, 1);
}

/// The kernels of a convolution: cosines of all frequencies, then sines, [2 * bins, 1, length].
Value kernels(Call& c, const Frames& f, std::int64_t bins, double scale, DType dtype) {
  const auto w = fourier::waves(bins, f.length, f.length, scale);
  std::vector<double> values(w.cosine);
  for (const double s : w.sine) values.push_back(-s);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] *= (*f.weights)[i % static_cast<std::size_t>(f.length)];
  return c.constant(Tensor::of_doubles(values, {2 * bins, 1, f.length}, dtype));
}

/// [batch, samples] -> [batch, bins, frames]
Number spectrum(Call& c, const Number& x, const Frames& f, bool onesided, bool normalized) {
  const std::int64_t bins = onesided ? f.length / 2 + 1 : f.length;
  const Dim samples = c.size_of(x.re, 1);
  const Dim count = floor_div(samples - Dim(f.length), f.hop) + Dim(1);
  const DType dtype = c.dtype_of(x.re);
  if (!x.im && by_convolution(c, f, dtype)) {
    const double scale = normalized ? 1 / std::sqrt(static_cast<double>(f.length)) : 1;
    const Value parts = c.op("Conv", {onnx::unsqueeze(c, x.re, {1}), kernels(c, f, bins, scale, dtype)},
                             {{"strides", std::vector<std::int64_t>{f.hop}},
                              {"kernel_shape", std::vector<std::int64_t>{f.length}}});
    c.set_shape(parts, {c.size_of(x.re, 0), 2 * bins, count});
    return {onnx::slice(c, parts, 1, 0, bins), onnx::slice(c, parts, 1, bins, 2 * bins)};
  }
  const Norm norm = normalized ? Norm::ByRoot : Norm::None;
  const Value re = windowed(c, cut(c, x.re, f, count), f);
  Number y;
  if (!x.im) {
    y = fourier::r2c(c, re, 2, f.length, onesided, norm);
  } else {
    if (onesided) c.reject("gives one side of the spectrum of a complex signal, which torch refuses too");
    y = fourier::c2c(c, {re, windowed(c, cut(c, x.im, f, count), f)}, 2, f.length, true, norm);
  }
  return {onnx::swap_axes(c, y.re, 1, 2), onnx::swap_axes(c, y.im, 1, 2)};
}

/// torch's names of padding modes, in ONNX.
std::string pad_mode(Call& c) {
  const std::string mode = c.text("pad_mode");
  if (mode == "replicate") return "edge";
  if (mode == "circular") return "wrap";
  return mode;
}

// aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
//   normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor
// aten::stft.center(..., Tensor? window=None, bool center=True, str pad_mode="reflect", bool normalized=False, ...)
Results stft(Call& c) {
  const Value self = c.tensor("self");
  const Frames f = frames_of(c);
  if (c.has("align_to_window") && c.optional_flag("align_to_window").value_or(false))
    c.reject("`align_to_window`");
  Number x{self, Value()};
  if (is_complex(c.dtype_of(self))) x = complex::number_of(c, self);
  const bool single = c.rank(x.re) == 1;
  const std::int64_t beside = f.length / 2;
  const auto prepared = [&](Value part) {
    if (!part) return part;
    if (single) part = onnx::unsqueeze(c, part, {0});
    if (c.has("center") && c.flag("center"))
      part = onnx::pad(c, part, {{0, 0}, {beside, beside}}, pad_mode(c));
    return part;
  };
  x = {prepared(x.re), prepared(x.im)};
  const bool onesided = c.optional_flag("onesided").value_or(!x.im);
  Number y = spectrum(c, x, f, onesided, c.flag("normalized"));
  if (single) y = {onnx::squeeze(c, y.re, {0}), onnx::squeeze(c, y.im, {0})};
  const Value result = joined(c, y);
  const bool complex = c.optional_flag("return_complex").value_or(static_cast<bool>(x.im));
  return complex ? result : c.pairs(result);
}

// ---- inverse ---------------------------------------------------------------------------------------------------------

/// [batch, frames, length] -> [batch, samples]: each frame is added `hop` behind the last. Cut into pieces of one hop,
/// the k-th piece of a frame lies k hops behind its start.
Value overlapped(Call& c, Value frames, const Frames& f) {
  const std::int64_t pieces = (f.length + f.hop - 1) / f.hop;
  if (pieces > kMaxOverlap) c.reject("adds more than 64 frames to a sample in a form that is no convolution");
  const Dim batch = c.size_of(frames, 0), count = c.size_of(frames, 1);
  frames = fourier::resized(c, frames, 2, pieces * f.hop);
  Value sum;
  for (std::int64_t k = 0; k < pieces; ++k) {
    const Value piece = onnx::slice(c, frames, 2, k * f.hop, (k + 1) * f.hop);
    const Value placed = onnx::pad(c, piece, {{0, 0}, {k, pieces - 1 - k}, {0, 0}});
    sum = sum ? onnx::add(c, sum, placed) : placed;
  }
  const Dim rows = count + Dim(pieces - 1);
  const Value flat = onnx::reshape(c, sum, {batch, rows * Dim(f.hop)});
  const Dim samples = (count - Dim(1)) * Dim(f.hop) + Dim(f.length);
  const Value result = onnx::slice(c, flat, 1, 0, samples);
  c.set_shape(result, {batch, samples});
  return result;
}

/// Real signals of one-sided spectra [batch, bins, frames] by one transposed convolution.
Value synthesized(Call& c, const Number& y, const Frames& f, Norm norm, DType dtype) {
  const std::int64_t bins = f.length / 2 + 1;
  const double n = static_cast<double>(f.length);
  auto w = fourier::waves(bins, f.length, f.length, norm == Norm::ByRoot ? 1 / std::sqrt(n) : 1 / n);
  const auto weights = fourier::onesided_weights(f.length);
  std::vector<double> kernel;
  for (const bool sine : {false, true})
    for (std::size_t i = 0; i < w.cosine.size(); ++i) {
      const auto length = static_cast<std::size_t>(f.length);
      kernel.push_back((sine ? -w.sine[i] : w.cosine[i]) * weights[i / length] * (*f.weights)[i % length]);
    }
  const Value signal = c.op(
      "ConvTranspose",
      {onnx::concat(c, {y.re, y.im}, 1),
       c.constant(Tensor::of_doubles(kernel, {2 * bins, 1, f.length}, dtype))},
      {{"strides", std::vector<std::int64_t>{f.hop}}, {"kernel_shape", std::vector<std::int64_t>{f.length}}});
  const Dim samples = (c.size_of(y.re, 2) - Dim(1)) * Dim(f.hop) + Dim(f.length);
  const Dim batch = c.size_of(y.re, 0);
  c.set_shape(signal, {batch, 1, samples});
  return onnx::squeeze(c, signal, {1});
}

/// The sum of the squared windows at each sample, [1, samples]: what overlapping frames have been multiplied with.
Value envelope(Call& c, const Frames& f, const Dim& count, DType dtype) {
  const auto frames = count.known();
  if (f.weights && frames) {
    std::vector<double> sum(static_cast<std::size_t>((*frames - 1) * f.hop + f.length));
    for (std::int64_t t = 0; t < *frames; ++t)
      for (std::int64_t i = 0; i < f.length; ++i) {
        const double w = (*f.weights)[static_cast<std::size_t>(i)];
        sum[static_cast<std::size_t>(t * f.hop + i)] += w * w;
      }
    return c.constant(Tensor::of_doubles(sum, {1, static_cast<std::int64_t>(sum.size())}, dtype));
  }
  Value square = f.window ? onnx::cast(c, f.window, dtype) : onnx::full(c, {f.length}, Scalar(1), dtype);
  square = onnx::mul(c, square, square);
  if (!by_convolution(c, f, dtype)) return overlapped(c, onnx::expand(c, square, {1, count, f.length}), f);
  const Value sum = c.op(
      "ConvTranspose",
      {onnx::full(c, {1, 1, count}, Scalar(1), dtype), onnx::reshape(c, square, {1, 1, f.length})},
      {{"strides", std::vector<std::int64_t>{f.hop}}, {"kernel_shape", std::vector<std::int64_t>{f.length}}});
  c.set_shape(sum, {1, 1, (count - Dim(1)) * Dim(f.hop) + Dim(f.length)});
  return onnx::squeeze(c, sum, {1});
}

// aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool
//   center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor
Results istft(Call& c) {
  const Value self = c.tensor("self");
  if (!is_complex(c.dtype_of(self))) c.reject("expects a complex spectrum");
  const Frames f = frames_of(c);
  Number y = complex::number_of(c, self);
  const DType dtype = c.dtype_of(y.re);
  const bool single = c.rank(y.re) == 2;
  if (single) y = {onnx::unsqueeze(c, y.re, {0}), onnx::unsqueeze(c, y.im, {0})};
  const Dim bins = c.size_of(y.re, 1), count = c.size_of(y.re, 2);
  const bool onesided = c.optional_flag("onesided").value_or(!(bins == Dim(f.length)));
  const bool complex = c.flag("return_complex");
  const Norm norm = c.flag("normalized") ? Norm::ByRoot : Norm::ByLength;

  Number x;
  if (complex) {
    if (onesided) c.reject("gives a complex signal of one side of a spectrum, which torch refuses too");
    const Number frames = fourier::c2c(c, {onnx::swap_axes(c, y.re, 1, 2), onnx::swap_axes(c, y.im, 1, 2)}, 2,
                                       f.length, false, norm);
    x = {overlapped(c, windowed(c, frames.re, f), f), overlapped(c, windowed(c, frames.im, f), f)};
  } else {
    if (!onesided) {
      y = {onnx::slice(c, y.re, 1, 0, f.length / 2 + 1), onnx::slice(c, y.im, 1, 0, f.length / 2 + 1)};
    }
    if (by_convolution(c, f, dtype)) {
      x.re = synthesized(c, y, f, norm, dtype);
    } else {
      const Value frames = fourier::c2r(c, {onnx::swap_axes(c, y.re, 1, 2), onnx::swap_axes(c, y.im, 1, 2)},
                                        2, f.length, norm);
      x.re = overlapped(c, windowed(c, frames, f), f);
    }
  }

  const Dim total = (count - Dim(1)) * Dim(f.hop) + Dim(f.length);
  const bool center = c.flag("center");
  const Dim start = center ? f.length / 2 : 0;
  const auto length = c.optional_size("length");
  const Dim end = length ? start + *length : center ? total - Dim(f.length / 2) : total;
  const Dim kept = length ? min(end, total) : end;
  const Value weight = onnx::slice(c, envelope(c, f, count, dtype), 1, start, kept);
  const auto finished = [&](Value part) {
    if (!part) return part;
    part = onnx::div(c, onnx::slice(c, part, 1, start, kept), weight);
    const Dim batch = c.size_of(part, 0);
    c.set_shape(part, {batch, kept - start});
    if (length) part = fourier::resized(c, part, 1, *length);
    return single ? onnx::squeeze(c, part, {0}) : part;
  };
  x = {finished(x.re), finished(x.im)};
  return complex ? joined(c, x) : x.re;
}

constexpr Entry kTable[] = {
    {"aten::istft", 9, istft, takes_complex},
    {"aten::stft", 9, stft, takes_complex},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> stft_table() { return kTable; }

}  // namespace pt2onnx
