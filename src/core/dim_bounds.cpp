#include "core/dim_bounds.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/dim_terms.h"

namespace pt2onnx {
namespace detail {
namespace {

// Divisions and maxima are resolved one inside the other. Where there are few, each is tried first, for the order can
// matter; where there are many, only one order is, since each choice multiplies the work. A query takes a millisecond
// or so at most.
constexpr std::size_t kFew = 3;
constexpr int kDepthForFew = 3;
constexpr int kDepth = 6;

/// A product of more factors is bounded without shifting, which takes 2^degree terms.
constexpr std::size_t kHighestShiftedDegree = 6;

using Bound = std::optional<std::int64_t>;

// Arithmetic on bounds: what leaves 64 bits is no bound.
Bound add(Bound a, Bound b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Bound multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

Interval add(const Interval& a, const Interval& b) { return {add(a.lower, b.lower), add(a.upper, b.upper)}; }

Interval negated(const Interval& a) {
  const auto minus = [](Bound b) { return b ? multiply(*b, -1) : std::nullopt; };
  return {minus(a.upper), minus(a.lower)};
}

bool is_zero(const Interval& a) { return a.lower == 0 && a.upper == 0; }
bool never_negative(const Interval& a) { return a.lower.value_or(-1) >= 0; }
bool never_positive(const Interval& a) { return a.upper.value_or(1) <= 0; }

Interval multiply(const Interval& a, const Interval& b) {
  if (is_zero(a) || is_zero(b)) return {0, 0};
  if (never_positive(a)) return negated(multiply(negated(a), b));
  if (never_positive(b)) return negated(multiply(a, negated(b)));
  Interval result;
  const bool both = never_negative(a) && never_negative(b);
  if (a.upper && b.upper) result.upper = multiply(*a.upper, *b.upper);
  if (both) {
    result.lower = multiply(a.lower.value_or(0), b.lower.value_or(0)).value_or(0);
    return result;
  }
  // At least one of them has both signs, and the other one too or only the positive one.
  const auto smaller = [](Bound x, Bound y) { return x && y ? std::min(x, y) : std::nullopt; };
  const auto corner = [](Bound low, Bound high) -> Bound {
    if (low == 0 || (low && *low > 0)) return 0;  // one that has no negative values adds none
    return low && high ? multiply(*low, *high) : std::nullopt;
  };
  result.lower = smaller(corner(a.lower, b.upper), corner(b.lower, a.upper));
  if (!never_negative(a) && !never_negative(b)) {
    const Bound negative = a.lower && b.lower ? multiply(*a.lower, *b.lower) : std::nullopt;
    result.upper = result.upper && negative ? std::max(result.upper, negative) : std::nullopt;
  }
  return result;
}

Interval intersection(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.lower, b.lower),  // nullopt is the smallest
                      a.upper && b.upper ? std::min(a.upper, b.upper) : std::max(a.upper, b.upper)};
  // Nothing is in both only where a divisor is always 0. There everything holds, and "no bounds" is simplest.
  return both.lower && both.upper && *both.lower > *both.upper ? Interval{} : both;
}

/// The smallest interval around both.
Interval hull(const Interval& a, const Interval& b) {
  return {a.lower && b.lower ? std::min(a.lower, b.lower) : std::nullopt,
          a.upper && b.upper ? std::max(a.upper, b.upper) : std::nullopt};
}

Interval of_atom_itself(const Atom& atom) { return {atom.lower, atom.upper}; }

Interval by_terms(const Dim& p) {
  Interval sum{p.constant_term(), p.constant_term()};
  for (const Term& term : p.terms()) {
    Interval value{term.coefficient, term.coefficient};
    for (const AtomRef& factor : term.factors) value = multiply(value, of_atom_itself(*factor));
    sum = add(sum, value);
  }
  return sum;
}

/// With each atom x written as (its bound) + x', where x' has one sign, terms like n*n - n for n >= 1 become sums of
/// one sign: n' * n' + n'.
Interval by_shifted_terms(const Dim& p) {
  Dim shifted = p.constant_term();
  std::vector<std::pair<AtomRef, AtomRef>> offsets;
  const auto offset_of = [&](const AtomRef& atom) {
    for (const auto& [known, offset] : offsets) {
      if (same(known, atom)) return offset;
    }
    Atom offset = *atom;  // the same name, another meaning: it never leaves this function
    if (atom->lower) {
      offset.lower = 0;
      offset.upper = atom->upper ? add(atom->upper, multiply(*atom->lower, -1)) : std::nullopt;
    } else if (atom->upper) {
      offset.upper = 0;
    }
    offsets.emplace_back(atom, std::make_shared<const Atom>(std::move(offset)));
    return offsets.back().second;
  };
  for (const Term& term : p.terms()) {
    if (term.factors.size() > kHighestShiftedDegree) return {};
    Dim value = term.coefficient;
    for (const AtomRef& factor : term.factors) {
      const std::int64_t base = factor->lower ? *factor->lower : factor->upper.value_or(0);
      value = value * (of_atom(offset_of(factor)) + base);
    }
    shifted = shifted + value;
  }
  return by_terms(shifted);
}

Interval range_of(const Dim& p, int depth);

/// p = cofactor * floor(a / b) + rest, where a - b + 1 <= b * floor(a / b) <= a if b is positive: b * p is bounded by a
/// polynomial without the division, in which what the division was made of may cancel. Shows 0 <= h - 2*floor(h/2) <= 1.
Interval by_division(const Dim& p, const AtomRef& atom, int depth) {
  const auto parts = linear_in(p, atom);
  const Dim& a = atom->left;
  const Dim& b = atom->right;
  const Interval divisor = range_of(b, 0);
  if (!parts || !never_negative(divisor) || is_zero(divisor)) return {};
  const std::int64_t smallest = std::max<std::int64_t>(divisor.lower.value_or(0), 1);  // 0 has no quotient

  const Interval sign = range_of(parts->cofactor, 0);
  const Dim least = parts->cofactor * (a - b + 1);
  const Dim most = parts->cofactor * a;
  const Dim scaled = b * parts->rest;
  Interval product;
  if (never_negative(sign)) {
    product = {range_of(scaled + least, depth - 1).lower, range_of(scaled + most, depth - 1).upper};
  } else if (never_positive(sign)) {
    product = {range_of(scaled + most, depth - 1).lower, range_of(scaled + least, depth - 1).upper};
  }
  // From b * p to p, which is an integer. A bound on the far side of 0 is closest at the greatest b.
  const auto up = [&](std::int64_t lower) -> std::int64_t {
    if (lower <= 0) return -floor_quotient(-lower, smallest);
    return divisor.upper ? -floor_quotient(-lower, *divisor.upper) : 1;
  };
  const auto down = [&](std::int64_t upper) -> std::int64_t {
    if (upper >= 0) return floor_quotient(upper, smallest);
    return divisor.upper ? floor_quotient(upper, *divisor.upper) : -1;
  };
  Interval result;
  if (product.lower && *product.lower != INT64_MIN) result.lower = up(*product.lower);
  if (product.upper) result.upper = down(*product.upper);
  return result;
}

/// A maximum is one of its operands, so that p lies within the union of the cases; and it is no less than each of
/// them, so that a p that grows with it is no less than in each case.
Interval by_cases(const Dim& p, const AtomRef& atom, int depth) {
  const auto parts = linear_in(p, atom);
  const Interval slope = parts ? range_of(parts->cofactor, 0) : Interval{};
  bool first = true;
  Interval all;
  Interval beyond;
  for (const Dim& operand : operands_of(*atom)) {
    const Interval one = range_of(substitute(p, atom, operand), depth - 1);
    if (never_negative(slope)) beyond = intersection(beyond, {one.lower, std::nullopt});
    if (never_positive(slope)) beyond = intersection(beyond, {std::nullopt, one.upper});
    all = first ? one : hull(all, one);
    first = false;
  }
  return intersection(all, beyond);
}

template <typename F>
Interval unless_overflow(F compute) {
  try {
    return compute();
  } catch (const std::overflow_error&) {
    return {};
  }
}

Interval range_of(const Dim& p, int depth) {
  Interval range = by_terms(p);
  if (p.is_static()) return range;
  range = intersection(range, unless_overflow([&] { return by_shifted_terms(p); }));
  std::vector<AtomRef> composites = atoms_of(p);
  std::erase_if(composites, [](const AtomRef& atom) { return atom->kind == Atom::Kind::Symbol; });
  if (composites.size() <= kFew) {
    depth = std::min(depth, kDepthForFew);
  } else {
    composites.resize(1);
  }
  if (depth == 0) return range;
  for (const AtomRef& atom : composites) {
    const auto resolve = atom->kind == Atom::Kind::Max ? by_cases : by_division;
    range = intersection(range, unless_overflow([&] { return resolve(p, atom, depth); }));
  }
  return range;
}

}  // namespace

Interval range_of(const Dim& dim) { return range_of(dim, kDepth); }
bool never_negative(const Dim& dim) { return never_negative(range_of(dim)); }

Interval floor_div(const Interval& a, const Interval& b) {
  if (is_zero(b)) return {};
  if (never_positive(b)) return floor_div(negated(a), negated(b));
  if (!never_negative(b)) return {};
  const std::int64_t smallest = std::max<std::int64_t>(b.lower.value_or(0), 1);
  // Towards 0 with the greatest divisor, away from it with the smallest one.
  const auto quotient = [&](std::int64_t value, bool towards_zero) -> std::int64_t {
    if (!towards_zero) return floor_quotient(value, smallest);
    if (b.upper) return floor_quotient(value, *b.upper);
    return value < 0 ? -1 : 0;
  };
  Interval result;
  if (a.lower) result.lower = quotient(*a.lower, *a.lower >= 0);
  if (a.upper) result.upper = quotient(*a.upper, *a.upper < 0);
  return result;
}

}  // namespace detail

std::optional<std::int64_t> Dim::lower_bound() const { return detail::range_of(*this).lower; }
std::optional<std::int64_t> Dim::upper_bound() const { return detail::range_of(*this).upper; }

namespace {

std::optional<Dim> difference(const Dim& a, const Dim& b) {
  try {
    return a - b;
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<bool> provably_equal(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (a.is_static() && b.is_static()) return false;
  const auto d = difference(a, b);
  if (!d) return std::nullopt;
  const detail::Interval range = detail::range_of(*d);
  if (range.lower == 0 && range.upper == 0) return true;
  if (range.lower.value_or(0) > 0 || range.upper.value_or(0) < 0) return false;
  // 2*n + 1 is never 0.
  const std::int64_t step = detail::content(*d, false);
  if (step != 0 && d->constant_term() % step != 0) return false;
  return std::nullopt;
}

std::optional<bool> provably_less(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.constant_term() < b.constant_term();
  if (a == Dim(INT64_MAX) || b == Dim(INT64_MIN)) return false;  // all sizes are int64
  const auto d = difference(b, a);
  if (!d) return std::nullopt;
  const detail::Interval range = detail::range_of(*d);
  if (range.lower.value_or(0) > 0) return true;
  if (range.upper.value_or(1) <= 0) return false;
  return std::nullopt;
}

}  // namespace pt2onnx
