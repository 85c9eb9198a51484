// Division that rounds down, and what is built on it.
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/dim_bounds.h"
#include "core/dim_terms.h"

namespace pt2onnx {

using detail::Atom;
using detail::AtomRef;
using detail::Interval;
using detail::Monomial;
using detail::Term;

namespace {

/// No longer divisions than sizes have; what is not divided stays in the atom and is right as well.
constexpr int kMostSteps = 64;

struct Division {
  Dim quotient, remainder;
};

/// p = quotient * q + remainder for q with a positive leading coefficient. Terms of the remainder that q's leading
/// monomial divides have coefficients from 0 to below the leading one: this makes the remainder, and with it the
/// canonical form of floor(p / q), the same for all p + q * s.
Division divide_with_remainder(const Dim& p, const Dim& q) {
  const Term lead = detail::all_terms(q)[0];
  Division result{0, 0};
  Dim pending = p;
  for (int step = 0; pending != Dim(0); ++step) {
    if (step == kMostSteps) return {0, p};
    const Term top = detail::all_terms(pending)[0];
    Dim kept = detail::of_term(top.factors, top.coefficient);
    if (const auto monomial = detail::divide(top.factors, lead.factors)) {
      const Dim part = detail::of_term(*monomial, detail::floor_quotient(top.coefficient, lead.coefficient));
      result.quotient = result.quotient + part;
      pending = pending - part * q;
      kept = kept - detail::of_term(top.factors, lead.coefficient) *
                        detail::floor_quotient(top.coefficient, lead.coefficient);
    }
    pending = pending - kept;
    result.remainder = result.remainder + kept;
  }
  return result;
}

/// The floor(a / j) in p, if it is the only division there.
AtomRef only_division(const Dim& p) {
  AtomRef found;
  for (const AtomRef& atom : detail::atoms_of(p)) {
    if (atom->kind != Atom::Kind::FloorDiv) continue;
    if (found) return nullptr;
    found = atom;
  }
  return found;
}

/// For positive k: floor((rest + floor(a / j)) / k) = floor((j * rest + a) / (j * k)), and the like for
/// -floor(a / j) = floor((j - 1 - a) / j), whose coefficient in a remainder is k - 1. A symbolic j or k is multiplied
/// out only where there is no rest.
std::optional<Dim> merged_with_inner(const Dim& p, const Dim& k) {
  const AtomRef inner = only_division(p);
  const auto parts = inner ? detail::linear_in(p, inner) : std::nullopt;
  if (!parts || !detail::never_negative(k)) return std::nullopt;
  const auto& [cofactor, rest] = *parts;
  const Dim& j = inner->right;
  const bool numbers = j.is_static() && k.is_static();
  if (cofactor == Dim(1) && (numbers || rest == Dim(0))) return floor_div(j * rest + inner->left, j * k);
  if (!numbers || (cofactor != Dim(-1) && cofactor != k - 1)) return std::nullopt;
  const Dim merged = floor_div(j * rest + j - 1 - inner->left, j * k);
  return cofactor == Dim(-1) ? merged : merged + detail::of_atom(inner);
}

/// Whether floor(p / k) is better written as -floor((k - 1 - p) / k): when that has the smaller coefficients, once the
/// whole parts are taken out. The padding to a multiple of 7 is full of floor(6*h / 7) = h - floor((h + 6) / 7).
bool complement_is_simpler(const Dim& p, std::int64_t k) {
  for (const Term& term : p.terms()) {
    const std::int64_t other = k - term.coefficient;
    if (term.coefficient != other) return term.coefficient > other;
  }
  return false;
}

/// floor(p / q) of a remainder p.
Dim reduced_floor(Dim p, Dim q) {
  // A common factor cancels. A constant that it does not divide is rounded down, if the divisor is positive:
  // floor((2*h + 1) / 4) = floor(h / 2).
  const bool round_constant = detail::never_negative(q);
  const std::int64_t common = std::gcd(detail::content(q, true), detail::content(p, !round_constant));
  if (common > 1) return floor_div(detail::scaled_down(p, common), detail::scaled_down(q, common));

  const Monomial monomial = detail::common_monomial(std::array{p, q});
  if (!monomial.empty()) return floor_div(detail::scaled_down(p, monomial), detail::scaled_down(q, monomial));

  if (auto merged = merged_with_inner(p, q)) return *merged;

  if (const auto k = q.known(); k && complement_is_simpler(p, *k)) return -floor_div(*k - 1 - p, *k);

  const Interval bounds = detail::floor_div(detail::range_of(p), detail::range_of(q));
  if (bounds.lower && bounds.lower == bounds.upper) return *bounds.lower;

  std::string key = detail::floor_text(p, q);
  return detail::of_atom(std::make_shared<const Atom>(Atom{
      Atom::Kind::FloorDiv, std::move(key), {}, std::move(p), std::move(q), bounds.lower, bounds.upper}));
}

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (b == Dim(0)) throw std::domain_error("a size is divided by zero");
  if (a.is_static() && b.is_static()) return detail::floor_quotient(a.constant_term(), b.constant_term());
  if (detail::all_terms(b)[0].coefficient < 0) return floor_div(-a, -b);
  // Before the whole parts are taken out: modulo 2, floor and -floor could no longer be told apart.
  if (auto merged = merged_with_inner(a, b)) return *merged;
  Division division = divide_with_remainder(a, b);
  if (division.remainder == Dim(0)) return division.quotient;
  return division.quotient + reduced_floor(std::move(division.remainder), b);
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (detail::never_negative(b)) return floor_div(a + b - 1, b);
  return -floor_div(-a, b);
}

Dim mod(const Dim& a, const Dim& b) { return a - b * floor_div(a, b); }

}  // namespace pt2onnx
