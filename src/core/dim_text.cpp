// Dims as text. The texts of atoms are their keys, so different atoms must have different texts.
#include <algorithm>
#include <cctype>

#include "core/dim_terms.h"

namespace pt2onnx {
namespace detail {
namespace {

std::string term_text(const Term& term, std::uint64_t magnitude) {
  std::string text;
  if (magnitude != 1 || term.factors.empty()) text = std::to_string(magnitude);
  for (const AtomRef& factor : term.factors) {
    if (!text.empty()) text += '*';
    text += factor->key;
  }
  return text;
}

std::string polynomial_text(const Dim& dim) {
  const std::vector<Term> terms = all_terms(dim);
  std::string text;
  for (const bool negative : {false, true}) {  // "5 - n" reads better than "-n + 5"
    for (const Term& term : terms) {
      if ((term.coefficient < 0) != negative) continue;
      if (!text.empty()) {
        text += negative ? " - " : " + ";
      } else if (negative) {
        text = "-";
      }
      const auto value = static_cast<std::uint64_t>(term.coefficient);
      text += term_text(term, negative ? 0 - value : value);
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace

std::string symbol_text(const std::string& name) {
  const auto plain = [](unsigned char c) {
    return std::string_view("+-*/(), \"").find(static_cast<char>(c)) == std::string_view::npos &&
           std::isprint(c);
  };
  if (!name.empty() && std::ranges::all_of(name, plain) &&
      !std::isdigit(static_cast<unsigned char>(name[0]))) {
    return name;
  }
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string floor_text(const Dim& numerator, const Dim& denominator) {
  std::string above = polynomial_text(numerator);
  if (all_terms(numerator).size() > 1) above = '(' + above + ')';
  std::string below = polynomial_text(denominator);
  const auto parts = all_terms(denominator);
  const bool product = parts[0].factors.size() + (parts[0].coefficient != 1 ? 1 : 0) > 1;
  if (parts.size() > 1 || product || parts[0].coefficient < 0) below = '(' + below + ')';
  return "floor(" + above + '/' + below + ')';
}

std::string max_text(std::span<const Dim> operands) {
  std::string text;
  for (const Dim& operand : operands) text += (text.empty() ? "" : ", ") + polynomial_text(operand);
  return "max(" + text + ')';
}

}  // namespace detail

std::string Dim::str() const {
  // Alone, a name needs no quotes: it is what the user calls the dim.
  if (auto name = symbol_name()) return *name;
  return detail::polynomial_text(*this);
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const Dim& dim : shape) text += (text.empty() ? "" : ", ") + dim.str();
  return '[' + text + ']';
}

}  // namespace pt2onnx
