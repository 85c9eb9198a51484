// The dictionary: torch operator names to symbolic functions, per opset.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/call.h"

namespace pt2onnx {

using SymbolicFunction = Results (*)(Call&);

/// What a row means for a call with complex values (src/registry/apply.cpp).
enum class OnComplex {
  Refused,
  ByParts,  // linear, or moves elements about: the real function on the real parts, then on the imaginary ones
  Multilinear,  // a product: the sum of the real function over the parts of the factors
  ByModulus,    // the real function on absolute values
  ByTruth,      // the real function on whether the numbers are not zero
  Itself,       // the symbolic function takes complex values, and quantized ones
};

/// A row of a table in symbolics/.
struct Entry {
  std::string_view
      name;   // "aten::add": all overloads; "aten::add.Tensor": that one, and it wins over the former
  int since;  // the first opset that it is good for
  SymbolicFunction convert;
  OnComplex on_complex = OnComplex::Refused;
};
inline constexpr OnComplex by_parts = OnComplex::ByParts;
inline constexpr OnComplex multilinear = OnComplex::Multilinear;
inline constexpr OnComplex by_modulus = OnComplex::ByModulus;
inline constexpr OnComplex by_truth = OnComplex::ByTruth;
inline constexpr OnComplex takes_complex = OnComplex::Itself;

/// A registered row. User rows (plugin, mapping file) hold state, hence std::function.
struct Rule {
  std::string name;
  int since = 0;
  std::function<Results(Call&)> convert;
  std::string origin;  // "built-in", or the file that it came from
  OnComplex on_complex = OnComplex::Refused;
  std::optional<int> until = std::nullopt;  // the last opset that it is good for
};

class Registry {
 public:
  /// Built-in tables first, then the user's: a later addition of the same name wins at every opset that it covers.
  void add(std::span<const Entry> table, std::string origin = "built-in");
  void add(Rule rule);
  /// Hides an operator (--without), as if it had never been registered.
  void remove(std::string_view name);

  struct Found {
    const Rule* rule = nullptr;  // good at the asked opset
    std::optional<int> later;    // else the first opset with a rule
  };
  /// `name` without overload; the row of the overload wins over the row of all overloads.
  Found find(std::string_view name, std::string_view overload, int opset) const;

  /// Forms for calls with complex or quantized values, of operators that have another for plain ones.
  enum class Form { Complex, Quantized };
  void add(Form form, std::span<const Entry> table);
  void add(Form form, Rule rule);
  /// The rule for such a call, if there is a form of its own; else what that of `find` says counts.
  const Rule* find(Form form, std::string_view name, std::string_view overload, int opset) const;
  std::vector<const Rule*> rules(Form form) const;

  /// All registered names, sorted, each once.
  std::vector<std::string> names() const;
  std::vector<const Rule*> rules(std::string_view name) const;

 private:
  using Rules = std::map<std::string, std::vector<Rule>, std::less<>>;
  static Found find(const Rules& rules, std::string_view name, std::string_view overload, int opset);

  Rules rules_;  // each sorted by since, later additions last
  std::map<Form, Rules> forms_;
};

/// Every table of symbolics/.
Registry builtin_registry();

}  // namespace pt2onnx
