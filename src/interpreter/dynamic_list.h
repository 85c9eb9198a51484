// Lists whose length the graph decides: ONNX sequences.
#pragma once

#include "interpreter/machine.h"

namespace pt2onnx {

/// The sequence type that holds the list's items. Throws Rejection for items that no tensor can hold, or when nothing
/// tells the element type of an empty list.
ValueType sequence_type(Machine& machine, const ListState& list);

/// The list as an ONNX sequence of that type.
Value sequence_value(Machine& machine, const ListState& list, const ValueType& type);

/// A 0-d or other tensor taken from such a list, as the list's element type says.
Datum element_datum(Machine& machine, const ListState& list, Value value);

/// An item as the value that a sequence holds.
Value item_value(Machine& machine, const Datum& item);

}  // namespace pt2onnx
