#include "pt2onnx/graph.h"

#include <algorithm>

namespace pt2onnx {

std::optional<std::size_t> Value::rank() const {
  const auto& dims = shape();
  return dims ? std::optional(dims->size()) : std::nullopt;
}

Attributes::Attributes(std::initializer_list<Item> items) {
  for (const Item& item : items) set(item);
}

void Attributes::set(Item item) {
  const auto named = [&](const auto& entry) { return entry.first == item.name; };
  const auto at = std::ranges::find_if(items_, named);
  if (!item.value) {
    if (at != items_.end()) items_.erase(at);
  } else if (at != items_.end()) {
    at->second = std::move(*item.value);
  } else {
    items_.emplace_back(std::move(item.name), std::move(*item.value));
  }
}

const Attribute* Attributes::find(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace pt2onnx
