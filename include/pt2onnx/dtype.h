// Element types of tensors, shared by the program (input) and the graph (output).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pt2onnx {

enum class DType : std::uint8_t {
  Float32,
  Float64,
  Float16,
  BFloat16,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Bool,
  Complex32,  // complex types exist in programs only; a graph holds their real and imaginary parts
  Complex64,
  Complex128,
  String,
  QInt8,  // quantized types exist in programs only; a graph holds Int8, UInt8, Int32
  QUInt8,
  QInt32,
  Float8E4M3FN,
  Float8E5M2,
};

/// The NumPy-like name that the command line and the reports use: "float32", "int64", "bool", "bfloat16".
std::string_view to_string(DType dtype);

/// The inverse of to_string; also takes torch's short names ("float", "half", "long", "f32", "i64").
std::optional<DType> dtype_from_string(std::string_view text);

/// Bytes of one element; 0 for String.
std::size_t size_of(DType dtype);

bool is_floating(DType dtype);  // float16, bfloat16, float32, float64, float8
bool is_complex(DType dtype);
bool is_quantized(DType dtype);
bool is_integral(DType dtype);  // signed and unsigned integers, not bool
bool is_unsigned(DType dtype);

/// complex32 -> float16, complex64 -> float32, complex128 -> float64, anything else unchanged.
DType real_of(DType dtype);
/// The complex type with parts of that type; complex64 for what is no such type, complex types unchanged.
DType complex_of(DType dtype);

/// ONNX's number of an element type (TensorProto.DataType), as the `to` and `dtype` attributes want it. Quantized types
/// count as the integer that stores them.
std::int64_t onnx_type_of(DType dtype);

}  // namespace pt2onnx
