// The little of protobuf's wire format that streaming needs: a message field is a tag, the length of the message and
// its bytes; a varint holds seven bits per byte, lowest first. https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>

namespace pt2onnx::wire {

inline void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

/// What precedes the bytes of a field that holds a message, a string or bytes.
inline std::string field_header(int number, std::uint64_t length) {
  constexpr std::uint64_t length_delimited = 2;
  std::string header;
  append_varint(header, static_cast<std::uint64_t>(number) << 3 | length_delimited);
  append_varint(header, length);
  return header;
}

}  // namespace pt2onnx::wire
