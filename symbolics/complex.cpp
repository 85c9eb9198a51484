// Complex numbers: operators that make them or take them apart, and forms of the others where complex arithmetic is not
// the real one on both parts. Operators that are linear, products and the like need nothing here: their rows say so
// (OnComplex).
#include <numbers>

#include "symbolics/blocks.h"
#include "symbolics/complex_math.h"
#include "symbolics/onnx.h"
#include "symbolics/promotion.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

using complex::joined;
using complex::Number;
using complex::number_of;

// ---- between complex and real ----------------------------------------------------------------------------------------

// aten::view_as_real(Tensor(a) self) -> Tensor(a)
Results view_as_real(Call& c) { return c.pairs(c.tensor("self")); }

// aten::view_as_complex(Tensor(a) self) -> Tensor(a)
Results view_as_complex(Call& c) {
  const Value x = c.tensor("self");
  if (!is_floating(c.dtype_of(x))) c.reject("takes whole numbers as complex ones, which torch refuses too");
  return c.from_pairs(x);
}

/// Both operands in their common float type and shape.
std::pair<Value, Value> float_pair(Call& c, std::string_view a, std::string_view b) {
  auto [x, y] = promoted(c, a, b);
  const Shape shape = onnx::broadcast_shape(c, c.sizes_of(x), c.sizes_of(y));
  return {onnx::expand(c, x, shape), onnx::expand(c, y, shape)};
}

// aten::complex(Tensor real, Tensor imag) -> Tensor
Results make_complex(Call& c) {
  const auto [re, im] = float_pair(c, "real", "imag");
  return c.complex(re, im);
}

// aten::polar(Tensor abs, Tensor angle) -> Tensor
Results make_polar(Call& c) {
  const auto [radius, angle] = float_pair(c, "abs", "angle");
  return joined(c, complex::polar(c, radius, angle));
}

// aten::chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
Results chalf(Call& c) { return c.cast(c.tensor("self"), DType::Complex32); }

Results real_part(Call& c) { return number_of(c, "self").re; }

// aten::imag(Tensor(a) self) -> Tensor(a)
Results imaginary_part(Call& c) {
  if (!is_complex(c.dtype_of(c.tensor("self")))) c.reject("asks for the imaginary part of a real tensor");
  return number_of(c, "self").im;
}

// aten::_conj(Tensor(a) self) -> Tensor(a)
Results conjugate(Call& c) {
  const Value x = c.tensor("self");
  return is_complex(c.dtype_of(x)) ? joined(c, complex::conj(c, number_of(c, x))) : x;
}

// aten::resolve_conj(Tensor(a) self) -> Tensor(a): conjugates are computed at once here
Results unchanged(Call& c) { return c.tensor("self"); }

// aten::mH(Tensor(a) self) -> Tensor(a)
Results conjugate_transpose(Call& c) {
  const Number z = number_of(c, "self");
  const auto turned = [&](Value part) { return onnx::swap_axes(c, part, -2, -1); };
  return c.complex(turned(z.re), onnx::neg(c, turned(z.im)));
}

template <Value (*Function)(Call&, const Number&)>
Results to_real(Call& c) {
  return Function(c, number_of(c, "self"));
}

// ---- functions of one number -----------------------------------------------------------------------------------------

template <Number (*Function)(Call&, const Number&)>
Results unary(Call& c) {
  return joined(c, Function(c, number_of(c, "self")));
}

Number rsqrt(Call& c, const Number& z) { return complex::reciprocal(c, complex::sqrt(c, z)); }
Number exp2(Call& c, const Number& z) { return complex::exp(c, complex::scaled(c, z, std::numbers::ln2)); }
Number log2(Call& c, const Number& z) {
  return complex::scaled(c, complex::log(c, z), 1 / std::numbers::ln2);
}
Number log10(Call& c, const Number& z) {
  return complex::scaled(c, complex::log(c, z), 1 / std::numbers::ln10);
}
Number log1p(Call& c, const Number& z) { return complex::log(c, complex::add(c, z, 1)); }
Number expm1(Call& c, const Number& z) { return complex::add(c, complex::exp(c, z), -1); }

Number sigmoid(Call& c, const Number& z) {
  return complex::reciprocal(c, complex::add(c, complex::exp(c, complex::neg(c, z)), 1));
}
Number silu(Call& c, const Number& z) {
  return complex::div(c, z, complex::add(c, complex::exp(c, complex::neg(c, z)), 1));
}

/// z / |z|, and 0 for 0.
Number sgn(Call& c, const Number& z) {
  const Value size = complex::abs(c, z), zero = onnx::constant_like(c, 0, size);
  const Value none = onnx::equal(c, size, zero);
  return {onnx::where(c, none, zero, onnx::div(c, z.re, size)),
          onnx::where(c, none, zero, onnx::div(c, z.im, size))};
}

// ---- of two numbers --------------------------------------------------------------------------------------------------

/// An operand that may be real, or a Python number, with its parts in that real dtype.
Number operand_number(Call& c, const Operand& o, DType real) {
  if (o.number) {
    if (const auto* z = std::get_if<std::complex<double>>(&o.number->data()))
      return {c.constant(z->real(), real), c.constant(z->imag(), real)};
    return {c.scalar_value(*o.number, real), c.constant(0, real)};
  }
  const Number z = complex::number_of(c, o.tensor);
  return {onnx::cast(c, z.re, real), onnx::cast(c, z.im, real)};
}

std::pair<Number, Number> operands(Call& c, std::string_view a, std::string_view b) {
  const Operand left = operand(c, a), right = operand(c, b);
  const DType real = real_of(float_result_type(c, {left, right}));
  return {operand_number(c, left, real), operand_number(c, right, real)};
}

bool is_real(Call& c, std::string_view argument) {
  const Operand o = operand(c, argument);
  return o.number ? o.number->kind() != Scalar::Kind::Complex : !is_complex(c.dtype_of(o.tensor));
}

// aten::div.Tensor(Tensor self, Tensor other) -> Tensor
Results div(Call& c) {
  if (c.has("rounding_mode") && !c.is_none("rounding_mode"))
    c.reject("rounds the quotient of complex numbers, which torch refuses too");
  const auto [a, b] = operands(c, "self", "other");
  if (is_real(c, "other")) return c.complex(onnx::div(c, a.re, b.re), onnx::div(c, a.im, b.re));
  return joined(c, complex::div(c, a, b));
}

// aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor, and with numbers
Results pow(Call& c) {
  const auto [base, exponent] = operands(c, "self", "exponent");
  const auto known = is_real(c, "exponent") ? onnx::constant_number(exponent.re) : std::nullopt;
  if (known == 1.0) return joined(c, base);
  if (known == 2.0) return joined(c, complex::square(c, base));
  if (known == 3.0) return joined(c, complex::mul(c, complex::square(c, base), base));
  if (known == 0.5) return joined(c, complex::sqrt(c, base));
  if (known == -1.0) return joined(c, complex::reciprocal(c, base));
  const Number power = complex::exp(c, complex::mul(c, exponent, complex::log(c, base)));
  // Zero has no logarithm: 0 ** 0 is 1, any other power of it 0.
  const Value zero = onnx::constant_like(c, 0, power.re), one = onnx::constant_like(c, 1, power.re);
  const Value of_zero = onnx::where(c, complex::is_zero(c, exponent), one, zero);
  return joined(c, complex::where(c, complex::is_zero(c, base), {of_zero, zero}, power));
}

template <bool Same>
Results equality(Call& c) {
  const auto [a, b] = operands(c, "self", "other");
  const Value same = onnx::logical_and(c, onnx::equal(c, a.re, b.re), onnx::equal(c, a.im, b.im));
  return Same ? same : onnx::logical_not(c, same);
}

/// The inner product with the conjugate of the first.
Results conjugate_dot(Call& c, std::string_view a, std::string_view b, std::int64_t axis) {
  const auto [x, y] = operands(c, a, b);
  const Number product = complex::mul(c, complex::conj(c, x), y);
  const auto summed = [&](Value part) {
    const auto rank = c.rank(part);
    return onnx::reduce(c, "ReduceSum", part, {c.normalize_axis(axis, rank)}, false);
  };
  return c.complex(summed(product.re), summed(product.im));
}
// aten::vdot(Tensor self, Tensor other) -> Tensor
Results vdot(Call& c) { return conjugate_dot(c, "self", "other", 0); }
// aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor
Results vecdot(Call& c) { return conjugate_dot(c, "x", "y", c.integer("dim")); }

// ---- tests -----------------------------------------------------------------------------------------------------------

Results is_nan(Call& c) {
  const Number z = number_of(c, "self");
  return onnx::logical_or(c, onnx::is_nan(c, z.re), onnx::is_nan(c, z.im));
}
Results is_inf(Call& c) {
  const Number z = number_of(c, "self");
  return onnx::logical_or(c, onnx::is_inf(c, z.re), onnx::is_inf(c, z.im));
}
Results is_finite(Call& c) {
  const Number z = number_of(c, "self");
  const auto open = [&](Value part) {
    return onnx::logical_or(c, onnx::is_inf(c, part), onnx::is_nan(c, part));
  };
  return onnx::logical_not(c, onnx::logical_or(c, open(z.re), open(z.im)));
}
Results is_real_number(Call& c) {
  const Value im = number_of(c, "self").im;
  return onnx::equal(c, im, onnx::constant_like(c, 0, im));
}

// ---- the rest --------------------------------------------------------------------------------------------------------

/// Ones: the imaginary parts are zero, which the real function does not give.
// aten::ones(SymInt[] size, *, ScalarType? dtype=None, ...) -> Tensor; ones_like(self), new_ones(self, size)
Results ones(Call& c) {
  DType dtype = DType::Complex64;
  if (c.has("self")) dtype = c.dtype_of(c.tensor("self"));
  if (const auto wanted = c.dtype("dtype")) dtype = *wanted;
  const Shape shape = c.has("size") ? c.sizes("size") : c.sizes_of(c.tensor("self"));
  const DType real = real_of(dtype);
  const Value re = onnx::full(c, shape, Scalar(1), real);
  return is_complex(dtype) ? c.complex(re, onnx::full(c, shape, Scalar(0), real)) : re;
}

/// Products along an axis of known size, halves times halves.
// aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
Results prod(Call& c) {
  Number z = number_of(c, "self");
  std::int64_t axis = 0;
  const bool all = !c.has("dim");
  if (all)
    z = {onnx::flatten_all(c, z.re), onnx::flatten_all(c, z.im)};
  else
    axis = c.axis("dim", c.rank(z.re));
  const auto size = c.size_of(z.re, axis).known();
  if (!size || *size == 0) c.reject("multiplies complex numbers along a dim whose size is not known");
  for (std::int64_t n = *size; n > 1; n = (n + 1) / 2) {
    const auto piece = [&](std::int64_t from, std::int64_t to) -> Number {
      return {onnx::slice(c, z.re, axis, from, to), onnx::slice(c, z.im, axis, from, to)};
    };
    const Number product = complex::mul(c, piece(0, n / 2), piece(n / 2, n / 2 * 2));
    if (n % 2 == 0) {
      z = product;
      continue;
    }
    const Number last = piece(n - 1, n);
    z = {onnx::concat(c, {product.re, last.re}, axis), onnx::concat(c, {product.im, last.im}, axis)};
  }
  if (!all && c.flag("keepdim")) return joined(c, z);
  return c.complex(onnx::squeeze(c, z.re, {axis}), onnx::squeeze(c, z.im, {axis}));
}

/// The mean over some axes, and the sum of squared distances from it over count - correction.
struct Spread {
  Number mean;
  Value variance;
};

// aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor
Spread spread(Call& c) {
  const Number z = number_of(c, "self");
  const auto axes = c.has("dim") ? c.axes("dim", c.rank(z.re)) : onnx::all_axes(c, z.re);
  const bool keep = c.has("keepdim") && c.flag("keepdim");
  double correction = 1;
  if (c.has("correction")) correction = c.optional_number("correction").value_or(1);
  if (c.has("unbiased")) correction = c.flag("unbiased") ? 1 : 0;
  const auto mean = [&](Value part, bool keepdims) {
    return onnx::reduce(c, "ReduceMean", part, axes, keepdims);
  };
  const Number away = complex::sub(c, z, {mean(z.re, true), mean(z.im, true)});
  const Value squares = onnx::add(c, onnx::mul(c, away.re, away.re), onnx::mul(c, away.im, away.im));
  const DType dtype = c.dtype_of(z.re);
  const Value count = onnx::sub(c, onnx::count(c, z.re, axes, dtype), c.constant(correction, dtype));
  return {{mean(z.re, keep), mean(z.im, keep)},
          onnx::div(c, onnx::reduce(c, "ReduceSum", squares, axes, keep), count)};
}
Results var(Call& c) { return spread(c).variance; }
Results standard_deviation(Call& c) { return onnx::sqrt(c, spread(c).variance); }
Results var_mean(Call& c) {
  const Spread s = spread(c);
  return {s.variance, joined(c, s.mean)};
}
Results std_mean(Call& c) {
  const Spread s = spread(c);
  return {onnx::sqrt(c, s.variance), joined(c, s.mean)};
}

/// log of the sum of exponentials; the largest real part is taken off first, so that none overflows.
// aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
Results logsumexp(Call& c) {
  const Number z = number_of(c, "self");
  const auto axes = c.axes("dim", c.rank(z.re));
  const Value top = onnx::reduce(c, "ReduceMax", z.re, axes, true);
  const Value zero = onnx::constant_like(c, 0, top);
  const Value shift = onnx::where(c, onnx::is_inf(c, top), zero, top);
  const Number e = complex::exp(c, {onnx::sub(c, z.re, shift), z.im});
  const Number sum = complex::log(
      c, {onnx::reduce(c, "ReduceSum", e.re, axes, true), onnx::reduce(c, "ReduceSum", e.im, axes, true)});
  const Value re = onnx::add(c, sum.re, shift);
  if (c.flag("keepdim")) return c.complex(re, sum.im);
  return c.complex(onnx::squeeze(c, re, axes), onnx::squeeze(c, sum.im, axes));
}

/// |a - b|
Value distance(Call& c, std::string_view a, std::string_view b) {
  const auto [x, y] = operands(c, a, b);
  return complex::abs(c, complex::sub(c, x, y));
}

// aten::isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor
Results isclose(Call& c) {
  const auto [a, b] = operands(c, "self", "other");
  const Value size = complex::abs(c, b);
  const Value limit = onnx::add(c, onnx::mul(c, size, onnx::constant_like(c, c.number("rtol"), size)),
                                onnx::constant_like(c, c.number("atol"), size));
  const Value away = complex::abs(c, complex::sub(c, a, b));
  const Value same = onnx::logical_and(c, onnx::equal(c, a.re, b.re), onnx::equal(c, a.im, b.im));
  const Value finite = onnx::logical_not(c, onnx::is_inf(c, away));
  const Value close =
      onnx::logical_or(c, same, onnx::logical_and(c, finite, onnx::less_equal(c, away, limit)));
  if (!c.flag("equal_nan")) return close;
  const auto is_nan = [&](const Number& z) {
    return onnx::logical_or(c, onnx::is_nan(c, z.re), onnx::is_nan(c, z.im));
  };
  return onnx::logical_or(c, close, onnx::logical_and(c, is_nan(a), is_nan(b)));
}

// aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor
Results dist(Call& c) {
  const Value away = onnx::flatten_all(c, distance(c, "self", "other"));
  return onnx::squeeze(c, p_norm(c, away, {0}, c.number("p")), {0});
}

// aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
Results l1_loss(Call& c) {
  const Value away = distance(c, "self", "target");
  const auto reduction = c.integer("reduction");
  if (reduction == 0) return away;
  return onnx::reduce(c, reduction == 1 ? "ReduceMean" : "ReduceSum", away, onnx::all_axes(c, away), false);
}

// aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor
Results addcdiv(Call& c) {
  const Operand self = operand(c, "self"), first = operand(c, "tensor1"), second = operand(c, "tensor2");
  const Operand value = operand(c, "value");
  const DType real = real_of(float_result_type(c, {self, first, second}));
  const auto number = [&](const Operand& o) { return operand_number(c, o, real); };
  const Number term = complex::mul(c, number(value), complex::div(c, number(first), number(second)));
  return joined(c, complex::add(c, number(self), term));
}

// aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor
Results lerp(Call& c) {
  const Operand self = operand(c, "self"), end = operand(c, "end"), weight = operand(c, "weight");
  const DType real = real_of(float_result_type(c, {self, end}));
  const Number start = operand_number(c, self, real);
  const Number way = complex::sub(c, operand_number(c, end, real), start);
  return joined(c, complex::add(c, start, complex::mul(c, operand_number(c, weight, real), way)));
}

constexpr Entry kTable[] = {
    {"aten::_conj", 6, conjugate, takes_complex},
    {"aten::chalf", 9, chalf, takes_complex},
    {"aten::complex", 9, make_complex},
    {"aten::imag", 9, imaginary_part, takes_complex},
    {"aten::polar", 9, make_polar},
    {"aten::view_as_complex", 9, view_as_complex},
    {"aten::view_as_real", 9, view_as_real, takes_complex},
};
static_assert(strictly_ascending(kTable));

// Under the names that TorchScript gives operators when it reads a file: `absolute` is `abs` there.
constexpr Entry kForms[] = {
    {"aten::abs", 6, to_real<complex::abs>},
    {"aten::acos", 9, unary<complex::acos>},
    {"aten::acosh", 9, unary<complex::acosh>},
    {"aten::addcdiv", 8, addcdiv},
    {"aten::angle", 9, to_real<complex::angle>},
    {"aten::asin", 9, unary<complex::asin>},
    {"aten::asinh", 9, unary<complex::asinh>},
    {"aten::atan", 9, unary<complex::atan>},
    {"aten::atanh", 9, unary<complex::atanh>},
    {"aten::conj", 6, conjugate},
    {"aten::conj_physical", 6, conjugate},
    {"aten::cos", 9, unary<complex::cos>},
    {"aten::cosh", 9, unary<complex::cosh>},
    {"aten::dist", 9, dist},
    {"aten::div", 8, div},
    {"aten::eq", 7, equality<true>},
    {"aten::exp", 7, unary<complex::exp>},
    {"aten::exp2", 7, unary<exp2>},
    {"aten::expm1", 7, unary<expm1>},
    {"aten::isclose", 9, isclose},
    {"aten::isfinite", 9, is_finite},
    {"aten::isinf", 9, is_inf},
    {"aten::isnan", 9, is_nan},
    {"aten::isreal", 9, is_real_number},
    {"aten::l1_loss", 9, l1_loss},
    {"aten::lerp", 7, lerp},
    {"aten::linalg_vecdot", 7, vecdot},
    {"aten::log", 9, unary<complex::log>},
    {"aten::log10", 9, unary<log10>},
    {"aten::log1p", 9, unary<log1p>},
    {"aten::log2", 9, unary<log2>},
    {"aten::logsumexp", 9, logsumexp},
    {"aten::mH", 6, conjugate_transpose},
    {"aten::matrix_H", 6, conjugate_transpose},
    {"aten::ne", 7, equality<false>},
    {"aten::new_ones", 9, ones},
    {"aten::ones", 9, ones},
    {"aten::ones_like", 9, ones},
    {"aten::pow", 9, pow},
    {"aten::prod", 7, prod},
    {"aten::real", 1, real_part},
    {"aten::reciprocal", 8, unary<complex::reciprocal>},
    {"aten::resolve_conj", 1, unchanged},
    {"aten::rsqrt", 9, unary<rsqrt>},
    {"aten::sgn", 9, unary<sgn>},
    {"aten::sigmoid", 8, unary<sigmoid>},
    {"aten::silu", 8, unary<silu>},
    {"aten::sin", 9, unary<complex::sin>},
    {"aten::sinh", 9, unary<complex::sinh>},
    {"aten::sqrt", 9, unary<complex::sqrt>},
    {"aten::square", 7, unary<complex::square>},
    {"aten::std", 7, standard_deviation},
    {"aten::std_mean", 7, std_mean},
    {"aten::tan", 9, unary<complex::tan>},
    {"aten::tanh", 9, unary<complex::tanh>},
    {"aten::var", 7, var},
    {"aten::var_mean", 7, var_mean},
    {"aten::vdot", 7, vdot},
};
static_assert(strictly_ascending(kForms));

}  // namespace

std::span<const Entry> complex_table() { return kTable; }
std::span<const Entry> complex_forms() { return kForms; }

}  // namespace pt2onnx
