#include "pt2onnx/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "core/float_formats.h"

namespace pt2onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are little-endian");

/// An element of a narrow format in memory, distinct from the integer of its size.
template <const FloatFormat& Format, typename Bits>
struct Narrow {
  Bits bits;
  explicit operator double() const { return static_cast<double>(decode(bits, Format)); }
  static Narrow of(float value) { return {static_cast<Bits>(encode(value, Format))}; }
};

template <typename T>
constexpr bool kIsNarrow = false;
template <const FloatFormat& Format, typename Bits>
constexpr bool kIsNarrow<Narrow<Format, Bits>> = true;

template <typename Real>
struct ComplexElement {
  Real real, imaginary;
};
template <typename T>
constexpr bool kIsComplex = false;
template <typename Real>
constexpr bool kIsComplex<ComplexElement<Real>> = true;

/// Calls `f` with a null pointer of the element's type.
template <typename F>
decltype(auto) with_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f(static_cast<float*>(nullptr));
    case DType::Float64: return f(static_cast<double*>(nullptr));
    case DType::Float16: return f(static_cast<Narrow<kFloat16, std::uint16_t>*>(nullptr));
    case DType::BFloat16: return f(static_cast<Narrow<kBFloat16, std::uint16_t>*>(nullptr));
    case DType::Float8E4M3FN: return f(static_cast<Narrow<kFloat8E4M3FN, std::uint8_t>*>(nullptr));
    case DType::Float8E5M2: return f(static_cast<Narrow<kFloat8E5M2, std::uint8_t>*>(nullptr));
    case DType::Int8:
    case DType::QInt8: return f(static_cast<std::int8_t*>(nullptr));
    case DType::Int16: return f(static_cast<std::int16_t*>(nullptr));
    case DType::Int32:
    case DType::QInt32: return f(static_cast<std::int32_t*>(nullptr));
    case DType::Int64: return f(static_cast<std::int64_t*>(nullptr));
    case DType::UInt8:
    case DType::QUInt8: return f(static_cast<std::uint8_t*>(nullptr));
    case DType::UInt16: return f(static_cast<std::uint16_t*>(nullptr));
    case DType::UInt32: return f(static_cast<std::uint32_t*>(nullptr));
    case DType::UInt64: return f(static_cast<std::uint64_t*>(nullptr));
    case DType::Bool: return f(static_cast<bool*>(nullptr));
    case DType::Complex32: return f(static_cast<ComplexElement<Narrow<kFloat16, std::uint16_t>>*>(nullptr));
    case DType::Complex64: return f(static_cast<ComplexElement<float>*>(nullptr));
    case DType::Complex128: return f(static_cast<ComplexElement<double>*>(nullptr));
    case DType::String: break;
  }
  throw std::invalid_argument("a string tensor has no numbers");
}

std::int64_t truncated(double value) {
  constexpr double limit = 0x1p63;
  if (std::isnan(value) || value < -limit || value >= limit) {
    throw std::out_of_range("a value of " + std::to_string(value) + " does not fit into int64");
  }
  return static_cast<std::int64_t>(value);
}

/// Between an element and int64 or double.
template <typename Out, typename T>
Out read(T element) {
  if constexpr (kIsComplex<T>) {
    throw std::invalid_argument("a complex tensor has no single real number per element");
  } else if constexpr (std::is_same_v<Out, double>) {
    return static_cast<double>(element);
  } else if constexpr (kIsNarrow<T> || std::is_floating_point_v<T>) {
    return truncated(static_cast<double>(element));
  } else {
    if (!std::in_range<std::int64_t>(+element)) {
      throw std::out_of_range("a value of " + std::to_string(element) + " does not fit into int64");
    }
    return static_cast<std::int64_t>(element);
  }
}

template <typename T, typename In>
T made(In value) {
  if constexpr (kIsComplex<T>) {
    using Real = decltype(T::real);
    return {made<Real>(value), made<Real>(In{0})};
  } else if constexpr (kIsNarrow<T>) {
    return T::of(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<In>) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (value >= 0x1p63 && value < 0x1p64) return static_cast<std::uint64_t>(value);
    }
    return static_cast<T>(truncated(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename Out>
std::vector<Out> elements(const Tensor& tensor) {
  return with_element(tensor.dtype, [&]<typename T>(T*) {
    std::vector<Out> result;
    result.reserve(tensor.bytes.size() / sizeof(T));
    for (std::size_t at = 0; at + sizeof(T) <= tensor.bytes.size(); at += sizeof(T)) {
      T element;
      if constexpr (std::is_same_v<T, bool>) {
        element = tensor.bytes[at] != std::byte{0};  // any other bit pattern in a bool is undefined behaviour
      } else {
        std::memcpy(&element, tensor.bytes.data() + at, sizeof(T));
      }
      result.push_back(read<Out>(element));
    }
    return result;
  });
}

template <typename In>
Tensor of_numbers(std::span<const In> values, std::vector<std::int64_t> dims, DType dtype) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  with_element(dtype, [&]<typename T>(T*) {
    std::size_t at = 0;
    for (const In value : values) {
      const T element = made<T>(value);
      std::memcpy(bytes.data() + at, &element, sizeof(T));
      at += sizeof(T);
    }
  });
  return Tensor::of_bytes(std::move(bytes), std::move(dims), dtype);
}

}  // namespace

std::int64_t Tensor::numel() const {
  if (std::ranges::any_of(dims, [](std::int64_t dim) { return dim < 0; })) {
    throw std::invalid_argument("a tensor with a negative dim");
  }
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) {
      throw std::overflow_error("a tensor with more elements than int64 counts");
    }
  }
  return count;
}

std::vector<std::int64_t> Tensor::to_ints() const { return elements<std::int64_t>(*this); }
std::vector<double> Tensor::to_doubles() const { return elements<double>(*this); }

Tensor Tensor::of_ints(std::span<const std::int64_t> values, std::vector<std::int64_t> dims, DType dtype) {
  return of_numbers(values, std::move(dims), dtype);
}

Tensor Tensor::of_doubles(std::span<const double> values, std::vector<std::int64_t> dims, DType dtype) {
  return of_numbers(values, std::move(dims), dtype);
}

Tensor Tensor::scalar(double value, DType dtype) { return of_doubles({&value, 1}, {}, dtype); }
Tensor Tensor::scalar(std::int64_t value, DType dtype) { return of_ints({&value, 1}, {}, dtype); }

Tensor Tensor::of_bytes(std::vector<std::byte> bytes, std::vector<std::int64_t> dims, DType dtype) {
  const auto buffer = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  Tensor result;
  result.dtype = dtype;
  result.dims = std::move(dims);
  result.bytes = *buffer;
  result.owner = buffer;
  // No multiplication: numel() times the size may overflow, the quotient cannot.
  const std::size_t size = size_of(dtype);
  if (size != 0 && (buffer->size() % size != 0 || !std::cmp_equal(buffer->size() / size, result.numel()))) {
    throw std::invalid_argument("a tensor whose bytes do not match its dims");
  }
  return result;
}

Tensor real_pairs(const Tensor& tensor) {
  if (!is_complex(tensor.dtype)) return tensor;
  Tensor real = tensor;
  real.dtype = real_of(tensor.dtype);
  real.dims.push_back(2);
  return real;
}

bool identical(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.dims == b.dims && std::ranges::equal(a.bytes, b.bytes);
}

}  // namespace pt2onnx
