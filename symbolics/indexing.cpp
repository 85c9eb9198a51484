#include "indexing.h"

#include <algorithm>
#include <numeric>

#include "onnx.h"

namespace pt2onnx {
namespace {

bool is_mask(Call& c, Value v) {
  const auto dtype = c.dtype_of(v);
  return dtype == DType::Bool || dtype == DType::UInt8;
}

/// The permutation that moves dims [0, count) to `place`, among the dims after them.
std::vector<std::int64_t> moved(std::size_t rank, std::size_t count, std::int64_t place) {
  std::vector<std::int64_t> order(rank - count);
  std::iota(order.begin(), order.end(), static_cast<std::int64_t>(count));
  std::vector<std::int64_t> front(count);
  std::iota(front.begin(), front.end(), 0);
  order.insert(order.begin() + place, front.begin(), front.end());
  return order;
}

/// One 1-d position tensor per dim of the mask.
std::vector<Value> mask_positions(Call& c, Value mask) {
  const auto rank = c.rank(mask);
  if (rank == 0) c.reject("a mask without dims as index");
  const auto all = c.op("NonZero", {onnx::cast(c, mask, DType::Bool)});  // [rank, count]
  const Dim count = c.size_of(all, 1);
  std::vector<Value> positions;
  for (std::size_t i = 0; i < rank; ++i) {
    positions.push_back(rank == 1 ? onnx::squeeze(c, all, {0})
                                  : onnx::select(c, all, 0, static_cast<std::int64_t>(i)));
    c.set_shape(positions.back(), {count});
  }
  return positions;
}

}  // namespace

std::vector<std::int64_t> Indexing::indexed() const {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (positions[i]) dims.push_back(static_cast<std::int64_t>(i));
  return dims;
}

std::int64_t Indexing::place() const {
  const auto dims = indexed();
  if (dims.empty()) return 0;
  const bool adjacent = dims.back() - dims.front() + 1 == static_cast<std::int64_t>(dims.size());
  return adjacent ? dims.front() : 0;
}

std::vector<Value> index_list(Call& c, std::string_view argument) { return c.optional_tensors(argument); }

std::optional<MaskIndex> only_mask(Call& c, const std::vector<Value>& list) {
  std::optional<MaskIndex> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i]) continue;
    if (found || !is_mask(c, list[i]) || c.rank(list[i]) == 0) return std::nullopt;
    found = MaskIndex{onnx::cast(c, list[i], DType::Bool), static_cast<std::int64_t>(i)};
  }
  return found;
}

Indexing positions_of(Call& c, const std::vector<Value>& list, std::size_t rank) {
  Indexing indexing;
  for (const auto entry : list) {
    if (!entry) {
      indexing.positions.emplace_back();
    } else if (is_mask(c, entry)) {
      for (const auto position : mask_positions(c, entry)) indexing.positions.push_back(position);
    } else {
      indexing.positions.push_back(onnx::cast(c, entry, DType::Int64));
    }
  }
  if (indexing.positions.size() > rank) c.reject("more indices than dims");
  return indexing;
}

Shape broadcast_shape(Call& c, const std::vector<Value>& values) {
  Shape shape;
  for (const auto value : values) shape = onnx::broadcast_shape(c, shape, c.sizes_of(value));
  return shape;
}

Value stacked_positions(Call& c, const Indexing& indexing) {
  std::vector<Value> present;
  for (const auto position : indexing.positions)
    if (position) present.push_back(position);
  const auto shape = broadcast_shape(c, present);
  const auto last = static_cast<std::int64_t>(shape.size());
  for (auto& position : present) position = onnx::unsqueeze(c, onnx::expand(c, position, shape), {last});
  return onnx::concat(c, present, last);
}

std::vector<std::int64_t> indexed_first(const Indexing& indexing, std::size_t rank) {
  auto order = indexing.indexed();
  const auto count = order.size();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i)
    if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), i) ==
        order.begin() + static_cast<std::ptrdiff_t>(count))
      order.push_back(i);
  return order;
}

Value to_result_order(Call& c, Value x, const Indexing& indexing, std::size_t position_dims) {
  return onnx::transpose(c, x, moved(c.rank(x), position_dims, indexing.place()));
}

Value from_result_order(Call& c, Value x, const Indexing& indexing, std::size_t position_dims) {
  const auto forward = moved(c.rank(x), position_dims, indexing.place());
  std::vector<std::int64_t> back(forward.size());
  for (std::size_t i = 0; i < forward.size(); ++i)
    back[static_cast<std::size_t>(forward[i])] = static_cast<std::int64_t>(i);
  return onnx::transpose(c, x, back);
}

}  // namespace pt2onnx
