#include "pt2onnx/dtype.h"

namespace pt2onnx {

std::int64_t onnx_type_of(DType dtype) {
  // onnx.proto, TensorProto.DataType; part of the file format.
  switch (dtype) {
    case DType::Float32: return 1;
    case DType::UInt8:
    case DType::QUInt8: return 2;
    case DType::Int8:
    case DType::QInt8: return 3;
    case DType::UInt16: return 4;
    case DType::Int16: return 5;
    case DType::Int32:
    case DType::QInt32: return 6;
    case DType::Int64: return 7;
    case DType::String: return 8;
    case DType::Bool: return 9;
    case DType::Float16: return 10;
    case DType::Float64: return 11;
    case DType::UInt32: return 12;
    case DType::UInt64: return 13;
    case DType::Complex32: break;  // ONNX has none
    case DType::Complex64: return 14;
    case DType::Complex128: return 15;
    case DType::BFloat16: return 16;
    case DType::Float8E4M3FN: return 17;
    case DType::Float8E5M2: return 19;
  }
  return 0;
}

}  // namespace pt2onnx
