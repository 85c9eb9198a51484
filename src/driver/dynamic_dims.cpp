#include "driver/dynamic_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <string_view>

#include "diagnosis/near_names.h"
#include "driver/bind_inputs.h"

namespace pt2onnx {
namespace {

std::string own_symbol(const Leaf& leaf, std::size_t axis) { return fmt::format("{}_{}", leaf.name, axis); }

void make_all_dynamic(std::vector<Leaf>& leaves) {
  for (Leaf& leaf : leaves)
    for (std::size_t i = 0; i < leaf.dims.size(); ++i)
      if (leaf.dims[i].symbol.empty()) leaf.dims[i].symbol = own_symbol(leaf, i);
}

/// Dim 0 of every input. One name says that the sizes are equal, so an input whose example says otherwise gets a name
/// of its own.
void make_batch_dynamic(std::vector<Leaf>& leaves) {
  std::optional<std::int64_t> batch;
  for (Leaf& leaf : leaves) {
    if (leaf.dims.empty() || !leaf.dims.front().symbol.empty()) continue;
    LeafDim& dim = leaf.dims.front();
    if (!batch) batch = dim.size;
    dim.symbol = dim.size == *batch ? "batch" : leaf.name + "_batch";
  }
}

Leaf& leaf_named(std::vector<Leaf>& leaves, std::string_view name, std::string_view option) {
  std::vector<std::string> names;
  for (Leaf& leaf : leaves) {
    if (leaf.path == name || leaf.name == name) return leaf;
    names.push_back(leaf.path);
  }
  const auto near = near_names(name, names, 1);
  throw BindingError(fmt::format("--dynamic {}: there is no tensor input `{}`; {}", option, name,
                                 near.empty() ? fmt::format("the inputs are {}", fmt::join(names, ", "))
                                              : fmt::format("`{}` is near", near.front())));
}

bool is_symbol(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

/// One `2=height` (or `2` alone, which gets the input's own name).
void apply_axis(Leaf& leaf, std::string_view item, std::string_view option) {
  const auto equals = item.find('=');
  const std::string_view number = item.substr(0, equals);
  std::int64_t axis = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), axis);
  if (error != std::errc() || end != number.data() + number.size())
    throw BindingError(
        fmt::format("--dynamic {}: expected `axis=name` such as `0=batch`, got `{}`", option, item));
  const auto rank = static_cast<std::int64_t>(leaf.dims.size());
  if (axis < -rank || axis >= rank)
    throw BindingError(
        fmt::format("--dynamic {}: `{}` has {} dims, there is no axis {}", option, leaf.path, rank, axis));
  const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  std::string symbol =
      equals == std::string_view::npos ? own_symbol(leaf, index) : std::string(item.substr(equals + 1));
  if (!is_symbol(symbol))
    throw BindingError(fmt::format(
        "--dynamic {}: `{}` is no name for a dim; letters, digits and `_` make one", option, symbol));
  leaf.dims[index].symbol = std::move(symbol);
}

}  // namespace

void apply_dynamic(const std::vector<std::string>& options, std::vector<Leaf>& leaves) {
  // What names an input comes first, whatever the order: "batch" and "all" leave alone what has a name already.
  for (const std::string& option : options) {
    const auto colon = option.find(':');
    if (colon == std::string::npos) continue;
    Leaf& leaf = leaf_named(leaves, std::string_view(option).substr(0, colon), option);
    std::string_view rest = std::string_view(option).substr(colon + 1);
    for (bool more = true; more;) {
      const auto comma = rest.find(',');
      more = comma != std::string_view::npos;
      apply_axis(leaf, rest.substr(0, comma), option);
      if (more) rest.remove_prefix(comma + 1);
    }
  }
  for (const std::string& option : options) {
    if (option.find(':') != std::string::npos) continue;
    if (option == "batch") {
      make_batch_dynamic(leaves);
    } else if (option == "all") {
      make_all_dynamic(leaves);
    } else {
      throw BindingError(
          fmt::format("--dynamic {}: expected `NAME:0=batch,2=height`, `batch` or `all`", option));
    }
  }
}

void agree_on_sizes(std::vector<Leaf>& leaves) {
  struct Told {
    std::int64_t size;
    std::string place;
  };
  std::map<std::string, Told> told;
  const auto each = [&](const auto& visit) {
    for (Leaf& leaf : leaves)
      for (std::size_t i = 0; i < leaf.dims.size(); ++i)
        if (!leaf.dims[i].symbol.empty()) visit(leaf, leaf.dims[i], i);
  };
  each([&](const Leaf& leaf, const LeafDim& dim, std::size_t axis) {
    if (dim.chosen) return;
    const std::string place = fmt::format("dim {} of `{}`", axis, leaf.path);
    const auto [it, fresh] = told.try_emplace(dim.symbol, Told{dim.size, place});
    if (!fresh && it->second.size != dim.size)
      throw BindingError(
          fmt::format("the dim `{}` has two sizes: {} is {}, {} is {}; give them different names", dim.symbol,
                      it->second.place, it->second.size, place, dim.size));
  });
  std::map<std::string, std::int64_t> chosen;
  each([&](const Leaf&, LeafDim& dim, std::size_t) {
    if (!dim.chosen) return;
    if (const auto it = told.find(dim.symbol); it != told.end()) {
      dim.size = it->second.size;
      dim.chosen = false;
    } else {
      dim.size = chosen.try_emplace(dim.symbol, dim.size).first->second;
    }
  });
}

}  // namespace pt2onnx
