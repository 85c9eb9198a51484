// How operators are translated, and why not: answered from the registry, libtorch's schemas and the onnx library.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/advice.h"
#include "diagnosis/kernel_contract.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/diagnosis.h"
#include "pt2onnx/registry.h"
#include "registry/folder.h"

namespace pt2onnx {

enum class OpStatus { Mapped, Decomposed, LaterOpset, Missing, Unknown };
std::string_view to_string(OpStatus status);  // "mapped", "decomposed", "later-opset", "missing", "unknown"
/// What an operator that exists can be.
inline constexpr std::array kOpStatuses{OpStatus::Mapped, OpStatus::Decomposed, OpStatus::LaterOpset,
                                        OpStatus::Missing};

struct Explanation {
  std::string op;
  int opset = 0;
  OpStatus status = OpStatus::Unknown;
  std::optional<Case> which;
  std::optional<int> since;    // the first opset with a mapping
  std::vector<OnnxWord> onnx;  // mapped: what it becomes, as far as a trial tells; else operators that fit
  std::string reason;
  std::vector<std::string> advice;
  std::vector<std::string> schemas;
  std::vector<std::string> near;   // of an unknown name
  std::vector<std::string> steps;  // the operators that libtorch computes it by, where it is not mapped
  std::optional<KernelContract> custom_node;  // of an operator that is not mapped
};

class OperatorGuide {
 public:
  /// Throws UsageError when a library or schema of the options cannot be had, EntryError for wrong entries of the user's.
  explicit OperatorGuide(const Options& options);

  /// `name` as users write it: "asinh", "aten::asinh", "aten::add.Tensor".
  Explanation explain(const std::string& name) const;

  /// Of one overload. `since` as in Explanation.
  struct Standing {
    OpStatus status = OpStatus::Missing;
    std::optional<int> since;
    const Rule* rule = nullptr;
    std::string how;                      // of a mapped one without a rule
    std::vector<std::string> steps = {};  // of one that is not mapped and composite, in an ordinary call
  };
  Standing standing(const program::Schema& schema) const;
  /// Of an operator as a whole: the best of its overloads.
  Standing standing(const std::string& name) const;

  /// The full name of what the user means: "asinh" -> "aten::asinh", "nms" -> "torchvision::nms".
  std::string full_name(const std::string& name) const;
  std::vector<std::string> near(const std::string& name) const;

  Folder& folder() const { return *folder_; }
  const Registry& registry() const { return registry_; }
  /// Of all operators that libtorch, torchvision and the options bring, and of the dictionary; sorted.
  const std::vector<std::string>& names() const;

 private:
  std::string trial(const Rule& rule, const program::Schema& schema) const;
  std::vector<std::string> steps_of(const program::Schema& schema) const;
  void try_to_decompose(const program::Schema& schema, Standing& standing) const;
  void explain_decomposed(Explanation& e, const Standing& standing) const;
  std::vector<OnnxWord> becomes(const Rule& rule, const program::Schema& schema) const;
  void explain_mapped(Explanation& e, const Standing& standing, const program::Schema* schema) const;
  void explain_unknown(Explanation& e) const;
  Explanation explain_in_range(const std::string& name) const;  // without a word on the opset

  const Options& options_;
  Registry registry_;
  Registry builtin_;  // without what the options hide
  std::unique_ptr<Folder> folder_;
  mutable std::vector<std::string> names_;
  mutable std::map<std::string, std::vector<std::string>> steps_;  // of composite operators, by schema
  mutable std::set<std::string> open_;                             // those whose steps are looked at now
};

}  // namespace pt2onnx
