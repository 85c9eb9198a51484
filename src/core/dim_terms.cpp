#include "core/dim_terms.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace pt2onnx::detail {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw std::overflow_error("a size does not fit into 64 bits");
  return result;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw std::overflow_error("a size does not fit into 64 bits");
  return result;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == -1) return checked_multiply(a, -1);  // the one quotient that can overflow
  const std::int64_t quotient = a / b;
  return (a % b != 0) && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

bool same(const AtomRef& a, const AtomRef& b) { return a == b || (a->kind == b->kind && a->key == b->key); }

bool same(const Monomial& a, const Monomial& b) {
  return std::ranges::equal(a, b, [](const AtomRef& x, const AtomRef& y) { return same(x, y); });
}

bool before(const AtomRef& a, const AtomRef& b) {
  if (a == b) return false;
  return a->kind != b->kind ? a->kind < b->kind : a->key < b->key;
}

bool before(const Monomial& a, const Monomial& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::ranges::lexicographical_compare(
      a, b, [](const AtomRef& x, const AtomRef& y) { return before(x, y); });
}

Monomial multiply(const Monomial& a, const Monomial& b) {
  Monomial result;
  result.reserve(a.size() + b.size());
  std::ranges::merge(a, b, std::back_inserter(result),
                     [](const AtomRef& x, const AtomRef& y) { return before(x, y); });
  return result;
}

std::optional<Monomial> divide(const Monomial& a, const Monomial& b) {
  Monomial quotient;
  auto next = b.begin();
  for (const AtomRef& factor : a) {
    if (next != b.end() && same(factor, *next)) {
      ++next;
    } else {
      quotient.push_back(factor);
    }
  }
  if (next != b.end()) return std::nullopt;
  return quotient;
}

Dim of_term(const Monomial& monomial, std::int64_t coefficient) {
  if (monomial.empty()) return coefficient;
  return Dim::of_terms(0, {Term{monomial, coefficient}});
}

Dim of_atom(AtomRef atom) { return of_term({std::move(atom)}, 1); }

std::vector<Term> all_terms(const Dim& dim) {
  std::vector<Term> result = dim.terms();
  if (dim.constant_term() != 0) result.push_back({{}, dim.constant_term()});
  return result;
}

std::int64_t content(const Dim& dim, bool with_constant) {
  // std::gcd has no result for the smallest int64, whose magnitude does not fit; 1 divides it as well.
  const auto gcd = [](std::int64_t a, std::int64_t b) { return b == INT64_MIN ? 1 : std::gcd(a, b); };
  std::int64_t result = with_constant ? gcd(0, dim.constant_term()) : 0;
  for (const Term& term : dim.terms()) result = gcd(result, term.coefficient);
  return result;
}

Dim scaled_down(const Dim& dim, std::int64_t divisor) {
  std::vector<Term> terms = dim.terms();
  for (Term& term : terms) term.coefficient = floor_quotient(term.coefficient, divisor);
  return Dim::of_terms(floor_quotient(dim.constant_term(), divisor), std::move(terms));
}

Dim scaled_down(const Dim& dim, const Monomial& divisor) {
  Dim result;
  for (const Term& term : all_terms(dim)) {
    const std::optional<Monomial> quotient = divide(term.factors, divisor);
    if (!quotient) throw std::invalid_argument("a monomial that does not divide all terms");
    result = result + of_term(*quotient, term.coefficient);
  }
  return result;
}

Monomial common_monomial(std::span<const Dim> dims) {
  std::optional<Monomial> common;
  for (const Dim& dim : dims) {
    for (const Term& term : all_terms(dim)) {
      if (!common) {
        common = term.factors;
        continue;
      }
      Monomial kept;
      std::ranges::set_intersection(*common, term.factors, std::back_inserter(kept),
                                    [](const AtomRef& x, const AtomRef& y) { return before(x, y); });
      common = std::move(kept);
    }
  }
  return common.value_or(Monomial{});
}

std::vector<AtomRef> atoms_of(const Dim& dim) {
  std::vector<AtomRef> result;
  for (const Term& term : dim.terms()) {
    for (const AtomRef& factor : term.factors) {
      if (std::ranges::none_of(result, [&](const AtomRef& known) { return same(known, factor); })) {
        result.push_back(factor);
      }
    }
  }
  return result;
}

std::optional<LinearParts> linear_in(const Dim& p, const AtomRef& atom) {
  LinearParts parts{0, p.constant_term()};
  const Monomial factor{atom};
  for (const Term& term : p.terms()) {
    const std::optional<Monomial> other = divide(term.factors, factor);
    if (!other) {
      parts.rest = parts.rest + of_term(term.factors, term.coefficient);
    } else if (divide(*other, factor)) {
      return std::nullopt;
    } else {
      parts.cofactor = parts.cofactor + of_term(*other, term.coefficient);
    }
  }
  return parts;
}

Dim substitute(const Dim& p, const AtomRef& atom, const Dim& replacement) {
  Dim result = p.constant_term();
  for (const Term& term : p.terms()) {
    Dim value = term.coefficient;
    for (const AtomRef& factor : term.factors)
      value = value * (same(factor, atom) ? replacement : of_atom(factor));
    result = result + value;
  }
  return result;
}

std::vector<Dim> operands_of(const Atom& max) {
  std::vector<Dim> operands{max.left};
  const Dim* rest = &max.right;
  const auto inner = [&]() -> const Atom* {
    const auto& terms = rest->terms();
    const bool alone = rest->constant_term() == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
                       terms[0].factors.size() == 1 && terms[0].factors[0]->kind == Atom::Kind::Max;
    return alone ? terms[0].factors[0].get() : nullptr;
  };
  while (const Atom* more = inner()) {
    operands.push_back(more->left);
    rest = &more->right;
  }
  operands.push_back(*rest);
  return operands;
}

}  // namespace pt2onnx::detail
