// Arithmetic of complex numbers as pairs of real values; both parts have the same dtype and shape.
#pragma once

#include "pt2onnx/call.h"

namespace pt2onnx::complex {

struct Number {
  Value re, im;
};

/// The parts of a value; a real one (integers and bool become float32) has an imaginary part of zeros.
Number number_of(Call& c, Value v);
/// The tensor argument of that name.
Number number_of(Call& c, std::string_view argument);
Value joined(Call& c, const Number& z);

Number add(Call& c, const Number& a, const Number& b);
Number add(Call& c, const Number& a, double b);
Number sub(Call& c, const Number& a, const Number& b);
Number mul(Call& c, const Number& a, const Number& b);
Number div(Call& c, const Number& a, const Number& b);
Number scaled(Call& c, const Number& a, double factor);
Number neg(Call& c, const Number& a);
Number conj(Call& c, const Number& a);
Number times_i(Call& c, const Number& a);
Number times_minus_i(Call& c, const Number& a);
Number reciprocal(Call& c, const Number& a);
Number square(Call& c, const Number& a);

Value abs(Call& c, const Number& a);
Value angle(Call& c, const Number& a);
Number polar(Call& c, Value radius, Value angle);
Number where(Call& c, Value condition, const Number& a, const Number& b);
Value is_zero(Call& c, const Number& a);

Number exp(Call& c, const Number& a);
Number log(Call& c, const Number& a);
Number sqrt(Call& c, const Number& a);
Number sin(Call& c, const Number& a);
Number cos(Call& c, const Number& a);
Number tan(Call& c, const Number& a);
Number sinh(Call& c, const Number& a);
Number cosh(Call& c, const Number& a);
Number tanh(Call& c, const Number& a);
Number asin(Call& c, const Number& a);
Number acos(Call& c, const Number& a);
Number atan(Call& c, const Number& a);
Number asinh(Call& c, const Number& a);
Number acosh(Call& c, const Number& a);
Number atanh(Call& c, const Number& a);

}  // namespace pt2onnx::complex
