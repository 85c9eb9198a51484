#include "symbolics/promotion.h"

#include <algorithm>
#include <array>

#include "symbolics/onnx.h"

namespace pt2onnx {
namespace {

constexpr DType kDefaultFloat = DType::Float32;

/// bool < integer < float < complex.
int kind_of(DType dtype) {
  if (is_complex(dtype)) return 3;
  if (is_floating(dtype)) return 2;
  return dtype == DType::Bool ? 0 : 1;
}

DType dtype_of_number(const Scalar& number) {
  constexpr std::array kDTypes{DType::Bool, DType::Int64, kDefaultFloat, DType::Complex64};
  return kDTypes[static_cast<std::size_t>(number.kind())];
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) == size_of(b)) return a == b ? a : DType::Float32;  // float16 with bfloat16
  return size_of(a) > size_of(b) ? a : b;
}

DType promote_integers(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = is_unsigned(a) ? b : a;
  const DType without = is_unsigned(a) ? a : b;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (size_of(without)) {
    case 1: return DType::Int16;
    case 2: return DType::Int32;
    case 4: return DType::Int64;
    default: return DType::Float32;  // as torch: uint64 with a signed integer has no integer home
  }
}

/// A category of operands meets the one that counts less: the lower matters only when its kind is higher.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (is_complex(*higher)) return higher;
  if (is_floating(*higher)) return is_complex(*lower) ? complex_of(*higher) : *higher;
  if (*higher == DType::Bool || is_floating(*lower) || is_complex(*lower)) return promote(*higher, *lower);
  return higher;
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  const int kind = std::max(kind_of(a), kind_of(b));
  if (kind == 3) {
    const auto real = [](DType d) {
      return is_complex(d) ? real_of(d) : is_floating(d) ? d : DType::Float32;
    };
    return complex_of(promote(real(a), real(b)));
  }
  if (kind_of(a) != kind_of(b)) return kind_of(a) > kind_of(b) ? a : b;
  return kind == 2 ? promote_floats(a, b) : promote_integers(a, b);
}

Operand operand(Call& c, std::string_view argument) {
  if (const auto* number = std::get_if<Scalar>(&c.argument(argument).data)) return Operand(*number);
  return Operand(c.tensor(argument));
}

DType result_type(Call& c, const std::vector<Operand>& operands) {
  std::optional<DType> dims, zero_dim, number;
  for (const Operand& o : operands) {
    if (!o.tensor && !o.number) continue;
    // Of unknown rank (a branch decides it) is hardly ever a 0-d tensor.
    auto& category = o.number ? number : o.tensor.rank() == std::size_t{0} ? zero_dim : dims;
    const DType dtype = o.number ? dtype_of_number(*o.number) : c.dtype_of(o.tensor);
    category = category ? promote(*category, dtype) : dtype;
  }
  const auto result = combine(dims, combine(zero_dim, number));
  if (!result) c.reject("has no operand that gives the result an element type");
  return *result;
}

DType float_result_type(Call& c, const std::vector<Operand>& operands) {
  const DType dtype = result_type(c, operands);
  return is_floating(dtype) || is_complex(dtype) ? dtype : kDefaultFloat;
}

Value as(Call& c, const Operand& operand, DType dtype) {
  return operand.number ? c.scalar_value(*operand.number, dtype) : onnx::cast(c, operand.tensor, dtype);
}

std::pair<Value, Value> promoted(Call& c, std::string_view a, std::string_view b) {
  const Operand left = operand(c, a), right = operand(c, b);
  const DType dtype = result_type(c, {left, right});
  return {as(c, left, dtype), as(c, right, dtype)};
}

Value float_tensor(Call& c, std::string_view argument) {
  const Value x = c.tensor(argument);
  return as(c, x, float_result_type(c, {x}));
}

}  // namespace pt2onnx
