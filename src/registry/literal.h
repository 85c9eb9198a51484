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

}  // namespace pt2onnx
