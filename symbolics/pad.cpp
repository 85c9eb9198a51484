// Padding.
#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

// torch lists amounts in pairs from the last dim on.
Value padded(Call& c, Value x, const Shape& amounts, std::string_view mode, std::optional<Scalar> fill) {
  const std::size_t rank = c.rank(x);
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > rank)
    c.reject("names an amount of padding for each side of a dim");
  std::vector<std::pair<Dim, Dim>> pads(rank, {0, 0});
  for (std::size_t i = 0; i < amounts.size() / 2; ++i)
    pads[rank - 1 - i] = {amounts[2 * i], amounts[2 * i + 1]};
  std::optional<Value> value;
  if (fill && !fill->equals(0)) value = c.scalar_value(*fill, c.dtype_of(x));
  return onnx::pad(c, x, pads, mode, value);
}

// aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor
Results constant_pad_nd(Call& c) {
  return padded(c, c.tensor("self"), c.sizes("pad"), "constant", c.scalar("value"));
}

// aten::pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor
Results pad(Call& c) {
  const std::string mode = c.text("mode");
  const Value x = c.tensor("self");
  const Shape amounts = c.sizes("pad");
  if (mode == "constant") return padded(c, x, amounts, "constant", c.optional_scalar("value"));
  if (mode == "reflect") return padded(c, x, amounts, "reflect", {});
  if (mode == "replicate") return padded(c, x, amounts, "edge", {});
  if (mode == "circular") return padded(c, x, amounts, "wrap", {});
  c.reject("has the padding mode `" + mode + "`, which torch does not have");
}

// aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor
Results pad_enum(Call& c) {
  constexpr std::string_view kModes[] = {"reflect", "edge", "wrap",
                                         "constant"};  // in the order of torch's enum
  const std::int64_t mode = c.integer("mode");
  if (mode < 0 || mode > 3) c.reject("has a padding mode that torch does not have");
  return padded(c, c.tensor("self"), c.sizes("pad"), kModes[mode], c.optional_scalar("value"));
}

// aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor, and its kin
template <onnx::Name Mode, onnx::Name Amounts>
Results pad_by_mode(Call& c) {
  return padded(c, c.tensor("self"), c.sizes(Amounts.text), Mode.text, {});
}

constexpr Entry kTable[] = {
    {"aten::_pad_circular", 2, pad_by_mode<"wrap", "pad">, by_parts},
    {"aten::_pad_enum", 2, pad_enum, by_parts},
    {"aten::constant_pad_nd", 2, constant_pad_nd, by_parts},
    {"aten::pad", 2, pad, by_parts},
    {"aten::reflection_pad1d", 2, pad_by_mode<"reflect", "padding">, by_parts},
    {"aten::reflection_pad2d", 2, pad_by_mode<"reflect", "padding">, by_parts},
    {"aten::reflection_pad3d", 2, pad_by_mode<"reflect", "padding">, by_parts},
    {"aten::replication_pad1d", 2, pad_by_mode<"edge", "padding">, by_parts},
    {"aten::replication_pad2d", 2, pad_by_mode<"edge", "padding">, by_parts},
    {"aten::replication_pad3d", 2, pad_by_mode<"edge", "padding">, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> pad_table() { return kTable; }

}  // namespace pt2onnx
