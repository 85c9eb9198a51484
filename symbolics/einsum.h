// Einstein sums: the equation, and their evaluation by MatMul for opsets without Einsum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/call.h"

namespace pt2onnx::einsum {

using Labels = std::vector<int>;  // one per dim

struct Equation {
  std::vector<Labels> operands;
  std::vector<bool> has_ellipsis;  // of each operand
  Labels result;
  std::string text;  // for ONNX Einsum: explicit result, no blanks
};

/// torch's grammar: letters, blanks, `...`, and an optional `->` (without it the labels that appear once, in
/// alphabetical order, after the dims of the ellipsis).
Equation parse(Call& c, std::string_view equation, const std::vector<Value>& operands);

/// Whether ONNX Einsum says the same: there a label has one size, and an ellipsis as many dims in every term.
bool fits_node(Call& c, const Equation& equation, const std::vector<Value>& operands);

/// Multiplies the operands and sums over every label that is not in `result`.
Value contract(Call& c, std::vector<Value> operands, std::vector<Labels> labels, const Labels& result);

}  // namespace pt2onnx::einsum
