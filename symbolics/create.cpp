// Tensors made from sizes and numbers, and changes of element type.
#include <cmath>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

DType dtype_or(Call& c, DType otherwise) { return c.dtype("dtype").value_or(otherwise); }

DType natural_dtype(const Scalar& number) {
  switch (number.kind()) {
    case Scalar::Kind::Bool: return DType::Bool;
    case Scalar::Kind::Int: return DType::Int64;
    case Scalar::Kind::Float: return DType::Float32;
    case Scalar::Kind::Complex: return DType::Complex64;
  }
  return DType::Float32;
}

// ---- filled --------------------------------------------------------------------------------------------------------

// aten::zeros(SymInt[] size, *, ScalarType? dtype=None, ...) -> Tensor; empty holds what torch leaves undefined
template <int Number>
Results filled(Call& c) {
  return onnx::full(c, c.sizes("size"), Number, dtype_or(c, DType::Float32));
}

// aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, ...) -> Tensor
Results full(Call& c) {
  const Scalar value = c.scalar("fill_value");
  return onnx::full(c, c.sizes("size"), value, dtype_or(c, natural_dtype(value)));
}

// aten::zeros_like(Tensor self, *, ScalarType? dtype=None, ...) -> Tensor
template <int Number>
Results filled_like(Call& c) {
  const Value x = c.tensor("self");
  return onnx::full_like(c, x, Number, c.dtype("dtype"));
}

// aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, ...) -> Tensor
Results full_like(Call& c) {
  const Value x = c.tensor("self");
  return onnx::full_like(c, x, c.scalar("fill_value"), c.dtype("dtype"));
}

// aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, ...) -> Tensor
template <int Number>
Results new_filled(Call& c) {
  return onnx::full(c, c.sizes("size"), Number, dtype_or(c, c.dtype_of(c.tensor("self"))));
}

// aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, ...) -> Tensor
Results new_full(Call& c) {
  return onnx::full(c, c.sizes("size"), c.scalar("fill_value"), dtype_or(c, c.dtype_of(c.tensor("self"))));
}

// aten::zero(Tensor self) -> Tensor
Results zero(Call& c) { return onnx::full_like(c, c.tensor("self"), 0); }

// aten::fill.Scalar(Tensor self, Scalar value) -> Tensor
// aten::fill.Tensor(Tensor self, Tensor value) -> Tensor
Results fill(Call& c) {
  const Value x = c.tensor("self");
  return onnx::expand_as(c, as(c, operand(c, "value"), c.dtype_of(x)), x);
}

// aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor
Results copy(Call& c) {
  const Value x = c.tensor("self");
  return onnx::expand_as(c, onnx::cast(c, c.tensor("src"), c.dtype_of(x)), x);
}

// aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, ...) -> Tensor
Results scalar_tensor(Call& c) { return c.scalar_value(c.scalar("s"), dtype_or(c, DType::Float32)); }

// ---- lists as tensors ----------------------------------------------------------------------------------------------

/// The type of the numbers in a list of lists: the highest kind among them.
void find_kind(const Argument& data, Scalar::Kind& kind) {
  if (const auto* list = std::get_if<Argument::List>(&data.data)) {
    for (const Argument& item : *list) find_kind(item, kind);
  } else if (const auto* number = std::get_if<Scalar>(&data.data)) {
    kind = std::max(kind, number->kind());
  }
}

Value tensor_of(Call& c, const Argument& data, DType dtype) {
  if (const auto* number = std::get_if<Scalar>(&data.data)) return c.scalar_value(*number, dtype);
  if (const auto* value = std::get_if<Value>(&data.data)) return onnx::cast(c, *value, dtype);
  const auto* list = std::get_if<Argument::List>(&data.data);
  if (!list) c.reject("makes a tensor of something that is no number");
  if (list->empty()) return c.constant(Tensor::of_ints({}, {0}, dtype));
  std::vector<Value> rows;
  for (const Argument& item : *list) rows.push_back(onnx::unsqueeze(c, tensor_of(c, item, dtype), {0}));
  return onnx::concat(c, rows, 0);
}

// aten::tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor
// aten::tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor
// aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)
Results tensor(Call& c) {
  const Argument& data = c.argument(c.has("data") ? "data" : "t");
  if (const auto* value = std::get_if<Value>(&data.data))
    return onnx::cast(c, *value, dtype_or(c, c.dtype_of(*value)));
  const auto* list = std::get_if<Argument::List>(&data.data);
  Scalar::Kind kind = list && list->empty() ? Scalar::Kind::Float : Scalar::Kind::Bool;
  find_kind(data, kind);
  constexpr DType kNatural[] = {DType::Bool, DType::Int64, DType::Float32, DType::Complex64};
  return tensor_of(c, data, dtype_or(c, kNatural[static_cast<int>(kind)]));
}

// ---- sequences -----------------------------------------------------------------------------------------------------

/// Whole numbers from start, below end (above, if the step is negative).
Value whole_range(Call& c, const Dim& start, const Dim& end, std::int64_t step) {
  if (step > 0) return onnx::range(c, start, end, step);
  if (step == 0) c.reject("counts by steps of 0");
  const Value up = onnx::range(c, 0, max(ceil_div(start - end, -step), 0));
  const Value scaled = onnx::mul(c, up, c.constant(static_cast<double>(step), DType::Int64));
  return onnx::add(c, scaled, c.size_value(start));
}

// aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, ...) -> Tensor
Results arange(Call& c) {
  const Scalar start = c.has("start") ? c.scalar("start") : Scalar(0);
  const Scalar end = c.scalar("end");
  const Scalar step = c.has("step") ? c.scalar("step") : Scalar(1);
  const auto whole = [](const Scalar& s) { return s.kind() <= Scalar::Kind::Int; };
  if (whole(start) && whole(end) && whole(step)) {
    const DType dtype = dtype_or(c, DType::Int64);
    const auto dim = [&](const Scalar& s) -> Dim {
      if (const auto known = s.integer()) return *known;
      if (const auto* symbolic = std::get_if<Dim>(&s.data())) return *symbolic;
      return c.dim_from(c.scalar_value(s, DType::Int64));
    };
    const auto by = step.integer();
    if (!by) c.reject("counts by steps that are not known at export");
    return onnx::cast(c, whole_range(c, dim(start), dim(end), *by), dtype);
  }
  if (!c.has_opset(11)) c.needs_opset(11, "`Range` over numbers that are not whole exists from opset 11 on");
  const DType dtype = dtype_or(c, DType::Float32);
  const DType counted = dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  const Value range = c.op(
      "Range", {c.scalar_value(start, counted), c.scalar_value(end, counted), c.scalar_value(step, counted)});
  return onnx::cast(c, range, dtype);
}

// aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, ...) -> Tensor
Value spaced(Call& c, DType dtype) {
  const Dim steps = c.size("steps");
  const Operand from = operand(c, "start"), to = operand(c, "end");
  const Value start = as(c, from, dtype), end = as(c, to, dtype);
  if (steps == 1) return onnx::reshape(c, start, {1});
  const Value places = onnx::cast(c, onnx::range(c, 0, steps), dtype);
  const Value gaps = c.scalar_value(Scalar(steps - 1), dtype);
  return onnx::add(c, start, onnx::mul(c, places, onnx::div(c, onnx::sub(c, end, start), gaps)));
}

Results linspace(Call& c) {
  const DType dtype = dtype_or(c, DType::Float32);
  if (!is_floating(dtype)) c.reject("spaces whole numbers evenly, by sizes that are not known at export");
  return spaced(c, dtype);
}

// aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, ScalarType? dtype=None, ...) -> Tensor
Results logspace(Call& c) {
  const DType dtype = dtype_or(c, DType::Float32);
  if (!is_floating(dtype)) c.reject("spaces whole numbers evenly, by sizes that are not known at export");
  return onnx::pow(c, c.constant(c.number("base"), dtype), spaced(c, dtype));
}

// aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, ...) -> Tensor
Results eye(Call& c) {
  const Dim rows = c.size("n");
  const Dim columns = c.has("m") ? c.size("m") : rows;
  const Value row = onnx::unsqueeze(c, onnx::range(c, 0, rows), {1});
  const Value column = onnx::unsqueeze(c, onnx::range(c, 0, columns), {0});
  return onnx::cast(c, onnx::equal(c, row, column), dtype_or(c, DType::Float32));
}

// aten::tril(Tensor self, SymInt diagonal=0) -> Tensor
template <bool Upper>
Results triangular(Call& c) {
  return onnx::trilu(c, c.tensor("self"), c.integer("diagonal"), Upper);
}

// aten::one_hot(Tensor self, int num_classes=-1) -> Tensor
Results one_hot(Call& c) {
  const Value x = c.tensor("self");
  const std::int64_t asked = c.integer("num_classes");
  // -1: as many as the data has.
  const Dim classes =
      asked >= 0
          ? Dim(asked)
          : c.dim_from(onnx::reduce(c, "ReduceMax", onnx::flatten_all(c, x), {0}, false), "classes") + 1;
  const Value depth = onnx::unsqueeze(c, c.size_value(classes), {0});
  const bool lone = c.rank(x) == 0;
  const Value index = lone ? onnx::reshape(c, x, {1}) : x;
  const Value rows = c.op("OneHot", {index, depth, c.constant({0, 1})}, {{"axis", -1}});
  Shape shape = c.sizes_of(index);
  shape.push_back(classes);
  c.set_shape(rows, shape);
  return lone ? onnx::reshape(c, rows, {classes}) : rows;
}

// ---- element types -------------------------------------------------------------------------------------------------

// aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, ...) -> Tensor(a)
// aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, ...) -> Tensor(a)
// aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a): no change of type
Results to(Call& c) {
  const Value x = c.tensor("self");
  if (c.has("dtype")) return onnx::cast(c, x, dtype_or(c, c.dtype_of(x)));
  if (c.has("other")) return onnx::cast(c, x, c.dtype_of(c.tensor("other")));
  return x;
}

template <DType To>
Results cast_to(Call& c) {
  return onnx::cast(c, c.tensor("self"), To);
}

// aten::_shape_as_tensor(Tensor self) -> Tensor
Results shape_as_tensor(Call& c) { return c.shape_value(c.sizes_of(c.tensor("self"))); }

constexpr Entry kTable[] = {
    {"aten::_cast_Byte", 6, cast_to<DType::UInt8>},
    {"aten::_cast_Char", 6, cast_to<DType::Int8>},
    {"aten::_cast_Double", 6, cast_to<DType::Float64>},
    {"aten::_cast_Float", 6, cast_to<DType::Float32>},
    {"aten::_cast_Half", 6, cast_to<DType::Float16>},
    {"aten::_cast_Int", 6, cast_to<DType::Int32>},
    {"aten::_cast_Long", 6, cast_to<DType::Int64>},
    {"aten::_cast_Short", 6, cast_to<DType::Int16>},
    {"aten::_shape_as_tensor", 1, shape_as_tensor},
    {"aten::_to_copy", 6, to, takes_complex},
    {"aten::alias", 1, unchanged<"self">, by_parts},
    {"aten::alias_copy", 1, unchanged<"self">, by_parts},
    {"aten::arange", 9, arange},
    {"aten::as_tensor", 6, tensor, takes_complex},
    {"aten::clone", 1, unchanged<"self">, by_parts},
    {"aten::contiguous", 1, unchanged<"self">, by_parts},
    {"aten::copy", 8, copy, by_parts},
    {"aten::cpu", 1, unchanged<"self">, by_parts},
    {"aten::cuda", 1, unchanged<"self">, by_parts},
    {"aten::data", 1, unchanged<"self">, by_parts},
    {"aten::detach", 1, unchanged<"self">, by_parts},
    {"aten::detach_copy", 1, unchanged<"self">, by_parts},
    {"aten::empty", 9, filled<0>, by_parts},
    {"aten::empty_like", 9, filled_like<0>, by_parts},
    {"aten::empty_permuted", 9, filled<0>, by_parts},
    {"aten::empty_strided", 9, filled<0>, by_parts},
    {"aten::eye", 9, eye},
    {"aten::fill", 8, fill, by_parts},
    {"aten::full", 9, full, by_parts},
    {"aten::full_like", 9, full_like, by_parts},
    {"aten::lift", 1, unchanged<"self">, by_parts},
    {"aten::lift_fresh", 1, unchanged<"self">, by_parts},
    {"aten::lift_fresh_copy", 1, unchanged<"self">, by_parts},
    {"aten::linspace", 9, linspace},
    {"aten::logspace", 9, logspace},
    {"aten::new_empty", 9, new_filled<0>, by_parts},
    {"aten::new_empty_strided", 9, new_filled<0>, by_parts},
    {"aten::new_full", 9, new_full, by_parts},
    {"aten::new_ones", 9, new_filled<1>},
    {"aten::new_zeros", 9, new_filled<0>, by_parts},
    {"aten::one_hot", 9, one_hot},
    {"aten::ones", 9, filled<1>},
    {"aten::ones_like", 9, filled_like<1>},
    {"aten::scalar_tensor", 6, scalar_tensor},
    {"aten::tensor", 6, tensor, takes_complex},
    {"aten::to", 6, to, takes_complex},
    {"aten::tril", 9, triangular<false>, by_parts},
    {"aten::triu", 9, triangular<true>, by_parts},
    {"aten::type_as", 6, to, takes_complex},
    {"aten::zero", 9, zero, by_parts},
    {"aten::zeros", 9, filled<0>, by_parts},
    {"aten::zeros_like", 9, filled_like<0>, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> create_table() { return kTable; }

}  // namespace pt2onnx
