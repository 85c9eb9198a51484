// What the inner layers need to know of ONNX operators. The emitter answers from the linked onnx library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/graph.h"

namespace pt2onnx {

struct OpParameter {
  std::string name;
  std::vector<DType> dtypes;  // what the type constraint allows (of tensors); empty: no tensor or anything
  std::string
      type_variable;  // parameters with the same variable ("T") have the same type; empty for a fixed type
  bool optional = false;
  bool variadic = false;
};

struct OpAttribute {
  enum class Kind { Int, Float, String, Ints, Floats, Strings, Tensor, Graph, Other };
  std::string name;
  Kind kind = Kind::Other;
  bool required = false;
  std::string default_text;  // as onnx prints it; empty: none
};

struct OpSignature {
  std::string domain, name;
  int since = 0;  // the version of this form
  bool deprecated = false;
  std::vector<OpParameter> inputs, outputs;
  std::vector<OpAttribute> attributes;
};

class OpCatalog {
 public:
  virtual ~OpCatalog() = default;

  /// The form of an operator at an opset of its domain; null when it does not exist there (or is deprecated).
  virtual const OpSignature* find(std::string_view domain, std::string_view op, int opset) const = 0;

  /// The first opset with that operator in the standard domain, if any.
  virtual std::optional<int> since(std::string_view op) const = 0;

  /// The names of all operators of the standard domain, sorted, deprecated ones left out.
  virtual const std::vector<std::string>& names() const = 0;

  /// The newest opset of the standard domain.
  virtual int newest_opset() const = 0;

  struct Inferred {
    ValueType::Kind kind = ValueType::Kind::Tensor;
    std::optional<DType> dtype;
    std::optional<std::vector<std::optional<Dim>>> dims;  // a dim that inference left open is nullopt
  };
  /// Whether an operator of another domain was declared, so that `infer` knows its outputs.
  virtual bool is_declared(std::string_view /*domain*/, std::string_view /*op*/) const { return false; }
  /// Types of the outputs of a node by the operator's own inference function (constants and subgraphs are seen).
  /// Throws std::invalid_argument with the operator's words when the node is wrong.
  virtual std::vector<Inferred> infer(const Node& node, int opset) const = 0;
};

}  // namespace pt2onnx
