// Questions about operators, answered from the registry, libtorch's schemas and the onnx library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/advice.h"
#include "emitter/emitter.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/diagnosis.h"

namespace pt2onnx {

struct OpStatus {
  std::string op;      // "aten::add", or with overload where it has a row of its own
  std::string status;  // "mapped", "later-opset"
  int since = 0;       // the first opset with a rule
};

/// The registered operators whose name contains the pattern (case does not count, `*` stands for anything); all for
/// an empty one.
std::vector<OpStatus> list_ops(const std::string& pattern, const Options& options);

struct Explanation {
  std::string op;
  int opset = 0;
  std::string status;  // "mapped", "decomposed", "later-opset", "missing", "unknown"
  std::optional<Case> which;
  std::optional<int> since;
  std::vector<OnnxWord> onnx;  // operators of the standard that fit by name and signature
  std::string reason;
  std::vector<std::string> advice;
  std::vector<std::string> schemas;
};

/// `name` as users write it: "asinh", "aten::asinh", "aten::add.Tensor".
Explanation explain(const std::string& name, const Options& options);

struct SchemaLookup {
  std::string op;                    // with its namespace
  std::vector<std::string> schemas;  // of all overloads, empty when there is no such operator
  std::vector<std::string> near;
};
SchemaLookup lookup_schema(const std::string& name, const Options& options);

/// Operators of the onnx library whose name contains the pattern.
std::vector<OnnxOperator> lookup_onnx(const std::string& pattern);
/// Inputs, outputs and attributes of the newest form of an operator.
const OpSignature* onnx_signature(const OnnxOperator& op);

/// Whether a name matches a pattern as list_ops understands it.
bool matches(std::string_view name, std::string_view pattern);

struct Versions {
  std::string pt2onnx, libtorch, onnx, onnxruntime;  // the last is empty where it was not built in
};
Versions versions();

}  // namespace pt2onnx
