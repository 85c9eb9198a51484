// Discrete Fourier transforms along one axis.
#pragma once

#include "pt2onnx/call.h"
#include "symbolics/complex_math.h"

namespace pt2onnx::fourier {

enum class Norm { None, ByRoot, ByLength };  // nothing, 1 / sqrt(n), 1 / n

/// Of a complex signal; all n coefficients. `forward`: exp(-2 pi i k t / n), else with a plus. Sizes along the axis must
/// be n.
complex::Number c2c(Call& c, const complex::Number& x, std::int64_t axis, const Dim& n, bool forward,
                    Norm norm);
/// Of a real signal, forward: the first n / 2 + 1 coefficients, or all.
complex::Number r2c(Call& c, Value x, std::int64_t axis, const Dim& n, bool onesided, Norm norm);
/// The real signal of length n of which these are the first n / 2 + 1 coefficients (inverse transform).
Value c2r(Call& c, const complex::Number& x, std::int64_t axis, const Dim& n, Norm norm);

/// cos and sin of 2 pi k t / n for t in [0, rows) and k in [0, columns), times `scale`.
struct Waves {
  std::vector<double> cosine, sine;
};
Waves waves(std::int64_t rows, std::int64_t columns, std::int64_t n, double scale = 1);

/// What a coefficient of a one-sided spectrum counts in the signal: those that stand for their mirror image too, twice.
std::vector<double> onesided_weights(std::int64_t n);

/// Cut off or filled with zeros at the end.
Value resized(Call& c, Value x, std::int64_t axis, const Dim& n);

}  // namespace pt2onnx::fourier
