#include "pt2onnx/dtype.h"

#include <array>
#include <utility>

namespace pt2onnx {
namespace {

enum class Kind { Floating, Signed, Unsigned, Boolean, Complex, Text };

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
  Kind kind;
};

constexpr std::array kRows{
    Row{DType::Float32, "float32", 4, Kind::Floating},
    Row{DType::Float64, "float64", 8, Kind::Floating},
    Row{DType::Float16, "float16", 2, Kind::Floating},
    Row{DType::BFloat16, "bfloat16", 2, Kind::Floating},
    Row{DType::Int8, "int8", 1, Kind::Signed},
    Row{DType::Int16, "int16", 2, Kind::Signed},
    Row{DType::Int32, "int32", 4, Kind::Signed},
    Row{DType::Int64, "int64", 8, Kind::Signed},
    Row{DType::UInt8, "uint8", 1, Kind::Unsigned},
    Row{DType::UInt16, "uint16", 2, Kind::Unsigned},
    Row{DType::UInt32, "uint32", 4, Kind::Unsigned},
    Row{DType::UInt64, "uint64", 8, Kind::Unsigned},
    Row{DType::Bool, "bool", 1, Kind::Boolean},
    Row{DType::Complex32, "complex32", 4, Kind::Complex},
    Row{DType::Complex64, "complex64", 8, Kind::Complex},
    Row{DType::Complex128, "complex128", 16, Kind::Complex},
    Row{DType::String, "string", 0, Kind::Text},
    Row{DType::QInt8, "qint8", 1, Kind::Signed},
    Row{DType::QUInt8, "quint8", 1, Kind::Unsigned},
    Row{DType::QInt32, "qint32", 4, Kind::Signed},
    Row{DType::Float8E4M3FN, "float8_e4m3fn", 1, Kind::Floating},
    Row{DType::Float8E5M2, "float8_e5m2", 1, Kind::Floating},
};

constexpr bool rows_follow_the_enum() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(rows_follow_the_enum());

constexpr std::array<std::pair<std::string_view, DType>, 33> kAliases{{
    {"float", DType::Float32},     {"double", DType::Float64},
    {"half", DType::Float16},      {"long", DType::Int64},
    {"int", DType::Int32},         {"short", DType::Int16},
    {"char", DType::Int8},         {"byte", DType::UInt8},
    {"cfloat", DType::Complex64},  {"cdouble", DType::Complex128},
    {"f16", DType::Float16},       {"f32", DType::Float32},
    {"f64", DType::Float64},       {"bf16", DType::BFloat16},
    {"i8", DType::Int8},           {"i16", DType::Int16},
    {"i32", DType::Int32},         {"i64", DType::Int64},
    {"u8", DType::UInt8},          {"u16", DType::UInt16},
    {"u32", DType::UInt32},        {"u64", DType::UInt64},
    {"b8", DType::Bool},           {"boolean", DType::Bool},
    {"chalf", DType::Complex32},   {"c32", DType::Complex32},
    {"c64", DType::Complex64},     {"c128", DType::Complex128},
    {"str", DType::String},        {"fp16", DType::Float16},
    {"fp32", DType::Float32},      {"f8e4m3fn", DType::Float8E4M3FN},
    {"f8e5m2", DType::Float8E5M2},
}};

const Row& row(DType dtype) { return kRows.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::string_view to_string(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_string(std::string_view text) {
  if (constexpr std::string_view prefix = "torch."; text.starts_with(prefix))
    text.remove_prefix(prefix.size());
  for (const Row& r : kRows) {
    if (r.name == text) return r.dtype;
  }
  for (const auto& [alias, dtype] : kAliases) {
    if (alias == text) return dtype;
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) { return row(dtype).size; }

bool is_floating(DType dtype) { return row(dtype).kind == Kind::Floating; }
bool is_complex(DType dtype) { return row(dtype).kind == Kind::Complex; }
bool is_quantized(DType dtype) {
  return dtype == DType::QInt8 || dtype == DType::QUInt8 || dtype == DType::QInt32;
}
bool is_integral(DType dtype) { return row(dtype).kind == Kind::Signed || row(dtype).kind == Kind::Unsigned; }
bool is_unsigned(DType dtype) { return row(dtype).kind == Kind::Unsigned; }

DType real_of(DType dtype) {
  if (dtype == DType::Complex32) return DType::Float16;
  if (dtype == DType::Complex64) return DType::Float32;
  if (dtype == DType::Complex128) return DType::Float64;
  return dtype;
}

DType complex_of(DType dtype) {
  if (is_complex(dtype)) return dtype;
  if (dtype == DType::Float16) return DType::Complex32;
  return dtype == DType::Float64 ? DType::Complex128 : DType::Complex64;
}

}  // namespace pt2onnx
