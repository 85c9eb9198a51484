// The ring of polynomials: sums, products, equality, evaluation.
#include "pt2onnx/dim.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/dim_bounds.h"
#include "core/dim_terms.h"

namespace pt2onnx {

using detail::Atom;
using detail::AtomRef;
using detail::Term;

Dim Dim::of_terms(std::int64_t constant, std::vector<Term> terms) {
  std::ranges::sort(terms, [](const Term& a, const Term& b) { return detail::before(a.factors, b.factors); });
  std::vector<Term> merged;
  for (Term& term : terms) {
    if (!merged.empty() && detail::same(merged.back().factors, term.factors)) {
      merged.back().coefficient = detail::checked_add(merged.back().coefficient, term.coefficient);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  Dim result(constant);
  if (!merged.empty()) result.terms_ = std::make_shared<const std::vector<Term>>(std::move(merged));
  return result;
}

const std::vector<Term>& Dim::terms() const {
  static const std::vector<Term> none;
  return terms_ ? *terms_ : none;
}

Dim Dim::symbol(std::string name, std::int64_t minimum) {
  std::string key = detail::symbol_text(name);
  return detail::of_atom(std::make_shared<const Atom>(
      Atom{Atom::Kind::Symbol, std::move(key), std::move(name), {}, {}, minimum, std::nullopt}));
}

std::optional<std::int64_t> Dim::known() const {
  return is_static() ? std::optional(constant_) : std::nullopt;
}

std::optional<std::string> Dim::symbol_name() const {
  if (constant_ != 0 || terms().size() != 1) return std::nullopt;
  const Term& term = terms()[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return std::nullopt;
  const Atom& atom = *term.factors[0];
  return atom.kind == Atom::Kind::Symbol ? std::optional(atom.name) : std::nullopt;
}

Dim operator+(const Dim& a, const Dim& b) {
  std::vector<Term> sum = a.terms();
  sum.insert(sum.end(), b.terms().begin(), b.terms().end());
  return Dim::of_terms(detail::checked_add(a.constant_, b.constant_), std::move(sum));
}

Dim Dim::operator-() const { return Dim(0) - *this; }

// Not by way of `-b`, which overflows for some differences that do not.
Dim operator-(const Dim& a, const Dim& b) {
  std::int64_t constant = 0;
  if (__builtin_sub_overflow(a.constant_, b.constant_, &constant)) {
    throw std::overflow_error("a size does not fit into 64 bits");
  }
  std::vector<Term> difference = a.terms();
  for (Term term : b.terms()) {
    term.coefficient = detail::checked_multiply(term.coefficient, -1);
    difference.push_back(std::move(term));
  }
  return Dim::of_terms(constant, std::move(difference));
}

Dim operator*(const Dim& a, const Dim& b) {
  std::vector<Term> product;
  std::int64_t constant = 0;
  for (const Term& x : detail::all_terms(a)) {
    for (const Term& y : detail::all_terms(b)) {
      const std::int64_t coefficient = detail::checked_multiply(x.coefficient, y.coefficient);
      if (x.factors.empty() && y.factors.empty()) {
        constant = coefficient;
      } else {
        product.push_back({detail::multiply(x.factors, y.factors), coefficient});
      }
    }
  }
  return Dim::of_terms(constant, std::move(product));
}

bool Dim::operator==(const Dim& other) const {
  if (constant_ != other.constant_) return false;
  if (terms_ == other.terms_) return true;
  return std::ranges::equal(terms(), other.terms(), [](const Term& a, const Term& b) {
    return a.coefficient == b.coefficient && detail::same(a.factors, b.factors);
  });
}

namespace {

using Lookup = std::function<std::optional<std::int64_t>(const std::string&)>;

std::optional<std::int64_t> value_of(const Atom& atom, const Lookup& lookup) {
  if (atom.kind == Atom::Kind::Symbol) return lookup(atom.name);
  const auto left = atom.left.evaluate(lookup);
  const auto right = atom.right.evaluate(lookup);
  if (!left || !right) return std::nullopt;
  if (atom.kind == Atom::Kind::Max) return std::max(*left, *right);
  if (*right == 0) return std::nullopt;
  return detail::floor_quotient(*left, *right);
}

void collect_symbols(const Dim& dim, std::vector<std::string>& names) {
  for (const AtomRef& atom : detail::atoms_of(dim)) {
    if (atom->kind != Atom::Kind::Symbol) {
      collect_symbols(atom->left, names);
      collect_symbols(atom->right, names);
    } else if (std::ranges::find(names, atom->name) == names.end()) {
      names.push_back(atom->name);
    }
  }
}

}  // namespace

std::optional<std::int64_t> Dim::evaluate(const Lookup& lookup) const {
  try {
    std::int64_t sum = constant_;
    for (const Term& term : terms()) {
      std::int64_t value = term.coefficient;
      for (const AtomRef& factor : term.factors) {
        const auto of_factor = value_of(*factor, lookup);
        if (!of_factor) return std::nullopt;
        value = detail::checked_multiply(value, *of_factor);
      }
      sum = detail::checked_add(sum, value);
    }
    return sum;
  } catch (const std::overflow_error&) {
    return std::nullopt;
  }
}

std::vector<std::string> Dim::symbols() const {
  std::vector<std::string> names;
  collect_symbols(*this, names);
  return names;
}

Dim product(const Shape& shape) {
  Dim result = 1;
  for (const Dim& dim : shape) result = result * dim;
  return result;
}

std::optional<std::vector<std::int64_t>> static_shape(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (const Dim& dim : shape) {
    if (!dim.is_static()) return std::nullopt;
    dims.push_back(dim.constant_term());
  }
  return dims;
}

}  // namespace pt2onnx
