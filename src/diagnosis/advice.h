// Why an operator without a rule cannot be translated, and what to do: the four cases, derived from the registry, the
// catalogue of ONNX operators and the operator's own schema. There is no list of operators here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/diagnosis.h"
#include "pt2onnx/program.h"
#include "pt2onnx/registry.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

/// An ONNX operator that a torch operator could be mapped to.
struct OnnxWord {
  std::string domain, name;
  int since = 0;  // the first opset with it
  bool one_to_one =
      false;  // tensors become inputs in order, and every other argument is a default or an attribute
};

struct AdviceContext {
  const Registry& registry;
  const OpCatalog& catalog;
  int opset = 0;
  std::string custom_domain = "custom";
};

struct Advice {
  Case which = Case::NoSuchWord;
  std::string reason;               // one sentence, lower case, no full stop
  std::vector<std::string> advice;  // best first
  std::optional<int> first_opset;   // case 4
  std::vector<OnnxWord> onnx;       // operators that fit by name and signature, best first
};

/// For an operator that has no rule at `context.opset`. `name` is without overload ("aten::add"). `schema` is null when
/// nothing is known of the operator; a variadic one is a stand-in.
Advice advise_unmapped(std::string_view name, std::string_view overload, const program::Schema* schema,
                       const AdviceContext& context);

/// The same as a Finding with op and schema filled in; count and locations are the caller's.
Finding unmapped_finding(std::string_view name, std::string_view overload, const program::Schema* schema,
                         const AdviceContext& context);

/// ONNX operators that fit the schema by name and signature, at any opset.
std::vector<OnnxWord> onnx_words_for(std::string_view name, const program::Schema& schema,
                                     const OpCatalog& catalog);

/// Whether operators of that namespace come with PyTorch or torchvision.
bool is_torch_namespace(std::string_view name);

}  // namespace pt2onnx
