#include "pt2onnx/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "registry/builder.h"
#include "registry/literal.h"
#include "registry/scalar_type.h"

namespace pt2onnx {
namespace {

std::string describe(const Argument& argument) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(const Value&) const { return "a tensor"; }
    std::string operator()(const Scalar& s) const {
      static constexpr const char* kNames[] = {"a bool", "an int", "a float", "a complex number"};
      return std::string(kNames[static_cast<int>(s.kind())]) +
             (s.is_known() ? "" : " that the graph computes");
    }
    std::string operator()(const std::string& s) const { return fmt::format("the string '{}'", s); }
    std::string operator()(const Argument::List& l) const {
      return l.empty() ? "an empty list" : fmt::format("a list whose first item is {}", describe(l[0]));
    }
    std::string operator()(const program::OpaqueLiteral& o) const { return "an object of type " + o.type; }
  };
  return std::visit(Visitor{}, argument.data);
}

const Scalar* as_scalar(const Argument& argument) { return std::get_if<Scalar>(&argument.data); }

/// A known 0-d (or one-element) constant tensor where Python expects a number.
std::optional<Scalar> number_in(const Argument& argument) {
  if (const Scalar* s = as_scalar(argument)) return *s;
  const Value* v = std::get_if<Value>(&argument.data);
  if (!v || !*v) return std::nullopt;
  const Tensor* tensor = v->constant();
  if (!tensor || tensor->numel() != 1 || is_complex(tensor->dtype)) return std::nullopt;
  if (tensor->dtype == DType::Bool) return Scalar(tensor->to_ints()[0] != 0);
  if (is_floating(tensor->dtype)) return Scalar(tensor->to_doubles()[0]);
  return Scalar(tensor->to_ints()[0]);
}

template <typename T>
bool holds(const Argument& argument) {
  return std::holds_alternative<T>(argument.data);
}

}  // namespace

// ---- Scalar ----------------------------------------------------------------------------------------------------------

Scalar Scalar::size_test(Value value, bool when_filled) {
  Scalar test(Kind::Bool, value);
  std::get<Computed>(test.data_).when_filled = when_filled;
  return test;
}

Scalar::Kind Scalar::kind() const {
  if (const auto* computed = std::get_if<Computed>(&data_)) return computed->kind;
  return static_cast<Kind>(data_.index());  // the alternatives before Computed are in the order of Kind
}

bool Scalar::is_known() const {
  if (const auto* dim = std::get_if<Dim>(&data_)) return dim->is_static();
  return !std::holds_alternative<Computed>(data_);
}

std::optional<double> Scalar::number() const {
  if (const auto* v = std::get_if<double>(&data_)) return *v;
  if (const auto v = integer()) return static_cast<double>(*v);
  return std::nullopt;
}

std::optional<std::int64_t> Scalar::integer() const {
  if (const auto* v = std::get_if<bool>(&data_)) return *v ? 1 : 0;
  if (const auto* v = std::get_if<Dim>(&data_)) return v->known();
  return std::nullopt;
}

Argument::Argument(const std::vector<Value>& v) : data(List(v.begin(), v.end())) {}

// ---- Call: arguments -------------------------------------------------------------------------------------------------

Call::Call(Builder& builder, const program::Schema& schema, Arguments arguments)
    : builder_(builder), schema_(schema), arguments_(std::move(arguments)) {
  for (std::size_t i = arguments_.size(); i < schema_.arguments.size(); ++i) {
    const auto& parameter = schema_.arguments[i];
    if (!parameter.default_value) {
      reject(fmt::format("called with {} arguments, and `{}` has no default", arguments_.size(),
                         parameter.name));
    }
    arguments_.push_back(argument_from(builder_, *parameter.default_value).value());
  }
}

int Call::opset() const { return builder_.opset(); }

const Argument* Call::find(std::string_view argument) const {
  for (std::size_t i = 0; i < schema_.arguments.size(); ++i)
    if (schema_.arguments[i].name == argument) return &arguments_[i];
  return nullptr;
}

bool Call::has(std::string_view argument) const { return find(argument) != nullptr; }

const Argument& Call::argument(std::string_view name) const {
  if (const Argument* found = find(name)) return *found;
  // A symbolic function that is wrong, or one for all overloads of which this one has other arguments.
  reject(fmt::format("its symbolic function reads `{}`, which is not in `{}`", name, schema_.text));
}

void Call::mismatch(std::string_view name, std::string_view expected) const {
  reject(fmt::format("argument `{}` must be {}, got {}", name, expected, describe(argument(name))));
}

bool Call::is_none(std::string_view name) const {
  const Argument& a = argument(name);
  const Value* v = std::get_if<Value>(&a.data);
  return a.is_none() || (v && !*v);
}

Value Call::tensor(std::string_view name) {
  const Argument& a = argument(name);
  if (const Value* v = std::get_if<Value>(&a.data); v && *v) return *v;
  if (const Scalar* s = as_scalar(a)) {
    return scalar_value(*s, default_dtype(s->kind()));
  }
  mismatch(name, "a tensor");
}

Value Call::optional_tensor(std::string_view name) { return is_none(name) ? Value() : tensor(name); }

std::vector<Value> Call::tensors(std::string_view name) {
  auto values = optional_tensors(name);
  if (std::any_of(values.begin(), values.end(), [](Value v) { return !v; }))
    mismatch(name, "a list of tensors");
  return values;
}

std::vector<Value> Call::optional_tensors(std::string_view name) {
  const auto* list = std::get_if<Argument::List>(&argument(name).data);
  if (!list) mismatch(name, "a list of tensors");
  std::vector<Value> values;
  for (const Argument& item : *list) {
    if (const Value* v = std::get_if<Value>(&item.data))
      values.push_back(*v);
    else if (item.is_none())
      values.emplace_back();
    else
      mismatch(name, "a list of tensors");
  }
  return values;
}

std::int64_t Call::integer(std::string_view name) {
  const auto number = number_in(argument(name));
  if (!number || number->kind() > Scalar::Kind::Int) mismatch(name, "an int that is known at export");
  if (const auto known = number->integer()) return *known;
  mismatch(name, "an int that is known at export");
}

std::optional<std::int64_t> Call::optional_integer(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(integer(name));
}

namespace {

/// An int that may be symbolic, from a number or an integer tensor of one element.
std::optional<Dim> dim_in(Call& c, const Argument& argument) {
  if (const auto number = number_in(argument)) {
    if (const auto* dim = std::get_if<Dim>(&number->data())) return *dim;
    if (const auto integer = number->integer()) return Dim(*integer);
    if (const auto* computed = std::get_if<Scalar::Computed>(&number->data());
        computed && computed->kind <= Scalar::Kind::Int)
      return c.dim_from(computed->value);
    return std::nullopt;
  }
  if (const Value* v = std::get_if<Value>(&argument.data); v && *v && v->dtype() && is_integral(*v->dtype()))
    return c.dim_from(*v);
  return std::nullopt;
}

}  // namespace

Dim Call::size(std::string_view name) {
  if (auto dim = dim_in(*this, argument(name))) return std::move(*dim);
  mismatch(name, "an int");
}

std::optional<Dim> Call::optional_size(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(size(name));
}

Shape Call::sizes(std::string_view name) {
  const Argument& a = argument(name);
  Shape shape;
  if (const auto* list = std::get_if<Argument::List>(&a.data)) {
    for (const Argument& item : *list) {
      auto dim = dim_in(*this, item);
      if (!dim) mismatch(name, "a list of ints");
      shape.push_back(std::move(*dim));
    }
    return shape;
  }
  if (auto dim = dim_in(*this, a)) return {std::move(*dim)};
  mismatch(name, "a list of ints");
}

std::optional<Shape> Call::optional_sizes(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(sizes(name));
}

std::vector<std::int64_t> Call::ints(std::string_view name) {
  if (auto known = pt2onnx::static_shape(sizes(name))) return std::move(*known);
  mismatch(name, "a list of ints that are known at export");
}

std::vector<std::int64_t> Call::ints(std::string_view name, std::size_t count) {
  auto values = ints(name);
  if (values.size() == 1) values.resize(count, values[0]);
  if (values.size() != count) mismatch(name, fmt::format("a list of {} ints", count));
  return values;
}

std::optional<std::vector<std::int64_t>> Call::optional_ints(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(ints(name));
}

double Call::number(std::string_view name) {
  if (const auto number = number_in(argument(name)))
    if (const auto known = number->number()) return *known;
  mismatch(name, "a number that is known at export");
}

std::optional<double> Call::optional_number(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(number(name));
}

std::vector<double> Call::numbers(std::string_view name) {
  const auto* list = std::get_if<Argument::List>(&argument(name).data);
  if (!list) return {number(name)};
  std::vector<double> values;
  for (const Argument& item : *list) {
    const auto number = number_in(item);
    const auto known = number ? number->number() : std::nullopt;
    if (!known) mismatch(name, "a list of numbers that are known at export");
    values.push_back(*known);
  }
  return values;
}

std::optional<std::vector<double>> Call::optional_numbers(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(numbers(name));
}

Scalar Call::scalar(std::string_view name) {
  const Argument& a = argument(name);
  if (const auto number = number_in(a)) return *number;
  if (const Value* v = std::get_if<Value>(&a.data); v && *v && v->dtype()) {
    const DType dtype = *v->dtype();
    if (is_integral(dtype)) return dim_from(*v);
    if (is_floating(dtype)) return Scalar(Scalar::Kind::Float, *v);
    if (dtype == DType::Bool) return Scalar(Scalar::Kind::Bool, *v);
  }
  mismatch(name, "a number");
}

std::optional<Scalar> Call::optional_scalar(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(scalar(name));
}

bool Call::flag(std::string_view name) {
  if (const auto number = number_in(argument(name)))
    if (const auto known = number->integer()) return *known != 0;
  mismatch(name, "a bool that is known at export");
}

std::optional<bool> Call::optional_flag(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(flag(name));
}

std::string Call::text(std::string_view name) {
  if (const auto* s = std::get_if<std::string>(&argument(name).data)) return *s;
  mismatch(name, "a string");
}

std::optional<std::string> Call::optional_text(std::string_view name) {
  return is_none(name) ? std::nullopt : std::optional(text(name));
}

std::optional<DType> Call::dtype(std::string_view name) {
  if (is_none(name)) return std::nullopt;
  const std::int64_t code = integer(name);
  if (const auto dtype = dtype_of_scalar_type(code)) return dtype;
  reject(fmt::format("`{}` is torch's scalar type {}, which ONNX does not have", name, code));
}

// ---- Call: facts -----------------------------------------------------------------------------------------------------

std::size_t Call::rank(Value v) const { return shape(v).size(); }

DType Call::dtype_of(Value v) const {
  if (v.dtype()) return *v.dtype();
  reject(fmt::format("the element type of `{}` is not known", v.name()));
}

const Shape& Call::shape(Value v) const {
  if (v.shape()) return *v.shape();
  reject(fmt::format("the rank of `{}` is not known", v.name()));
}

std::vector<std::int64_t> Call::static_shape(Value v) const {
  if (auto known = pt2onnx::static_shape(shape(v))) return std::move(*known);
  reject(fmt::format("needs sizes that are known at export, and `{}` is {}", v.name(), to_string(shape(v))),
         "keep these dims static: leave them out of --dynamic");
}

std::int64_t Call::normalize_axis(std::int64_t axis, std::size_t rank) const {
  const auto n = std::max<std::int64_t>(static_cast<std::int64_t>(rank), 1);
  if (axis < -n || axis >= n) reject(fmt::format("dim {} is out of range for rank {}", axis, rank));
  return axis < 0 ? axis + n : axis;
}

std::int64_t Call::axis(std::string_view name, std::size_t rank) {
  return normalize_axis(integer(name), rank);
}

std::vector<std::int64_t> Call::axes(std::string_view name, std::size_t rank, bool empty_means_none) {
  auto axes = optional_ints(name);
  std::vector<std::int64_t> result;
  if (!axes || (axes->empty() && !empty_means_none)) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<std::int64_t>(i));
    return result;
  }
  if (rank == 0) return {};  // the one axis that a 0-d tensor is said to have holds nothing to reduce
  for (const auto axis : *axes) result.push_back(normalize_axis(axis, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    reject(fmt::format("`{}` names a dim twice", name));
  return result;
}

// ---- Call: emission --------------------------------------------------------------------------------------------------

Value Call::op(std::string_view type, std::vector<Value> inputs, Attributes attributes) {
  return op(type, 1, std::move(inputs), std::move(attributes))[0];
}

std::vector<Value> Call::op(std::string_view type, std::size_t outputs, std::vector<Value> inputs,
                            Attributes attributes) {
  return builder_.emit("", type, outputs, std::move(inputs), std::move(attributes));
}

std::vector<Value> Call::custom_op(std::string_view domain, std::string_view type, std::size_t outputs,
                                   std::vector<Value> inputs, Attributes attributes,
                                   std::vector<ValueType> types) {
  std::optional<std::vector<ValueType>> given;
  if (!types.empty()) given = std::move(types);
  return builder_.emit(domain, type, outputs, std::move(inputs), std::move(attributes), std::move(given));
}

Call::Parts Call::parts(Value v) {
  if (!is_complex(dtype_of(v))) return {v, Value()};
  const auto [real, imaginary] = builder_.parts(v);
  return {real, imaginary};
}

Value Call::complex(Value real, Value imaginary) { return builder_.complex_value(real, imaginary); }
Value Call::pairs(Value complex) { return builder_.pairs_of(complex); }
Value Call::from_pairs(Value pairs) { return builder_.from_pairs(pairs); }

Value Call::cast(Value v, DType to) { return v.dtype() == to ? v : builder_.cast(v, to); }

Value Call::constant(Tensor tensor) { return builder_.constant(std::move(tensor)); }

Value Call::constant(std::span<const std::int64_t> ints) {
  return constant(Tensor::of_ints(ints, {static_cast<std::int64_t>(ints.size())}));
}

Value Call::constant(std::initializer_list<std::int64_t> ints) {
  return constant(std::span(ints.begin(), ints.size()));
}

Value Call::constant(double value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }

Value Call::scalar_value(const Scalar& scalar, DType dtype) {
  if (const auto integer = scalar.integer()) return constant(Tensor::scalar(*integer, dtype));
  if (const auto number = scalar.number()) return constant(Tensor::scalar(*number, dtype));
  Value value;
  if (const auto* dim = std::get_if<Dim>(&scalar.data())) value = size_value(*dim);
  if (const auto* computed = std::get_if<Scalar::Computed>(&scalar.data())) value = computed->value;
  if (!value) reject("takes a complex number as a scalar, which ONNX does not have");
  if (value.dtype() == dtype) return value;
  return builder_.cast(value, dtype);
}

Value Call::size_value(const Dim& dim) { return builder_.size_value(dim); }
Value Call::shape_value(const Shape& shape) { return builder_.shape_value(shape); }
Dim Call::size_of(Value v, std::int64_t axis) { return builder_.size_of(v, normalize_axis(axis, rank(v))); }

Shape Call::sizes_of(Value v) {
  Shape sizes;
  for (std::size_t i = 0; i < rank(v); ++i)
    sizes.push_back(builder_.size_of(v, static_cast<std::int64_t>(i)));
  return sizes;
}

Dim Call::dim_from(Value v, std::string_view hint) { return builder_.symbol_of_value(v, hint); }
void Call::set_shape(Value v, Shape shape) { builder_.refine_shape(v, shape); }
void Call::set_dtype(Value v, DType dtype) { v.info()->type.dtype = dtype; }
void Call::rename(Value v, std::string_view name) {
  v.info()->name = builder_.unique_name(std::string(name));
}

std::optional<Value> Call::fold(std::string_view torch_op, Arguments arguments) {
  return builder_.fold(torch_op, arguments);
}

std::optional<std::vector<program::Literal>> Call::evaluate(std::string_view torch_op,
                                                            const std::vector<program::Literal>& arguments) {
  Folder* folder = builder_.folder();
  if (!folder) reject("holds packed parameters, which can only be read with folding (without --no-fold)");
  const auto dot = torch_op.find('.');
  const auto schema =
      folder->schema(torch_op.substr(0, dot), dot == std::string_view::npos ? "" : torch_op.substr(dot + 1));
  if (!schema) reject(fmt::format("is read by `{}`, which this libtorch does not have", torch_op));
  auto result = folder->evaluate(*schema, arguments);
  return result.ok() ? std::optional(std::move(result.values)) : std::nullopt;
}

Value Call::quantize(Value floats, double scale, std::int64_t zero_point, DType to) {
  if (to == DType::QInt32) reject("quantizes to 32 bits, which ONNX `QuantizeLinear` does not");
  const DType code = to == DType::QInt8 ? DType::Int8 : DType::UInt8;
  const Value codes = op("QuantizeLinear", {cast(floats, DType::Float32), constant(scale, DType::Float32),
                                            constant(Tensor::scalar(zero_point, code))});
  return quantized(codes, scale, zero_point, to);
}

Value Call::quantized(Value codes, double scale, std::int64_t zero_point, DType dtype) {
  return builder_.quantized_value(codes, scale, zero_point, dtype);
}

Value Call::dequantize(Value v) {
  return v && v.info()->quantization ? Value(v.info()->quantization->floats) : v;
}

const ValueInfo::Quantization& Call::quantization(Value v) const {
  if (!v.info()->quantization) reject("expects a quantized tensor");
  return *v.info()->quantization;
}

// ---- Call: refusal ---------------------------------------------------------------------------------------------------

void Call::assume(std::string what) { builder_.assume(std::move(what)); }

bool Call::assume_one(const Dim& size, std::string what) {
  if (!builder_.pin(size, 1)) return false;
  assume(std::move(what));
  return true;
}

void Call::reject(std::string why, std::string advice) const {
  Rejection rejection(std::move(why));
  rejection.advice = std::move(advice);
  throw rejection;
}

void Call::needs_opset(int version, std::string why) const {
  Rejection rejection(std::move(why));
  rejection.first_opset = version;
  throw rejection;
}

}  // namespace pt2onnx
