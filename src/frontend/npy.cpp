#include "frontend/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pt2onnx::frontend {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"b1", DType::Bool},      {"i1", DType::Int8},        {"i2", DType::Int16},   {"i4", DType::Int32},
    {"i8", DType::Int64},     {"u1", DType::UInt8},       {"u2", DType::UInt16},  {"u4", DType::UInt32},
    {"u8", DType::UInt64},    {"f2", DType::Float16},     {"f4", DType::Float32}, {"f8", DType::Float64},
    {"c8", DType::Complex64}, {"c16", DType::Complex128},
};

struct Header {
  DType dtype = DType::Float32;
  bool big_endian = false;
  bool column_major = false;
  std::vector<std::int64_t> dims;
};

/// The text behind `'key':` in the header, which is a Python dict: {'descr': '<f4', 'fortran_order': False, ...}.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const auto at = header.find(quoted);
  if (at == std::string_view::npos) throw NpyError("its header has no `" + std::string(key) + "`");
  std::string_view value = header.substr(at + quoted.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

void read_descr(std::string_view value, Header& header) {
  if (value.size() < 4 || value[0] != '\'') throw NpyError("its elements are records, not numbers");
  const std::string_view descr = value.substr(1, value.find('\'', 1) - 1);
  for (const auto& [name, dtype] : kTypes) {
    if (descr.size() < 2 || descr.substr(1) != name) continue;
    header.dtype = dtype;
    header.big_endian = descr[0] == '>';
    return;
  }
  throw NpyError("its elements are of type `" + std::string(descr) + "`, not numbers");
}

std::vector<std::int64_t> read_shape(std::string_view value) {
  const auto close = value.find(')');
  if (value.empty() || value[0] != '(' || close == std::string_view::npos)
    throw NpyError("its shape is damaged");
  std::vector<std::int64_t> dims;
  std::string_view rest = value.substr(1, close - 1);
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
    if (rest.empty()) return dims;
    std::int64_t dim = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (error != std::errc() || dim < 0) throw NpyError("its shape is damaged");
    dims.push_back(dim);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
}

/// Bytes of the elements; refuses a product that does not fit.
std::size_t byte_count(const Header& header) {
  std::size_t count = size_of(header.dtype);
  for (const std::int64_t dim : header.dims) {
    if (dim != 0 && count > std::numeric_limits<std::size_t>::max() / static_cast<std::size_t>(dim))
      throw NpyError("its shape is impossible");
    count *= static_cast<std::size_t>(dim);
  }
  return count;
}

void swap_bytes(std::vector<std::byte>& bytes, DType dtype) {
  const std::size_t size = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

/// From column-major to row-major order.
std::vector<std::byte> reorder(const std::vector<std::byte>& bytes, const Header& header) {
  const std::size_t size = size_of(header.dtype), count = bytes.size() / size;
  std::vector<std::byte> out(bytes.size());
  std::vector<std::int64_t> index(header.dims.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t from = 0;
    for (std::size_t d = index.size(); d-- > 0;) from = from * header.dims[d] + index[d];
    std::memcpy(out.data() + i * size, bytes.data() + static_cast<std::size_t>(from) * size, size);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < header.dims[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

Tensor read_npy(std::string content) {
  if (!content.starts_with(kMagic) || content.size() < 12) throw NpyError("it is no NumPy array");
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(content[at])}; };
  const bool long_header = byte(6) >= 2;
  const std::size_t begin = long_header ? 12 : 10;
  std::size_t length = byte(8) | byte(9) << 8;
  if (long_header) length |= byte(10) << 16 | byte(11) << 24;
  if (length > content.size() - begin) throw NpyError("it is cut off");
  const std::string_view text = std::string_view(content).substr(begin, length);

  Header header;
  read_descr(value_of(text, "descr"), header);
  header.column_major = value_of(text, "fortran_order").starts_with("True");
  header.dims = read_shape(value_of(text, "shape"));

  const std::size_t size = byte_count(header);
  if (content.size() - begin - length < size) throw NpyError("it is cut off");
  const auto* data = reinterpret_cast<const std::byte*>(content.data()) + begin + length;
  std::vector<std::byte> bytes(data, data + size);
  if (header.big_endian) swap_bytes(bytes, header.dtype);
  if (header.column_major && header.dims.size() > 1) bytes = reorder(bytes, header);
  return Tensor::of_bytes(std::move(bytes), std::move(header.dims), header.dtype);
}

}  // namespace pt2onnx::frontend
