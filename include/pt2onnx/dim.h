// A size that may be symbolic: an integer polynomial over named symbols, floor divisions and maxima.
//
// Dims are kept in a canonical form, so that `==` finds equal what is equal by ring arithmetic: with `n` dynamic,
// `x.size(0) * 2 - x.size(0)` is `n` again, and no node is emitted for it. docs/dims.md describes the form.
//
// A Dim stands for its value wherever that is defined (no divisor is 0). Arithmetic that leaves 64 bits throws
// std::overflow_error; division by a Dim that is always 0 throws std::domain_error.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pt2onnx {

class Dim;

namespace detail {
struct Atom;  // a symbol, a floor division or a maximum
using AtomRef = std::shared_ptr<const Atom>;
struct Term {
  std::vector<AtomRef> factors;  // sorted, not empty; a repeated factor is a power
  std::int64_t coefficient;
};
}  // namespace detail

class Dim {
 public:
  Dim() = default;
  Dim(std::int64_t value) : constant_(value) {}  // NOLINT: a number is a size
  Dim(int value) : constant_(value) {}           // NOLINT

  /// A named unknown that is at least `minimum`. The name alone is its identity.
  static Dim symbol(std::string name, std::int64_t minimum = 0);

  bool is_static() const { return terms_ == nullptr; }
  /// The number, when it is known.
  std::optional<std::int64_t> known() const;
  /// Whether this is exactly one symbol, and its name.
  std::optional<std::string> symbol_name() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  Dim operator-() const;

  bool operator==(const Dim& other) const;

  /// Readable and usable as an ONNX dim_param: "batch", "2*h + 1", "floor(h/2)", "max(a, b)". Different Dims have
  /// different texts.
  std::string str() const;

  /// Bounds that follow from the symbols' minima; nullopt where none follows.
  std::optional<std::int64_t> lower_bound() const;
  std::optional<std::int64_t> upper_bound() const;

  /// Value under an assignment of the symbols; nullopt when a symbol has none, a divisor is 0 or 64 bits are too few.
  std::optional<std::int64_t> evaluate(
      const std::function<std::optional<std::int64_t>(const std::string&)>& lookup) const;

  /// Names of all symbols inside, each once, in order of first appearance.
  std::vector<std::string> symbols() const;

  // -- structure, for whoever turns a Dim into graph nodes --
  std::int64_t constant_term() const { return constant_; }
  /// The rest of the sum, by falling degree and then alphabetically.
  const std::vector<detail::Term>& terms() const;
  /// The sum of these, in canonical form.
  static Dim of_terms(std::int64_t constant, std::vector<detail::Term> terms);

 private:
  std::int64_t constant_ = 0;
  std::shared_ptr<const std::vector<detail::Term>> terms_;  // null when static; never empty
};

namespace detail {
struct Atom {
  enum class Kind { Symbol, FloorDiv, Max };
  Kind kind;
  std::string key;   // canonical text: with the kind, the identity and the order of atoms
  std::string name;  // of a Symbol, as it was given
  Dim left, right;   // of FloorDiv and Max; a maximum of more than two has the others in `right`
  std::optional<std::int64_t> lower, upper;  // bounds that are known; a Symbol's minimum is its lower one
};
}  // namespace detail

Dim floor_div(const Dim& a, const Dim& b);  // rounds towards minus infinity, as Python's //
Dim ceil_div(const Dim& a, const Dim& b);
Dim mod(const Dim& a, const Dim& b);  // sign of b, as Python's %
Dim max(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);

/// What can be proved for all values of the symbols; nullopt when it depends on them.
std::optional<bool> provably_equal(const Dim& a, const Dim& b);
std::optional<bool> provably_less(const Dim& a, const Dim& b);

using Shape = std::vector<Dim>;

/// Product of all dims; 1 for an empty shape.
Dim product(const Shape& shape);
/// All known, or nullopt.
std::optional<std::vector<std::int64_t>> static_shape(const Shape& shape);
std::string to_string(const Shape& shape);  // "[batch, 3, 224, 224]"

}  // namespace pt2onnx
