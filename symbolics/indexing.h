// torch's advanced indexing, `x[i, :, mask, j]`, as reading and writing share it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pt2onnx/call.h"

namespace pt2onnx {

/// The list of an index expression: one entry per dim of self, absent for `:`; masks are turned into positions.
struct Indexing {
  std::vector<Value> positions;  // int64, each broadcastable to the others; entry i indexes dim i
  std::vector<std::int64_t> indexed() const;  // dims with positions
  /// Where the dims of the broadcast positions go in the result: at the first indexed dim if those are adjacent, else
  /// in front.
  std::int64_t place() const;
};

/// A mask that is the only index, and the dim that it starts at.
struct MaskIndex {
  Value mask;  // bool
  std::int64_t axis = 0;
};

/// The entries of the list as they are; absent for None.
std::vector<Value> index_list(Call& c, std::string_view argument);

/// Set when the list is one mask and otherwise `:`.
std::optional<MaskIndex> only_mask(Call& c, const std::vector<Value>& list);

Indexing positions_of(Call& c, const std::vector<Value>& list, std::size_t rank);

/// The common shape of the positions.
Shape broadcast_shape(Call& c, const std::vector<Value>& values);

/// Positions stacked along a new last axis, as GatherND and ScatterND take them: [broadcast..., count].
Value stacked_positions(Call& c, const Indexing& indexing);

/// Indexed dims first, the others after them in order: the permutation of self.
std::vector<std::int64_t> indexed_first(const Indexing& indexing, std::size_t rank);

/// From [positions..., rest...] to the order of torch's result, or back.
Value to_result_order(Call& c, Value x, const Indexing& indexing, std::size_t position_dims);
Value from_result_order(Call& c, Value x, const Indexing& indexing, std::size_t position_dims);

}  // namespace pt2onnx
