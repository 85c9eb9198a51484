#include "driver/lookup.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "diagnosis/near_names.h"
#include "diagnosis/onnx_history.h"
#include "driver/findings.h"
#include "frontend/frontend.h"
#include "interpreter/operator_kind.h"
#include "verify/runtime.h"

namespace pt2onnx {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool same_letter(char a, char b) { return lower(a) == lower(b); }

/// `*` stands for anything.
bool glob(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i)
      if (glob(text.substr(i), pattern.substr(1))) return true;
    return false;
  }
  return !text.empty() && same_letter(text.front(), pattern.front()) &&
         glob(text.substr(1), pattern.substr(1));
}

bool is_private(std::string_view name) { return name.find("::_") != std::string_view::npos; }
bool is_backward(std::string_view name) { return name.find("backward") != std::string_view::npos; }
std::string_view space_of(std::string_view name) { return name.substr(0, name.find("::")); }

/// What the list shows of its own accord: what a model calls.
class Visible {
 public:
  Visible(const OperatorGuide& guide, const OpFilter& filter) : guide_(guide), filter_(filter) {}

  bool operator()(const std::string& name) const {
    const auto space = space_of(name);
    if (!filter_.space.empty() ? space != filter_.space : !is_usual(space)) return false;
    if (filter_.all) return true;
    if (is_private(name) && filter_.pattern.find("::_") == std::string::npos &&
        !filter_.pattern.starts_with('_'))
      return false;
    if (is_backward(name) && !is_backward(filter_.pattern)) return false;
    const auto overloads = guide_.folder().overloads(name);
    if (overloads.empty()) return true;
    return std::any_of(overloads.begin(), overloads.end(), [&](const auto& schema) {
      return takes_tensors(*schema) && functional_name(*schema) == name;
    });
  }

 private:
  static bool is_usual(std::string_view space) {
    return space == "aten" || space == "torchvision" || !is_torch_namespace(space);
  }
  const OperatorGuide& guide_;
  const OpFilter& filter_;
};

}  // namespace

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.find('*') != std::string_view::npos) {
    const auto colons = name.find("::");  // `grid*` is `aten::grid*`
    return glob(name, pattern) ||
           (colons != std::string_view::npos && glob(name.substr(colons + 2), pattern));
  }
  return std::search(name.begin(), name.end(), pattern.begin(), pattern.end(), same_letter) != name.end();
}

OpList list_ops(const OpFilter& filter, const Options& options) {
  const OperatorGuide guide(options);
  std::vector<std::string> visible, matching;
  std::copy_if(guide.names().begin(), guide.names().end(), std::back_inserter(visible),
               Visible(guide, filter));
  std::copy_if(visible.begin(), visible.end(), std::back_inserter(matching),
               [&](const std::string& name) { return matches(name, filter.pattern); });
  OpList list;
  if (matching.empty()) {
    constexpr std::size_t kNear = 10;
    list.is_exact = false;
    matching = near_names(guide.full_name(filter.pattern), visible, kNear);
  }
  for (const OpStatus status : kOpStatuses) list.counts[status] = 0;
  for (const std::string& name : matching) {
    const auto standing = guide.standing(name);
    ++list.counts[standing.status];
    if (!filter.status || *filter.status == standing.status)
      list.ops.push_back({name, standing.status, standing.since});
  }
  return list;
}

SchemaLookup lookup_schema(const std::string& asked, const Options& options) {
  const OperatorGuide guide(options);
  SchemaLookup result;
  result.op = guide.full_name(asked);
  const auto [name, overload] = split_overload(result.op);
  for (const auto& schema : guide.folder().overloads(name))
    if (overload.empty() || schema->overload == overload) result.schemas.push_back(schema->text);
  if (result.schemas.empty()) result.near = guide.near(name);
  return result;
}

std::vector<OnnxLookup> lookup_onnx(const OnnxFilter& filter) {
  const std::optional<std::string> domain = filter.domain == "ai.onnx" ? "" : filter.domain;
  std::vector<OnnxLookup> found;
  for (OnnxOperator& op : onnx_operators()) {
    if (domain && op.domain != *domain) continue;
    if (filter.opset && op.versions.front() > *filter.opset) continue;
    if (!matches(op.domain.empty() ? op.name : op.domain + "::" + op.name, filter.pattern)) continue;
    OnnxLookup lookup;
    const OpSignature* before = nullptr;
    for (const int version : op.versions) {
      if (filter.opset && version > *filter.opset) break;
      const OpSignature* now = onnx_catalog().find(op.domain, op.name, version);
      OnnxForm form{version, now, {}};
      if (!now)
        form.changes.emplace_back("deprecated");
      else if (before)
        form.changes = changes_between(*before, *now);
      before = now;
      lookup.history.push_back(std::move(form));
    }
    lookup.signature = before;
    lookup.op = std::move(op);
    found.push_back(std::move(lookup));
  }
  return found;
}

Versions versions() { return {std::string(version()), torch_version(), onnx_version(), runtime_version()}; }

}  // namespace pt2onnx
