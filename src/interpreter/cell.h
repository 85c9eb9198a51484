// The join of two states of a program: what a variable may hold after either of two branches, or at the entry of every
// iteration of a loop.
//
// A cell is a tree of the shape of the datum. Its leaves are fixed (the same on every way here, nothing to pass on) or
// varying (a value that ONNX If or Loop passes through). `widen` makes a cell cover one more datum.
#pragma once

#include <string>
#include <vector>

#include "interpreter/machine.h"

namespace pt2onnx {

struct Cell {
  enum class Kind { Fixed, Tensor, Number, DynamicList, Maybe, List, Tuple, Dict, Unset };
  Kind kind = Kind::Fixed;
  Datum fixed;     // Fixed; and the pattern of List, Tuple, Dict (element types, keys)
  ValueType type;  // Tensor; DynamicList: a sequence, or a vector of numbers
  Scalar::Kind number = Scalar::Kind::Int;
  std::vector<Cell> children;  // List, Tuple, Dict: the items; Maybe: the value
};

/// A cell that holds exactly that datum.
Cell fixed_cell(Datum datum);

/// Makes `cell` cover `datum`; whether that changed it. Throws Rejection where both cannot be one value.
bool widen(Machine& machine, Cell& cell, const Datum& datum);

/// Whether the ranks of some tensor differ on the ways that the cell covers.
bool has_open_rank(const Cell& cell);

/// The same tensor, not only equal ones: what happened to its memory is carried by that.
bool same_tensor(const Datum& a, const Datum& b);

/// Reads all tensors in the datum now, so that nothing needs to be emitted for them later.
Datum settle(Machine& machine, const Datum& datum);

/// The types of the varying leaves, in order.
void leaf_types(const Cell& cell, const std::string& name, Builder::NamedTypes& types);
/// The values of the varying leaves for a datum that the cell covers, in the same order.
void leaf_values(Machine& machine, const Cell& cell, const Datum& datum, std::vector<Value>& values);
/// The datum whose varying leaves are `values[next...]`.
Datum instantiate(Machine& machine, const Cell& cell, const std::vector<Value>& values, std::size_t& next);

/// Content of a state (tensor memory, list, dict, object) as a datum, and back.
Datum state_content(const Snapshot& snapshot);
void set_state(Machine& machine, const StateRef& state, const Datum& content);

}  // namespace pt2onnx
