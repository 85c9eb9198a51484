// The parts of a Dim's polynomial, for the files that implement Dim.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pt2onnx/dim.h"

namespace pt2onnx::detail {

using Monomial = std::vector<AtomRef>;  // sorted; empty is 1

// They throw std::overflow_error.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

/// Rounds towards minus infinity; `b` is not 0.
std::int64_t floor_quotient(std::int64_t a, std::int64_t b);

bool same(const AtomRef& a, const AtomRef& b);
bool same(const Monomial& a, const Monomial& b);
bool before(const AtomRef& a, const AtomRef& b);

/// The order of terms: by falling degree, then alphabetically. It is compatible with multiplication, and every
/// falling sequence ends, which is what division with remainder needs.
bool before(const Monomial& a, const Monomial& b);

Monomial multiply(const Monomial& a, const Monomial& b);
/// a / b, when b divides a.
std::optional<Monomial> divide(const Monomial& a, const Monomial& b);

Dim of_term(const Monomial& monomial, std::int64_t coefficient);
Dim of_atom(AtomRef atom);

/// Terms with the constant as a last one (if it is not 0), whose monomial is empty.
std::vector<Term> all_terms(const Dim& dim);

/// The greatest common divisor of all coefficients; without the constant, if so wished. 0 for none.
std::int64_t content(const Dim& dim, bool with_constant);

/// All coefficients divided by `divisor`, rounded down.
Dim scaled_down(const Dim& dim, std::int64_t divisor);
/// All terms divided by a monomial that divides them.
Dim scaled_down(const Dim& dim, const Monomial& divisor);
/// The greatest monomial that divides all terms of all of `dims`.
Monomial common_monomial(std::span<const Dim> dims);

/// The atoms that occur as factors of the terms (not those inside of them), each once.
std::vector<AtomRef> atoms_of(const Dim& dim);

/// p = cofactor * atom + rest, if the atom occurs in no higher power.
struct LinearParts {
  Dim cofactor, rest;
};
std::optional<LinearParts> linear_in(const Dim& p, const AtomRef& atom);

/// With each occurrence of the atom as a factor replaced.
Dim substitute(const Dim& p, const AtomRef& atom, const Dim& replacement);

/// The operands of a maximum: two or more.
std::vector<Dim> operands_of(const Atom& max);

// Texts that are the keys of atoms.
std::string symbol_text(const std::string& name);
std::string floor_text(const Dim& numerator, const Dim& denominator);
std::string max_text(std::span<const Dim> operands);

}  // namespace pt2onnx::detail
