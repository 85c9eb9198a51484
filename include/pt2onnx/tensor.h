// A constant tensor: dtype, dims and bytes that are shared, never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pt2onnx/dtype.h"

namespace pt2onnx {

/// Contiguous, row-major, little-endian. `owner` keeps `bytes` alive; copying a Tensor copies no element.
struct Tensor {
  DType dtype = DType::Float32;
  std::vector<std::int64_t> dims;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::string name;  // qualified name of a parameter or buffer ("layer1.0.conv1.weight"), else empty

  std::int64_t numel() const;

  /// Elements as int64 or double, whatever the stored dtype (bool counts as 0 and 1). Defined for every dtype but
  /// String and complex (std::invalid_argument); to_doubles keeps float64 exact, to_ints truncates towards zero and
  /// throws std::out_of_range for what int64 cannot hold.
  std::vector<std::int64_t> to_ints() const;
  std::vector<double> to_doubles() const;

  /// Elements are converted as torch does: integers wrap, floats round to nearest even (to 8 and 16 bits by way of
  /// float32), a complex number gets the value as its real part. std::invalid_argument when the counts differ.
  static Tensor of_ints(std::span<const std::int64_t> values, std::vector<std::int64_t> dims,
                        DType dtype = DType::Int64);
  static Tensor of_doubles(std::span<const double> values, std::vector<std::int64_t> dims, DType dtype);
  static Tensor scalar(double value, DType dtype);        // 0-d; rounds to dtype as torch does
  static Tensor scalar(std::int64_t value, DType dtype);  // 0-d
  /// Takes over a buffer.
  static Tensor of_bytes(std::vector<std::byte> bytes, std::vector<std::int64_t> dims, DType dtype);
};

/// A complex tensor as a real one with one more axis, (real, imaginary); the bytes are the same. Others: themselves.
Tensor real_pairs(const Tensor& tensor);

/// Same dtype, dims and bytes (bitwise).
bool identical(const Tensor& a, const Tensor& b);

}  // namespace pt2onnx
