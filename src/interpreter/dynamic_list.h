// Lists whose length the graph decides: ONNX sequences, or one tensor.
#pragma once

#include "interpreter/machine.h"

namespace pt2onnx {

/// The symbolic functions' ways to say things, for what no operator of the program asks for.
Call shaping(Machine& machine);

/// The sequence type that holds the list's items. Throws Rejection for items that no tensor can hold, or when nothing
/// tells the element type of an empty list.
ValueType sequence_type(Machine& machine, const ListState& list);

/// The list as an ONNX sequence of that type.
Value sequence_value(Machine& machine, const ListState& list, const ValueType& type);

/// Whether the items are Python numbers: such a list is a 1-d tensor wherever the graph decides its length.
bool holds_numbers(const ListState& list);
/// The numbers as a 1-d tensor.
Value number_vector(Machine& machine, const ListState& list);

/// What a list is where the graph decides its length, and the value: a vector of numbers, or a sequence.
ValueType list_type(Machine& machine, const ListState& list);
Value list_value(Machine& machine, const ListState& list, const ValueType& type);

/// The tensor whose first axis counts the items, for the same of a list.
DynamicItems stacked(Value value);

/// A 0-d or other tensor taken from such a list, as the list's element type says.
Datum element_datum(Machine& machine, const ListState& list, Value value);

/// An item as the value that a sequence holds. Writes to it are refused from now on.
Value item_value(Machine& machine, const Datum& item);

/// The items that were appended in all iterations of a loop, `appended` of them in each, given one tensor for each whose
/// first axis counts the iterations; before them the items that were in the list before the loop.
ListRef grown_list(Machine& machine, const ListState& before, const std::vector<Value>& appended);
/// Whether the items can stand in one tensor with these others: the same element type and sizes, all seen from here.
bool can_stack(Machine& machine, const std::vector<Datum>& items, const ListState& with);

}  // namespace pt2onnx
