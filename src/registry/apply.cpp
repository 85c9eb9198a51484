#include "registry/apply.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/names.h"
#include "registry/scalar_type.h"

namespace pt2onnx {
namespace {

using namespace std::string_view_literals;

// Arguments that tell where, not what: the same for both parts.
constexpr std::array kPlaces{"index"sv,     "indices"sv, "mask"sv,
                             "condition"sv, "repeats"sv, "tensor_indices_or_sections"sv};
// Real factors: the same for both parts.
constexpr std::array kFactors{"alpha"sv, "beta"sv, "weight"sv, "correction"sv, "step"sv};

bool is_complex_dtype(const program::SchemaArgument& parameter, const Argument& argument) {
  const auto* number = std::get_if<Scalar>(&argument.data);
  if (!number || parameter.name != "dtype") return false;
  const auto code = number->integer();
  const auto dtype = code ? dtype_of_scalar_type(*code) : std::nullopt;
  return dtype && is_complex(*dtype);
}

bool is_complex_value(const Argument& argument) {
  if (const auto* v = std::get_if<Value>(&argument.data)) return *v && is_complex(v->type());
  if (const auto* number = std::get_if<Scalar>(&argument.data))
    return number->kind() == Scalar::Kind::Complex;
  const auto* list = std::get_if<Argument::List>(&argument.data);
  return list && std::any_of(list->begin(), list->end(), is_complex_value);
}

bool is_complex_call(const program::Schema& schema, const Call::Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (is_complex_value(arguments[i]) ||
        (i < schema.arguments.size() && is_complex_dtype(schema.arguments[i], arguments[i])))
      return true;
  return false;
}

/// The real or imaginary part of an argument; a real value has an imaginary part of zeros.
Argument part_of(Builder& builder, const Argument& argument, bool imaginary) {
  if (const auto* list = std::get_if<Argument::List>(&argument.data)) {
    Argument::List parts;
    for (const Argument& item : *list) parts.push_back(part_of(builder, item, imaginary));
    return parts;
  }
  if (const auto* v = std::get_if<Value>(&argument.data); v && *v) {
    if (is_complex_value(argument)) {
      const auto [re, im] = builder.parts(*v);
      return imaginary ? im : re;
    }
    return imaginary ? builder.zeros_like(*v) : *v;
  }
  if (const auto* number = std::get_if<Scalar>(&argument.data)) {
    if (const auto* z = std::get_if<std::complex<double>>(&number->data()))
      return Scalar(imaginary ? z->imag() : z->real());
    if (imaginary) return number->kind() == Scalar::Kind::Float ? Scalar(0.0) : Scalar(0);
  }
  return argument;
}

/// Whether an argument holds elements: tensors that are no index or mask, and the numbers that they are filled with.
bool holds_elements(const program::SchemaArgument& parameter) {
  using enum program::TypeKind;
  if (contains(kPlaces, parameter.name) || contains(kFactors, parameter.name)) return false;
  const std::string& type = parameter.type->text;
  return type.find("Tensor") != std::string::npos || type.find("number") != std::string::npos ||
         type.find("Scalar") != std::string::npos || parameter.name == "value";
}

Results by_parts_of(const Rule& rule, Builder& builder, const program::Schema& schema,
                    const Call::Arguments& arguments) {
  const auto results_of = [&](bool imaginary) {
    Call::Arguments parts = arguments;
    for (std::size_t i = 0; i < parts.size() && i < schema.arguments.size(); ++i) {
      const auto& parameter = schema.arguments[i];
      if (holds_elements(parameter)) {
        parts[i] = part_of(builder, arguments[i], imaginary);
      } else if (is_complex_dtype(parameter, arguments[i])) {
        const auto code = *std::get<Scalar>(arguments[i].data).integer();
        parts[i] = Scalar(scalar_type_of(real_of(*dtype_of_scalar_type(code))));
      } else if (is_complex_value(arguments[i])) {
        throw Rejection("takes a complex `" + parameter.name + "`");
      } else if (parameter.name == "dtype" && !arguments[i].is_none()) {
        throw Rejection("turns complex values into real ones");
      } else if (parameter.name == "reduce" && !arguments[i].is_none()) {
        const auto* way = std::get_if<std::string>(&arguments[i].data);
        if (!way || (*way != "add" && *way != "sum" && *way != "mean"))
          throw Rejection("combines complex values by other than a sum");
      }
    }
    Call call(builder, schema, std::move(parts));
    return rule.convert(call);
  };
  Results results = results_of(false);
  const Results imaginary = results_of(true);
  const auto join = [&](auto& self, Argument& real, const Argument& other) -> void {
    if (auto* v = std::get_if<Value>(&real.data); v && *v) {
      real = builder.complex_value(*v, std::get<Value>(other.data));
    } else if (auto* list = std::get_if<Argument::List>(&real.data)) {
      const auto& others = std::get<Argument::List>(other.data);
      for (std::size_t i = 0; i < list->size(); ++i) self(self, (*list)[i], others.at(i));
    }
  };
  for (std::size_t i = 0; i < results.values.size(); ++i)
    join(join, results.values[i], imaginary.values.at(i));
  return results;
}

/// The summand of a sum with a product: `self` of addmm, the bias of a layer.
bool is_summand(const program::Schema& schema, const program::SchemaArgument& parameter) {
  if (parameter.name == "bias") return true;
  return parameter.name == "self" && (schema.name.starts_with("aten::add") || schema.name == "aten::baddbmm");
}

/// f(a + ib, c + id) = f(a, c) - f(b, d) + i (f(a, d) + f(b, c)), and so on for more factors. A summand joins one term of
/// each part.
Results multilinear_of(const Rule& rule, Builder& builder, const program::Schema& schema,
                       const Call::Arguments& arguments) {
  Call::Arguments real = arguments;
  std::vector<Argument*> factors;
  std::vector<std::pair<Argument, Argument>> parts;  // of the factors
  std::vector<std::size_t> summands;
  const auto add_factor = [&](Argument& argument) {
    if (!is_complex_value(argument)) return;
    if (const auto* number = std::get_if<Scalar>(&argument.data)) {
      const auto z = std::get<std::complex<double>>(number->data());
      parts.emplace_back(Scalar(z.real()), Scalar(z.imag()));
    } else {
      const auto [re, im] = builder.parts(std::get<Value>(argument.data));
      parts.emplace_back(re, im);
    }
    factors.push_back(&argument);
  };
  for (std::size_t i = 0; i < real.size() && i < schema.arguments.size(); ++i) {
    const auto& parameter = schema.arguments[i];
    if (parameter.name == "beta" && is_complex_value(real[i]))
      throw Rejection("takes a complex `" + parameter.name + "`");
    if (is_summand(schema, parameter)) {
      if (const auto* v = std::get_if<Value>(&real[i].data); v && *v) summands.push_back(i);
    } else if (auto* list = std::get_if<Argument::List>(&real[i].data)) {
      for (Argument& item : *list) add_factor(item);
    } else {
      add_factor(real[i]);
    }
  }
  constexpr std::size_t kMaxFactors = 3;
  if (factors.empty()) throw Rejection("adds a complex value to a product of real ones");
  if (factors.size() > kMaxFactors) throw Rejection("multiplies more than three complex values at once");

  Value sums[2];
  for (unsigned chosen = 0; chosen < 1U << factors.size(); ++chosen) {
    const int count = std::popcount(chosen);  // imaginary parts among the factors: i^count
    const bool imaginary = count % 2 != 0, negative = count % 4 >= 2;
    for (std::size_t k = 0; k < factors.size(); ++k)
      *factors[k] = (chosen >> k & 1U) != 0 ? parts[k].second : parts[k].first;
    for (const std::size_t i : summands) {
      const bool first = !sums[imaginary ? 1 : 0];
      real[i] = part_of(builder, arguments[i], imaginary);
      if (!first) real[i] = builder.zeros_like(std::get<Value>(real[i].data));
    }
    Call call(builder, schema, real);
    const Value term = std::get<Value>(rule.convert(call).values.at(0).data);
    Value& sum = sums[imaginary ? 1 : 0];
    if (!sum)
      sum = negative ? builder.emit("", "Neg", 1, {term}, {})[0] : term;
    else
      sum = builder.emit("", negative ? "Sub" : "Add", 1, {sum, term}, {})[0];
  }
  return builder.complex_value(sums[0], sums[1]);
}

/// The real function on real values that each complex argument is mapped to.
template <typename Map>
Results mapped(const Rule& rule, Builder& builder, const program::Schema& schema, Call::Arguments arguments,
               const Map& map) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Argument& argument = arguments[i];
    if (i < schema.arguments.size() && is_complex_dtype(schema.arguments[i], argument)) {
      const auto code = *std::get<Scalar>(argument.data).integer();
      argument = Scalar(scalar_type_of(real_of(*dtype_of_scalar_type(code))));
    } else if (is_complex_value(argument)) {
      const auto* v = std::get_if<Value>(&argument.data);
      if (!v) throw Rejection("takes complex numbers in a form that pt2onnx does not express by real ones");
      argument = map(builder, *v);
    }
  }
  Call call(builder, schema, std::move(arguments));
  return rule.convert(call);
}

Value modulus(Builder& builder, Value z) {
  const auto [re, im] = builder.parts(z);
  const auto square = [&](Value v) { return builder.emit("", "Mul", 1, {v, v}, {})[0]; };
  return builder.emit("", "Sqrt", 1, {builder.emit("", "Add", 1, {square(re), square(im)}, {})[0]}, {})[0];
}

Value truth(Builder& builder, Value z) { return builder.cast(z, DType::Bool); }

// Of a quantized tensor these give one with the same scale and zero point: torch moves the codes, or computes with them
// and rounds.
constexpr std::array kSameQuantization{"aten::_reshape_alias"sv,
                                       "aten::_unsafe_view"sv,
                                       "aten::adaptive_avg_pool2d"sv,
                                       "aten::adaptive_avg_pool3d"sv,
                                       "aten::alias"sv,
                                       "aten::avg_pool2d"sv,
                                       "aten::avg_pool3d"sv,
                                       "aten::cat"sv,
                                       "aten::channel_shuffle"sv,
                                       "aten::chunk"sv,
                                       "aten::clamp"sv,
                                       "aten::clone"sv,
                                       "aten::contiguous"sv,
                                       "aten::detach"sv,
                                       "aten::dropout"sv,
                                       "aten::expand"sv,
                                       "aten::flatten"sv,
                                       "aten::hardtanh"sv,
                                       "aten::index_select"sv,
                                       "aten::leaky_relu"sv,
                                       "aten::max_pool1d"sv,
                                       "aten::max_pool2d"sv,
                                       "aten::mean"sv,
                                       "aten::narrow"sv,
                                       "aten::permute"sv,
                                       "aten::pixel_shuffle"sv,
                                       "aten::pixel_unshuffle"sv,
                                       "aten::relu"sv,
                                       "aten::relu6"sv,
                                       "aten::reshape"sv,
                                       "aten::select"sv,
                                       "aten::slice"sv,
                                       "aten::split"sv,
                                       "aten::squeeze"sv,
                                       "aten::stack"sv,
                                       "aten::t"sv,
                                       "aten::transpose"sv,
                                       "aten::unbind"sv,
                                       "aten::unflatten"sv,
                                       "aten::unsqueeze"sv,
                                       "aten::upsample_bilinear2d"sv,
                                       "aten::upsample_nearest1d"sv,
                                       "aten::upsample_nearest2d"sv,
                                       "aten::upsample_nearest3d"sv,
                                       "aten::view"sv};

/// The first quantized tensor of an argument; null without one.
const ValueInfo* quantized_in(const Argument& argument) {
  if (const auto* v = std::get_if<Value>(&argument.data))
    return *v && v->info()->quantization ? v->info() : nullptr;
  if (const auto* list = std::get_if<Argument::List>(&argument.data))
    for (const Argument& item : *list)
      if (const auto* found = quantized_in(item)) return found;
  return nullptr;
}

[[noreturn]] void refuse_quantized() {
  Rejection rejection("takes quantized values, for which it has no form");
  rejection.advice = "dequantize them first";
  throw rejection;
}

/// The plain function on what the codes mean, quantized again: exact where elements only move.
Results requantized(const Rule& rule, Builder& builder, const program::Schema& schema,
                    Call::Arguments arguments, const ValueInfo& like) {
  const auto each = [](auto& self, Argument& argument, const auto& change) -> void {
    if (auto* list = std::get_if<Argument::List>(&argument.data)) {
      for (Argument& item : *list) self(self, item, change);
    } else if (auto* v = std::get_if<Value>(&argument.data); v && *v) {
      *v = change(*v);
    }
  };
  for (Argument& argument : arguments)
    each(each, argument,
         [](Value v) { return v.info()->quantization ? Value(v.info()->quantization->floats) : v; });
  Call call(builder, schema, std::move(arguments));
  Results results = rule.convert(call);
  const auto& q = *like.quantization;
  for (Argument& result : results.values)
    each(each, result, [&](Value v) { return call.quantize(v, q.scale, q.zero_point, *like.type.dtype); });
  return results;
}

}  // namespace

Results apply(const Registry& registry, const Rule& rule, Builder& builder, const program::Schema& schema,
              Call::Arguments arguments, std::vector<bool> unused) {
  using Form = Registry::Form;
  const Rule* chosen = &rule;
  const ValueInfo* quantized = nullptr;
  for (const Argument& argument : arguments)
    if (!quantized) quantized = quantized_in(argument);
  if (quantized && !schema.name.starts_with("quantized::")) {
    if (const Rule* form = registry.find(Form::Quantized, schema.name, schema.overload, builder.opset()))
      chosen = form;
    else if (contains(kSameQuantization, schema.name))
      return requantized(rule, builder, schema, std::move(arguments), *quantized);
    else if (rule.on_complex != OnComplex::Itself)
      refuse_quantized();
  }
  if (is_complex_call(schema, arguments)) {
    if (const Rule* form = registry.find(Form::Complex, schema.name, schema.overload, builder.opset())) {
      chosen = form;
    } else {
      switch (rule.on_complex) {
        case OnComplex::Refused:
          throw Rejection("takes or gives complex values, for which it has no form by real ones");
        case OnComplex::ByParts: return by_parts_of(rule, builder, schema, arguments);
        case OnComplex::Multilinear: return multilinear_of(rule, builder, schema, arguments);
        case OnComplex::ByModulus: return mapped(rule, builder, schema, std::move(arguments), modulus);
        case OnComplex::ByTruth: return mapped(rule, builder, schema, std::move(arguments), truth);
        case OnComplex::Itself: break;
      }
    }
  }
  Call call(builder, schema, std::move(arguments));
  call.set_unused(std::move(unused));
  return chosen->convert(call);
}

}  // namespace pt2onnx
