// Whole blocks of networks that several symbolic functions are made of.
#pragma once

#include "pt2onnx/call.h"

namespace pt2onnx {

/// Over the last `dims` axes; weight and bias may be absent.
Value layer_norm(Call& c, Value x, const Shape& normalized, Value weight, Value bias, double eps);

/// The p-norm over `axes`, which stay as dims of size 1.
Value p_norm(Call& c, Value x, const std::vector<std::int64_t>& axes, double p);

/// The angle of (x, y), from -pi to pi; both of one float dtype.
Value atan2(Call& c, Value y, Value x);

/// x times weight transposed, plus bias (which may be absent).
Value linear(Call& c, Value x, Value weight, Value bias);

/// The exact one, by the error function.
Value gelu(Call& c, Value x);

struct Attention {
  Value query, key, value;  // [..., heads, length, width]
  Value mask;               // added to the scores, or bool: true takes part; absent for none
  bool causal = false;
  bool grouped = false;  // fewer heads of key and value than of query
  std::optional<double> scale;
  double dropout = 0;  // of the weights, in training mode
};

/// torch's scaled dot product attention.
Value attention(Call& c, const Attention& a);

}  // namespace pt2onnx
