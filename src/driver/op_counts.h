// How often a program uses each operator.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx {

/// Operators of the entry method and of everything that it calls, once per call. Both sides of an `if` count, the body
/// of a loop counts once. prim:: operators are left out: they are the language, not the model.
std::map<std::string, std::size_t> count_operators(const program::Program& program);

/// The entry method first, then what it calls, each once, in order of the calls.
std::vector<const program::Function*> reached_functions(const program::Program& program);

}  // namespace pt2onnx
