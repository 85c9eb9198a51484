#include "interpreter/view_inverse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/names.h"
#include "symbolics/onnx.h"

namespace pt2onnx {
namespace {

using namespace std::string_view_literals;

// Views that keep every element in its place in memory: a reshape back undoes them.
constexpr std::array kReshapes{"aten::view"sv,       "aten::reshape"sv,       "aten::_unsafe_view"sv,
                               "aten::flatten"sv,    "aten::unflatten"sv,     "aten::view_as"sv,
                               "aten::reshape_as"sv, "aten::squeeze"sv,       "aten::unsqueeze"sv,
                               "aten::detach"sv,     "aten::alias"sv,         "aten::contiguous"sv,
                               "aten::ravel"sv,      "aten::_reshape_alias"sv};

/// Along `axis`, [start, start + length) of `base` is replaced: what is before, the new part, what is behind.
Value replace_range(Call& c, Value base, std::int64_t axis, const Dim& start, const Dim& length, Value part) {
  const Dim size = c.size_of(base, axis);
  std::vector<Value> parts;
  if (!(start == Dim(0))) parts.push_back(onnx::slice(c, base, axis, 0, start));
  parts.push_back(part);
  const Dim end = start + length;
  if (!(end == size)) parts.push_back(onnx::slice(c, base, axis, end, size));
  return parts.size() == 1 ? part : onnx::concat(c, parts, axis);
}

std::optional<Value> write_range(Call& c, Value base, Value written) {
  const std::string_view name = c.name();
  const std::size_t rank = c.rank(base);
  if (name != "aten::select" && name != "aten::slice" && name != "aten::narrow") return std::nullopt;
  const std::int64_t axis = c.axis("dim", rank);
  const Dim size = c.size_of(base, axis);
  /// A start that is proved to lie inside: negative ones counted from the end.
  const auto inside = [&](Dim start) -> std::optional<Dim> {
    if (provably_less(start, 0) == true) start = start + size;
    if (provably_less(start, 0) != false || provably_less(size, start) != false) return std::nullopt;
    return start;
  };
  if (name == "aten::select") {
    if (const auto start = inside(c.size("index")))
      return replace_range(c, base, axis, *start, 1, onnx::unsqueeze(c, written, {axis}));
    return std::nullopt;
  }
  if (name == "aten::slice" && c.integer("step") != 1) return std::nullopt;
  const auto start = inside(c.is_none("start") ? Dim(0) : c.size("start"));
  if (!start) return std::nullopt;
  return replace_range(c, base, axis, *start, c.size_of(written, axis), written);
}

std::optional<Value> permute_back(Call& c, Value written) {
  const std::string_view name = c.name();
  const auto rank = static_cast<std::int64_t>(c.rank(written));
  if (name == "aten::t") return rank < 2 ? written : onnx::swap_axes(c, written, 0, 1);
  if (name == "aten::transpose" && c.has("dim0") && c.has("dim1"))
    return rank == 0 ? written
                     : onnx::swap_axes(c, written, c.axis("dim0", c.rank(written)),
                                       c.axis("dim1", c.rank(written)));
  if (name == "aten::permute") {
    const auto dims = c.ints("dims");
    std::vector<std::int64_t> inverse(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      inverse[static_cast<std::size_t>(c.normalize_axis(dims[i], dims.size()))] =
          static_cast<std::int64_t>(i);
    return onnx::transpose(c, written, inverse);
  }
  return std::nullopt;
}

/// The general way: where does each element of the view come from?
Value write_by_index(Call& c, const ViewStep& step, Value base, Value written,
                     const std::function<Value(const ViewStep&, Value)>& replay) {
  if (c.name().starts_with("aten::expand") || c.name() == "aten::broadcast_to")
    c.reject("writes in place into an expanded tensor, whose elements share memory",
             "call clone() before writing");
  if (c.dtype_of(base) != c.dtype_of(written))
    c.reject(fmt::format("writes in place through `{}`, which changes the element type", c.name()));
  const Shape shape = c.sizes_of(base);
  const Value positions = onnx::reshape(c, onnx::range(c, 0, product(shape)), shape);
  const Value touched = onnx::flatten_all(c, replay(step, positions));
  const Value flat = onnx::flatten_all(c, base);
  const Value updated = c.op(c.has_opset(11) ? "ScatterElements" : "Scatter",
                             {flat, touched, onnx::flatten_all(c, written)}, {{"axis", 0}});
  return onnx::reshape(c, updated, shape);
}

/// Views between complex tensors and their parts, and all others on both parts; nullopt where neither is complex.
std::optional<Value> write_complex(Builder& builder, const ViewStep& step, Value base, Value written,
                                   const std::function<Value(const ViewStep&, Value)>& replay) {
  const std::string& name = step.schema->name;
  if (!is_complex(base.type()) && !is_complex(written.type())) return std::nullopt;
  if (!is_complex(base.type())) {
    if (name == "aten::view_as_complex") return builder.pairs_of(written);
    throw Rejection("writes a complex tensor through `" + name + "` into a real one");
  }
  if (name == "aten::view_as_real") return builder.from_pairs(written);
  const auto [real, imaginary] = builder.parts(base);
  if (name == "aten::real") return builder.complex_value(written, imaginary);
  if (name == "aten::imag") return builder.complex_value(real, written);
  if (!is_complex(written.type()))
    throw Rejection("writes a real tensor through `" + name + "` into a complex one");
  const auto [new_real, new_imaginary] = builder.parts(written);
  if (name == "aten::conj" || name == "aten::_conj")
    return builder.complex_value(new_real, builder.emit("", "Neg", 1, {new_imaginary}, {})[0]);
  return builder.complex_value(write_through(builder, step, real, new_real, replay),
                               write_through(builder, step, imaginary, new_imaginary, replay));
}

}  // namespace

Value write_through(Builder& builder, const ViewStep& step, Value base, Value written,
                    const std::function<Value(const ViewStep&, Value)>& replay) {
  if (const auto value = write_complex(builder, step, base, written, replay)) return *value;
  auto arguments = step.arguments;
  arguments[0] = base;
  Call c(builder, *step.schema, std::move(arguments));
  if (contains(kReshapes, c.name())) {
    if (c.name() == "aten::view" && c.has("dtype"))
      c.reject("writes in place through `view(dtype)`, which reads the bytes as another type");
    return onnx::reshape(c, written, c.sizes_of(base));
  }
  if (const auto value = permute_back(c, written)) return *value;
  if (const auto value = write_range(c, base, written)) return *value;
  return write_by_index(c, step, base, written, replay);
}

}  // namespace pt2onnx
