// Arithmetic on Python numbers of which at least one is symbolic. (Known ones are computed by libtorch.)
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "interpreter/machine.h"

namespace pt2onnx {

/// `op` is the operator's name without namespace and overload: "add", "floordiv", "lt", "Int", "__range_length" ...
/// Integers stay integers: the result is a Dim wherever ring arithmetic, floor division, minimum and maximum express
/// it. Otherwise nodes on 0-d values are emitted, in double precision as Python's floats. Nullopt: no such operation.
std::optional<Scalar> symbolic_math(Machine& machine, std::string_view op, std::span<const Scalar> args);

/// Whether two values are equal: known, or a Bool that the graph computes; also of lists and tuples of numbers.
/// Nullopt for what is neither.
std::optional<Scalar> equality(Machine& machine, const Datum& a, const Datum& b);

/// The truth of a number: known, or a Bool that the graph computes.
Scalar truth(Machine& machine, const Scalar& number);

}  // namespace pt2onnx
