#include "driver/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "diagnosis/near_names.h"
#include "driver/findings.h"
#include "frontend/frontend.h"
#include "interpreter/machine.h"
#include "pt2onnx/registry.h"
#include "verify/runtime.h"

namespace pt2onnx {
namespace {

Registry registry_of(const Options& options) {
  Registry registry = options.registry ? *options.registry : builtin_registry();
  for (const std::string& name : options.without) registry.remove(name);
  return registry;
}

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

std::string with_namespace(const std::string& name) {
  return name.find("::") == std::string::npos ? "aten::" + name : name;
}

/// The name under which the dictionary has the operator: in-place forms are looked up as their functional ones.
std::string functional(const Registry& registry, const std::string& name) {
  if (name.ends_with('_') && registry.rules(name).empty()) return name.substr(0, name.size() - 1);
  return name;
}

std::vector<std::string> near_operators(const std::string& name, const Registry& registry) {
  return near_names(name, registry.names());
}

Explanation unknown(Explanation explanation, const Registry& registry) {
  explanation.status = "unknown";
  const auto near = near_operators(explanation.op, registry);
  explanation.reason = fmt::format("libtorch has no operator `{}`", explanation.op);
  if (!near.empty())
    explanation.advice.push_back(fmt::format("names that are near: {}", fmt::join(near, ", ")));
  const auto [name, overload] = split_overload(explanation.op);
  if (is_torch_namespace(std::string_view(name).substr(0, name.find("::")))) return explanation;
  explanation.which = Case::UserOp;
  explanation.advice.push_back(fmt::format(
      "for an operator of a library of your own, tell its signature (`--op-schema '{}(Tensor x) -> Tensor'`) "
      "or load the "
      "library (`--load-library LIB.so`), and pass `--unsupported custom` to export it as a custom node",
      name));
  return explanation;
}

}  // namespace

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.find('*') != std::string_view::npos) return glob(name, pattern);
  return std::search(name.begin(), name.end(), pattern.begin(), pattern.end(), same_letter) != name.end();
}

std::vector<OpStatus> list_ops(const std::string& pattern, const Options& options) {
  const Registry registry = registry_of(options);
  std::vector<OpStatus> ops;
  for (const std::string& name : registry.names()) {
    if (!matches(name, pattern)) continue;
    const int since = registry.rules(name).front()->since;
    ops.push_back({name, since <= options.opset ? "mapped" : "later-opset", since});
  }
  return ops;
}

Explanation explain(const std::string& asked, const Options& options) {
  const Registry registry = registry_of(options);
  const auto folder = torch_folder();
  const OpCatalog& catalog = onnx_catalog();

  Explanation explanation;
  explanation.op = with_namespace(asked);
  explanation.opset = options.opset;
  const auto [name, overload] = split_overload(explanation.op);
  const std::string base = functional(registry, name);
  const auto schema = folder->schema(name, overload);
  for (const auto& one : folder->overloads(name)) explanation.schemas.push_back(one->text);
  if (schema) explanation.onnx = onnx_words_for(base, *schema, catalog);

  const auto found = registry.find(base, overload, options.opset);
  if (found.rule) {
    explanation.status = "mapped";
    explanation.since = registry.rules(found.rule->name).front()->since;
    explanation.reason = fmt::format("`{}` has a symbolic function ({}), good from opset {} on",
                                     found.rule->name, found.rule->origin, found.rule->since);
    return explanation;
  }
  if (!found.later && !find_builtins(name).empty()) {
    explanation.status = "mapped";
    explanation.since = kMinOpset;
    explanation.reason = fmt::format("`{}` is computed while the program is interpreted", name);
    return explanation;
  }
  if (!found.later && !schema) return unknown(std::move(explanation), registry);

  Advice advice = advise_unmapped(base, overload, schema.get(),
                                  {registry, catalog, options.opset, options.custom_domain});
  explanation.status = found.later ? "later-opset" : "missing";
  explanation.which = advice.which;
  explanation.since = found.later;
  explanation.reason = std::move(advice.reason);
  explanation.advice = std::move(advice.advice);
  return explanation;
}

SchemaLookup lookup_schema(const std::string& asked, const Options& options) {
  SchemaLookup result;
  result.op = with_namespace(asked);
  const auto [name, overload] = split_overload(result.op);
  const auto folder = torch_folder();
  for (const auto& schema : folder->overloads(name))
    if (overload.empty() || schema->overload == overload) result.schemas.push_back(schema->text);
  if (result.schemas.empty()) result.near = near_operators(name, registry_of(options));
  return result;
}

std::vector<OnnxOperator> lookup_onnx(const std::string& pattern) {
  std::vector<OnnxOperator> found;
  for (OnnxOperator& op : onnx_operators())
    if (matches(op.domain.empty() ? op.name : op.domain + "::" + op.name, pattern))
      found.push_back(std::move(op));
  return found;
}

const OpSignature* onnx_signature(const OnnxOperator& op) {
  return onnx_catalog().find(op.domain, op.name, op.versions.back());
}

Versions versions() { return {std::string(version()), torch_version(), onnx_version(), runtime_version()}; }

}  // namespace pt2onnx
