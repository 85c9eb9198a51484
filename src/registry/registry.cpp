#include "pt2onnx/registry.h"

#include <algorithm>

namespace pt2onnx {
namespace {

constexpr std::string_view kBuiltIn = "built-in";

/// The rule that counts at `opset`: of the last source (file) that covers it, the one with the highest `since`.
const Rule* winner(const std::vector<Rule>& rules, int opset) {
  const Rule* best = nullptr;
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    if (rule->since > opset || (rule->until && *rule->until < opset)) continue;
    if (best && rule->origin != best->origin) break;
    if (!best || rule->since > best->since) best = &*rule;
  }
  return best;
}

}  // namespace

void Registry::add(std::span<const Entry> table, std::string origin) {
  for (const Entry& entry : table)
    add(Rule{std::string(entry.name), entry.since, entry.convert, origin, entry.on_complex});
}

void Registry::add(Rule rule) { rules_[rule.name].push_back(std::move(rule)); }

void Registry::add(Form form, std::span<const Entry> table) {
  for (const Entry& entry : table)
    add(form,
        Rule{std::string(entry.name), entry.since, entry.convert, std::string(kBuiltIn), takes_complex});
}

void Registry::add(Form form, Rule rule) { forms_[form][rule.name].push_back(std::move(rule)); }

void Registry::remove(std::string_view name) {
  const auto named = [&](const auto& item) {
    const std::string& key = item.first;
    return key == name || (key.starts_with(name) && key[name.size()] == '.');
  };
  std::erase_if(rules_, named);
  for (auto& [form, rules] : forms_) std::erase_if(rules, named);
}

Registry::Found Registry::find(std::string_view name, std::string_view overload, int opset) const {
  return find(rules_, name, overload, opset);
}

const Rule* Registry::find(Form form, std::string_view name, std::string_view overload, int opset) const {
  const auto forms = forms_.find(form);
  if (forms == forms_.end()) return nullptr;
  // Who replaces an operator replaces all of its forms.
  if (const Rule* rule = find(name, overload, opset).rule; rule && rule->origin != kBuiltIn) return nullptr;
  return find(forms->second, name, overload, opset).rule;
}

Registry::Found Registry::find(const Rules& rules, std::string_view name, std::string_view overload,
                               int opset) {
  const auto all = rules.find(name);
  const auto one =
      overload.empty() ? rules.end() : rules.find(std::string(name) + "." + std::string(overload));

  Found found;
  if (one != rules.end()) found.rule = winner(one->second, opset);
  if (all != rules.end()) {
    // The row of the overload is the more exact one, unless the user replaced the operator as a whole.
    const Rule* general = winner(all->second, opset);
    if (!found.rule || (general && general->origin != kBuiltIn && found.rule->origin == kBuiltIn))
      found.rule = general;
  }
  if (found.rule) return found;
  for (const auto& it : {all, one}) {
    if (it == rules.end()) continue;
    for (const Rule& rule : it->second)
      if (rule.since > opset && (!found.later || rule.since < *found.later)) found.later = rule.since;
  }
  return found;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  names.reserve(rules_.size());
  for (const auto& [name, rules] : rules_) names.push_back(name);
  return names;
}

std::vector<const Rule*> Registry::rules(Form form) const {
  std::vector<const Rule*> found;
  if (const auto forms = forms_.find(form); forms != forms_.end())
    for (const auto& [name, rules] : forms->second)
      for (const Rule& rule : rules) found.push_back(&rule);
  return found;
}

std::vector<const Rule*> Registry::rules(std::string_view name) const {
  std::vector<const Rule*> found;
  if (const auto it = rules_.find(name); it != rules_.end())
    for (const Rule& rule : it->second) found.push_back(&rule);
  std::stable_sort(found.begin(), found.end(),
                   [](const Rule* a, const Rule* b) { return a->since < b->since; });
  return found;
}

}  // namespace pt2onnx
