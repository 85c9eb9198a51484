// Questions about operators, answered from the registry, libtorch's schemas and the onnx library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/operator_guide.h"
#include "emitter/emitter.h"
#include "pt2onnx/convert.h"

namespace pt2onnx {

struct OpFilter {
  std::string pattern;  // part of a name; case does not count, `*` stands for anything
  std::string space;    // a namespace; empty: aten, torchvision and those of the user
  std::optional<OpStatus> status;
  bool all = false;  // private and backward operators too, and those on Python values
};
struct ListedOp {
  std::string op;
  OpStatus status = OpStatus::Missing;
  std::optional<int> since;  // the first opset with a mapping
};
struct OpList {
  std::vector<ListedOp> ops;
  bool is_exact = true;  // false: nothing matches the pattern, these are near to it
};
OpList list_ops(const OpFilter& filter, const Options& options);

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
