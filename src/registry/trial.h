// What a rule makes of an operator, found by trying it on made-up values: the dictionary is code, and running it is the
// only way to know which ONNX operators it leads to.
#pragma once

#include <string>
#include <vector>

#include "pt2onnx/registry.h"
#include "registry/folder.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

struct Trial {
  /// "Relu" or "domain::op", in the order of their first use.
  std::vector<std::string> operators;
  /// One node that takes exactly the tensors that the call was given, each once: the operator is a word of ONNX.
  bool is_one_word = false;
};

/// The nodes for the first made-up call that libtorch and the rule take; `every_call`: for all that it takes, each result once.
/// Empty when there is none, which says nothing about the rule.
std::vector<Trial> try_rule(const Registry& registry, const Rule& rule, const program::Schema& schema,
                            const OpCatalog& catalog, Folder& folder, int opset, bool every_call = false);

/// Arguments of made-up calls, ordinary ones first. Whether libtorch takes them is not known.
std::vector<std::vector<program::Literal>> made_up_calls(const program::Schema& schema);

/// The operators that libtorch computes a composite one by ("aten::mul.Tensor"), in the order of their first use, for the
/// first made-up call that its kernel takes. Empty when there is none, which says nothing about other calls.
std::vector<std::string> try_steps(const program::Schema& schema, Folder& folder);

}  // namespace pt2onnx
