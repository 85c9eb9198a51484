// The operators of the linked onnx library, as the inner layers and as the inference see them.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/defs/schema.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

/// What is kept of a schema: our view of it, and what onnx would have to look up or copy at each node.
struct CatalogEntry {
  const onnx::OpSchema* schema = nullptr;
  OpSignature signature;
  onnx::InferenceFunction infer;  // empty when the operator has none of its own
};

class OnnxCatalog final : public OpCatalog {
 public:
  const OpSignature* find(std::string_view domain, std::string_view op, int opset) const override;
  std::optional<int> since(std::string_view op) const override;
  const std::vector<std::string>& names() const override;
  int newest_opset() const override;
  bool is_declared(std::string_view domain, std::string_view op) const override;
  std::vector<Inferred> infer(const Node& node, int opset) const override;

 private:
  /// Null when onnx has no such operator, or has deprecated it.
  const CatalogEntry* entry(const std::string& domain, const std::string& op, int opset) const;

  // Filled on demand, so that a run pays only for the operators that it uses.
  mutable std::mutex mutex_;
  mutable std::unordered_map<const onnx::OpSchema*, std::unique_ptr<CatalogEntry>> entries_;
};

}  // namespace pt2onnx
