#include "interpreter/scalar_math.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pt2onnx {
namespace {

using Kind = Scalar::Kind;

/// Python's bool is an int; a computed bool becomes a size only through a node.
std::optional<Dim> as_dim(Machine& m, const Scalar& s) {
  if (const auto* dim = std::get_if<Dim>(&s.data())) return *dim;
  if (const auto integer = s.integer()) return Dim(*integer);
  if (const auto* computed = std::get_if<Scalar::Computed>(&s.data());
      computed && computed->kind <= Kind::Int)
    return m.builder().symbol_of_value(m.builder().cast(computed->value, DType::Int64), "n");
  return std::nullopt;
}

Value as_value(Machine& m, const Scalar& s, DType dtype) {
  return m.builder().cast(m.number_value(s), dtype);
}

Scalar computed(Kind kind, Value v) { return Scalar(kind, v); }

/// Whether a truth value is that of a size test.
std::optional<bool> tests_size(const Scalar& s) {
  const auto* computed = std::get_if<Scalar::Computed>(&s.data());
  return computed ? computed->when_filled : std::nullopt;
}

Scalar negation(Machine& m, const Scalar& s) {
  if (const auto known = s.integer()) return Scalar(*known == 0);
  const Value inverse = m.emit("Not", {m.number_value(s)});
  if (const auto when_filled = tests_size(s)) return Scalar::size_test(inverse, !*when_filled);
  return computed(Kind::Bool, inverse);
}

std::optional<Scalar> integer_math(Machine&, std::string_view op, const std::vector<Dim>& d) {
  if (d.size() == 1) {
    if (op == "neg") return Scalar(-d[0]);
    if (op == "Int" || op == "floor" || op == "ceil" || op == "round" || op == "trunc") return Scalar(d[0]);
    if (op == "abs") return Scalar(max(d[0], -d[0]));
    return std::nullopt;
  }
  if (op == "__range_length" && d.size() == 3) {
    const auto step = d[2].known();
    if (!step || *step == 0) return std::nullopt;
    return Scalar(max(0, *step > 0 ? ceil_div(d[1] - d[0], d[2]) : ceil_div(d[0] - d[1], -d[2])));
  }
  if (op == "__derive_index" && d.size() == 3) return Scalar(d[1] + d[0] * d[2]);
  if (d.size() != 2) return std::nullopt;
  const Dim &a = d[0], &b = d[1];
  if (op == "add") return Scalar(a + b);
  if (op == "sub") return Scalar(a - b);
  if (op == "mul") return Scalar(a * b);
  if (op == "floordiv" || op == "floor_divide") return Scalar(floor_div(a, b));
  if (op == "remainder") return Scalar(mod(a, b));
  if (op == "min") return Scalar(min(a, b));
  if (op == "max") return Scalar(max(a, b));
  return std::nullopt;
}

/// What is known of a comparison of sizes, whatever the symbols stand for.
std::optional<bool> known_comparison(std::string_view op, const Dim& a, const Dim& b) {
  const auto inverse = [](std::optional<bool> v) { return v ? std::optional(!*v) : v; };
  if (op == "eq") return provably_equal(a, b);
  if (op == "ne") return inverse(provably_equal(a, b));
  if (op == "lt") return provably_less(a, b);
  if (op == "ge") return inverse(provably_less(a, b));
  if (op == "gt") return provably_less(b, a);
  return inverse(provably_less(b, a));
}

bool is_comparison(std::string_view op) {
  return op == "eq" || op == "ne" || op == "lt" || op == "le" || op == "gt" || op == "ge";
}

/// Of a comparison of sizes, whether it is true for a size that is not 0 and false for 0, or the other way round.
std::optional<bool> filled_where(std::string_view op, const Dim& a, const Dim& b) {
  const auto is_size = [](const Dim& d) { return d.lower_bound().value_or(-1) >= 0; };
  if (b == Dim(0) && is_size(a) && (op == "gt" || op == "ne" || op == "eq" || op == "le"))
    return op == "gt" || op == "ne";
  if (b == Dim(1) && is_size(a) && (op == "ge" || op == "lt")) return op == "ge";
  if (a == Dim(0) && is_size(b) && (op == "lt" || op == "ne" || op == "eq" || op == "ge"))
    return op == "lt" || op == "ne";
  return std::nullopt;
}

Scalar comparison_node(Machine& m, std::string_view op, Value a, Value b) {
  if (op == "eq") return computed(Kind::Bool, m.emit("Equal", {a, b}));
  if (op == "ne") return computed(Kind::Bool, m.emit("Not", {m.emit("Equal", {a, b})}));
  if (op == "lt") return computed(Kind::Bool, m.emit("Less", {a, b}));
  if (op == "gt") return computed(Kind::Bool, m.emit("Greater", {a, b}));
  if (op == "ge") return computed(Kind::Bool, m.emit("Not", {m.emit("Less", {a, b})}));
  return computed(Kind::Bool, m.emit("Not", {m.emit("Greater", {a, b})}));
}

std::optional<Scalar> logic(Machine& m, std::string_view op, std::span<const Scalar> args) {
  if (op == "__not__" && args.size() == 1) return negation(m, args[0]);
  if (args.size() != 2 || args[0].kind() != Kind::Bool || args[1].kind() != Kind::Bool) return std::nullopt;
  const char* node = op == "__and__"                 ? "And"
                     : op == "__or__"                ? "Or"
                     : op == "__xor__" || op == "ne" ? "Xor"
                                                     : nullptr;
  if (!node && op != "eq") return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    const auto known = args[static_cast<std::size_t>(i)].integer();
    if (!known) continue;
    const Scalar& other = args[static_cast<std::size_t>(1 - i)];
    if (op == "__and__") return *known ? other : Scalar(false);
    if (op == "__or__") return *known ? Scalar(true) : other;
  }
  const Value a = m.number_value(args[0]), b = m.number_value(args[1]);
  return op == "eq" ? computed(Kind::Bool, m.emit("Equal", {a, b}))
                    : computed(Kind::Bool, m.emit(node, {a, b}));
}

std::optional<Scalar> float_math(Machine& m, std::string_view op, std::span<const Scalar> args) {
  std::vector<Value> v;
  for (const Scalar& s : args) v.push_back(as_value(m, s, DType::Float64));
  const auto real = [&](Value value) { return computed(Kind::Float, value); };
  const auto to_int = [&](Value value) {
    return Scalar(m.builder().symbol_of_value(m.builder().cast(value, DType::Int64), "n"));
  };
  if (v.size() == 1) {
    if (op == "Float") return real(v[0]);
    if (op == "neg") return real(m.emit("Neg", {v[0]}));
    if (op == "abs") return real(m.emit("Abs", {v[0]}));
    if (op == "sqrt") return real(m.emit("Sqrt", {v[0]}));
    if (op == "exp") return real(m.emit("Exp", {v[0]}));
    if (op == "log") return real(m.emit("Log", {v[0]}));
    if (op == "Int" || op == "trunc") return to_int(v[0]);  // a cast cuts off the fraction, as Python's int()
    if (op == "floor") return to_int(m.emit("Floor", {v[0]}));
    if (op == "ceil") return to_int(m.emit("Ceil", {v[0]}));
    if (op == "round" && m.builder().opset() >= 11) return to_int(m.emit("Round", {v[0]}));
    return std::nullopt;
  }
  if (v.size() != 2) return std::nullopt;
  if (op == "add") return real(m.emit("Add", v));
  if (op == "sub") return real(m.emit("Sub", v));
  if (op == "mul") return real(m.emit("Mul", v));
  if (op == "div" || op == "truediv") return real(m.emit("Div", v));
  if (op == "pow") return real(m.emit("Pow", v));
  if (op == "floordiv") return real(m.emit("Floor", {m.emit("Div", v)}));
  if (op == "min" || op == "max") return real(m.emit(op == "min" ? "Min" : "Max", v));
  if (op == "remainder") {
    const Value quotient = m.emit("Floor", {m.emit("Div", v)});
    return real(m.emit("Sub", {v[0], m.emit("Mul", {quotient, v[1]})}));
  }
  if (is_comparison(op)) return comparison_node(m, op, v[0], v[1]);
  return std::nullopt;
}

/// The items of a list or tuple whose length is known.
const std::vector<Datum>* items_of(const Datum& datum) {
  if (const auto* list = datum.get_if<ListRef>()) return (*list)->dynamic ? nullptr : &(*list)->items;
  if (const auto* tuple = datum.get_if<TupleRef>()) return &(*tuple)->items;
  return nullptr;
}

}  // namespace

std::optional<Scalar> equality(Machine& m, const Datum& a, const Datum& b) {
  if (const auto known = known_equal(a, b)) return Scalar(*known);
  if (const auto *x = a.get_if<Scalar>(), *y = b.get_if<Scalar>(); x && y)
    return symbolic_math(m, "eq", std::array{*x, *y});
  const auto *x = items_of(a), *y = items_of(b);
  if (!x || !y || x->size() != y->size()) return std::nullopt;
  Scalar all(true);
  for (std::size_t i = 0; i < x->size(); ++i) {
    const auto one = equality(m, (*x)[i], (*y)[i]);
    if (!one) return std::nullopt;
    all = symbolic_math(m, "__and__", std::array{all, *one}).value();
  }
  return all;
}

Scalar truth(Machine& m, const Scalar& number) {
  if (number.kind() == Kind::Bool) return number;
  if (const auto known = number.number()) return Scalar(*known != 0);
  if (const auto* dim = std::get_if<Dim>(&number.data())) {
    if (const auto zero = provably_equal(*dim, 0)) return Scalar(!*zero);
    return Scalar::size_test(m.builder().cast(m.number_value(number), DType::Bool), true);
  }
  return computed(Kind::Bool, m.builder().cast(m.number_value(number), DType::Bool));
}

std::optional<Scalar> symbolic_math(Machine& m, std::string_view op, std::span<const Scalar> args) {
  if (op == "Bool" && args.size() == 1) return truth(m, args[0]);
  if (auto result = logic(m, op, args)) return result;

  const bool integers =
      std::all_of(args.begin(), args.end(), [](const Scalar& s) { return s.kind() <= Kind::Int; });
  if (integers && op != "Float" && op != "div" && op != "truediv" && op != "sqrt" && op != "pow") {
    std::vector<Dim> dims;
    for (const Scalar& s : args) dims.push_back(as_dim(m, s).value());
    if (dims.size() == 2 && is_comparison(op)) {
      if (const auto known = known_comparison(op, dims[0], dims[1])) return Scalar(*known);
      const Scalar result =
          comparison_node(m, op, m.builder().size_value(dims[0]), m.builder().size_value(dims[1]));
      const auto when_filled = filled_where(op, dims[0], dims[1]);
      return when_filled ? Scalar::size_test(m.number_value(result), *when_filled) : result;
    }
    return integer_math(m, op, dims);
  }
  return float_math(m, op, args);
}

}  // namespace pt2onnx
