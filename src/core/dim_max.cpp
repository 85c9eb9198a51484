// Maxima and, by way of them, minima: min(a, b) = a + b - max(a, b).
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/dim_bounds.h"
#include "core/dim_terms.h"

namespace pt2onnx {

using detail::Atom;
using detail::AtomRef;
using detail::Monomial;
using detail::Term;

namespace {

/// The operands of which `dim` is the maximum: if it is k * max(a, b) + rest with k >= 0, then k * a + rest and
/// k * b + rest.
std::vector<Dim> spread(const Dim& dim) {
  AtomRef found;
  for (const AtomRef& atom : detail::atoms_of(dim)) {
    if (atom->kind != Atom::Kind::Max) continue;
    if (found) return {dim};
    found = atom;
  }
  const auto parts = found ? detail::linear_in(dim, found) : std::nullopt;
  if (!parts || !detail::never_negative(parts->cofactor)) return {dim};
  std::vector<Dim> operands;
  for (const Dim& operand : detail::operands_of(*found)) {
    for (const Dim& inner : spread(parts->cofactor * operand + parts->rest)) operands.push_back(inner);
  }
  return operands;
}

/// Without those that another one is never below.
std::vector<Dim> undominated(const std::vector<Dim>& operands) {
  std::vector<Dim> kept;
  const auto at_most = [](const Dim& a, const Dim& b) { return provably_less(b, a) == false; };
  for (const Dim& candidate : operands) {
    if (std::ranges::any_of(kept, [&](const Dim& other) { return at_most(candidate, other); })) continue;
    std::erase_if(kept, [&](const Dim& other) { return at_most(other, candidate); });
    kept.push_back(candidate);
  }
  return kept;
}

/// Per monomial the smallest coefficient that any operand has. With it taken away, operands that differ by a common
/// addend become the same, and no negative coefficient is left.
Dim common_addend(const std::vector<Dim>& operands) {
  Dim result;
  std::vector<Monomial> monomials;
  for (const Dim& operand : operands) {
    for (const Term& term : operand.terms()) monomials.push_back(term.factors);
  }
  monomials.emplace_back();
  const auto coefficient = [](const Dim& dim, const Monomial& monomial) -> std::int64_t {
    if (monomial.empty()) return dim.constant_term();
    for (const Term& term : dim.terms()) {
      if (detail::same(term.factors, monomial)) return term.coefficient;
    }
    return 0;
  };
  std::ranges::sort(monomials, [](const Monomial& a, const Monomial& b) { return detail::before(a, b); });
  const auto repeated =
      std::ranges::unique(monomials, [](const Monomial& a, const Monomial& b) { return detail::same(a, b); });
  monomials.erase(repeated.begin(), repeated.end());
  for (const Monomial& monomial : monomials) {
    std::int64_t smallest = INT64_MAX;
    for (const Dim& operand : operands) smallest = std::min(smallest, coefficient(operand, monomial));
    result = result + detail::of_term(monomial, smallest);
  }
  return result;
}

AtomRef atom_of(std::span<const Dim> operands) {
  const Dim right = operands.size() == 2 ? operands[1] : detail::of_atom(atom_of(operands.subspan(1)));
  const detail::Interval a = detail::range_of(operands[0]);
  const detail::Interval b = detail::range_of(right);
  const auto lower = std::max(a.lower, b.lower);  // nullopt is the smallest
  const auto upper = a.upper && b.upper ? std::max(a.upper, b.upper) : std::nullopt;
  return std::make_shared<const Atom>(
      Atom{Atom::Kind::Max, detail::max_text(operands), {}, operands[0], right, lower, upper});
}

Dim max_of(std::vector<Dim> operands) {
  operands = undominated(operands);
  if (operands.size() == 1) return operands[0];

  const Dim addend = common_addend(operands);
  std::int64_t scale = 0;
  for (Dim& operand : operands) {
    operand = operand - addend;
    scale = std::gcd(scale, detail::content(operand, true));
  }
  for (Dim& operand : operands) operand = detail::scaled_down(operand, scale);

  // max(n*a, n*b) = n * max(a, b) for n that are not negative.
  Monomial factor = detail::common_monomial(operands);
  std::erase_if(factor, [](const AtomRef& atom) { return atom->lower.value_or(-1) < 0; });
  if (!factor.empty()) {
    for (Dim& operand : operands) operand = detail::scaled_down(operand, factor);
    return addend + detail::of_term(factor, scale) * max_of(std::move(operands));
  }

  std::ranges::sort(operands, {}, [](const Dim& dim) { return dim.str(); });
  return addend + detail::of_atom(atom_of(operands)) * scale;
}

}  // namespace

Dim max(const Dim& a, const Dim& b) {
  // Sizes are int64, so that these are the greatest and the smallest: Python's "to the end" in slices.
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    if (x == Dim(INT64_MAX) || y == Dim(INT64_MIN)) return x;
  }
  std::vector<Dim> operands = spread(a);
  for (const Dim& operand : spread(b)) operands.push_back(operand);
  return max_of(std::move(operands));
}

Dim min(const Dim& a, const Dim& b) {
  const Dim greater = max(a, b);
  if (greater == a) return b;
  if (greater == b) return a;
  return a + b - greater;
}

}  // namespace pt2onnx
