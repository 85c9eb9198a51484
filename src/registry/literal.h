// Between literals of the program and arguments of a call.
#pragma once

#include <optional>

#include "pt2onnx/call.h"

namespace pt2onnx {

class Builder;

/// Tensors become constants of the builder. Dicts, objects and functions cannot be arguments: nullopt.
std::optional<Argument> argument_from(Builder& builder, const program::Literal& literal);

/// The literal of an argument that is known; nullopt when the graph computes some part of it.
std::optional<program::Literal> literal_from(const Argument& argument);

/// Bytes of all tensors in it, those in lists and tuples included.
std::size_t tensor_bytes(const program::Literal& literal);

/// The element type of a tensor that is made of a Python number.
DType default_dtype(Scalar::Kind kind);

}  // namespace pt2onnx
