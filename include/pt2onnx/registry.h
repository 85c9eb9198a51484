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

/// A row of a table in symbolics/.
struct Entry {
  std::string_view name;  // "aten::add": all overloads; "aten::add.Tensor": that one, and it wins over the former
  int since;              // the first opset that it is good for
  SymbolicFunction convert;
};

/// A registered row. User rows (plugin, mapping file) hold state, hence std::function.
struct Rule {
  std::string name;
  int since = 0;
  std::function<Results(Call&)> convert;
  std::string origin;  // "built-in", or the file that it came from
};

class Registry {
 public:
  /// Built-in tables first, then the user's: a later addition of the same name wins at every opset that it covers.
  void add(std::span<const Entry> table, std::string origin = "built-in");
  void add(Rule rule);
  /// Hides an operator (--without), as if it had never been registered.
  void remove(std::string_view name);

  struct Found {
    const Rule* rule = nullptr;        // good at the asked opset
    std::optional<int> later;          // else the first opset with a rule
  };
  /// `name` without overload; the row of the overload wins over the row of all overloads.
  Found find(std::string_view name, std::string_view overload, int opset) const;

  /// All registered names, sorted, each once.
  std::vector<std::string> names() const;
  std::vector<const Rule*> rules(std::string_view name) const;

 private:
  std::map<std::string, std::vector<Rule>, std::less<>> rules_;  // each sorted by since, later additions last
};

/// Every table of symbolics/.
Registry builtin_registry();

}  // namespace pt2onnx
