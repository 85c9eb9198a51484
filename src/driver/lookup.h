// Questions about operators, answered from the registry, libtorch's schemas and the onnx library.
#pragma once

#include <map>
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
  std::map<OpStatus, std::size_t> counts;  // of all that match, whatever their status; each of kOpStatuses
  bool is_exact = true;                    // false: nothing matches the pattern, these are near to it
};
OpList list_ops(const OpFilter& filter, const Options& options);

struct SchemaLookup {
  std::string op;                    // with its namespace
  std::vector<std::string> schemas;  // of all overloads, empty when there is no such operator
  std::vector<std::string> near;
};
SchemaLookup lookup_schema(const std::string& name, const Options& options);

struct OnnxFilter {
  std::string pattern;
  std::optional<std::string> domain;  // "" or "ai.onnx": the standard one
  std::optional<int> opset;           // the form at that version of the domain
};
struct OnnxForm {
  int version = 0;
  const OpSignature* signature = nullptr;  // null: deprecated by this version
  std::vector<std::string> changes;        // against the form before
};
struct OnnxLookup {
  OnnxOperator op;
  std::vector<OnnxForm> history;           // oldest first
  const OpSignature* signature = nullptr;  // the form asked for; null where it is deprecated
};
/// Operators of the onnx library whose name contains the pattern, by domain and name.
std::vector<OnnxLookup> lookup_onnx(const OnnxFilter& filter);

/// Whether a name matches a pattern as list_ops understands it.
bool matches(std::string_view name, std::string_view pattern);

struct Versions {
  std::string pt2onnx, libtorch, onnx, onnxruntime;  // the last is empty where it was not built in
};
Versions versions();

}  // namespace pt2onnx
