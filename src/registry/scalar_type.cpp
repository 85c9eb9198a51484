#include "registry/scalar_type.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace pt2onnx {
namespace {

// c10::ScalarType is part of the file format, so these numbers never change.
constexpr std::array kCodes{
    std::pair{0, DType::UInt8},     std::pair{1, DType::Int8},        std::pair{2, DType::Int16},
    std::pair{3, DType::Int32},     std::pair{4, DType::Int64},       std::pair{5, DType::Float16},
    std::pair{6, DType::Float32},   std::pair{7, DType::Float64},     std::pair{8, DType::Complex32},
    std::pair{9, DType::Complex64}, std::pair{10, DType::Complex128}, std::pair{11, DType::Bool},
    std::pair{12, DType::QInt8},    std::pair{13, DType::QUInt8},     std::pair{14, DType::QInt32},
    std::pair{15, DType::BFloat16}, std::pair{23, DType::Float8E5M2}, std::pair{24, DType::Float8E4M3FN},
    std::pair{27, DType::UInt16},   std::pair{28, DType::UInt32},     std::pair{29, DType::UInt64},
};

}  // namespace

std::optional<DType> dtype_of_scalar_type(std::int64_t code) {
  for (const auto& [number, dtype] : kCodes)
    if (number == code) return dtype;
  return std::nullopt;
}

std::int64_t scalar_type_of(DType dtype) {
  for (const auto& [number, d] : kCodes)
    if (d == dtype) return number;
  throw std::logic_error("torch has no scalar type for " + std::string(to_string(dtype)));
}

}  // namespace pt2onnx
