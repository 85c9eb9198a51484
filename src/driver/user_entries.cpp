#include "driver/user_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "diagnosis/advice.h"
#include "diagnosis/near_names.h"
#include "driver/plugin_file.h"
#include "emitter/emitter.h"
#include "emitter/mapping_file.h"

namespace pt2onnx {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{16} << 20;

std::string read_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw EntryError(fmt::format("--map {}: no such file", path));
  if (std::filesystem::file_size(path, error) > kMaxFileBytes)
    throw EntryError(fmt::format("--map {}: too large for a mapping file", path));
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw EntryError(fmt::format("--map {}: cannot be read", path));
  return text;
}

bool is_out_form(const program::Schema& schema) {
  return std::ranges::any_of(schema.arguments, [](const auto& argument) { return argument.is_out; });
}

/// Why the mapping fits no overload that it is for; empty when it fits one.
std::string misfit(const Mapping& mapping,
                   const std::vector<std::shared_ptr<const program::Schema>>& overloads) {
  std::string first;
  for (const auto& schema : overloads) {
    if (!mapping.overload.empty() && schema->overload != mapping.overload) continue;
    std::string why;
    if (bind_mapping(mapping, *schema, why)) return {};
    if (first.empty() && !is_out_form(*schema))
      first = fmt::format("the function does not fit `{}`: {}", schema->text, why);
  }
  if (!first.empty()) return first;
  std::vector<std::string> names;
  for (const auto& schema : overloads) names.push_back(schema->overload.empty() ? "\"\"" : schema->overload);
  return fmt::format("`{}` has no overload `{}`; it has {}", mapping.op, mapping.overload,
                     fmt::join(names, ", "));
}

}  // namespace

UserEntries::UserEntries(const Options& options) : options_(&options) {
  for (const std::string& path : options.plugins) read_plugin(path);
  for (const std::string& path : options.maps) read_maps(path);
}

void UserEntries::read_plugin(const std::string& path) {
  Plugin plugin = load_plugin(path);
  for (OperatorDeclaration& op : plugin.operators) declare_operator(std::move(op));
  for (Plugin::Function& function : plugin.functions)
    plugin_entries_.push_back(std::make_shared<PluginEntry>(PluginEntry{std::move(function), path}));
}

void UserEntries::read_maps(const std::string& path) {
  const std::string text = read_text(path);
  try {
    for (Mapping& mapping : parse_mappings(text, path)) {
      check_mapping(mapping, onnx_catalog());
      entries_.push_back(std::make_shared<Entry>(Entry{std::move(mapping)}));
    }
  } catch (const MappingError& e) {
    throw EntryError(e.what());
  }
}

Registry UserEntries::registry() const {
  Registry registry = options_ && options_->registry ? *options_->registry : builtin_registry();
  if (!options_) return registry;
  for (const std::string& name : options_->without) registry.remove(name);
  for (const auto& entry : plugin_entries_) {
    Rule rule;
    rule.name = entry->function.name;
    rule.since = entry->function.since;
    rule.until = entry->function.until;
    rule.origin = entry->file;
    rule.convert = [entry](Call& call) {
      ++entry->uses;
      return entry->function.convert(call);
    };
    registry.add(std::move(rule));
  }
  for (const auto& entry : entries_) {
    const Mapping& mapping = entry->mapping;
    Rule rule;
    rule.name = mapping.name();
    rule.since = mapping.since;
    rule.until = mapping.until;
    rule.origin = mapping.place.file;
    rule.convert = [entry, keep = options_->keep_mapped](Call& call) {
      ++entry->uses;
      return apply_mapping(entry->mapping, call, keep);
    };
    registry.add(std::move(rule));
  }
  return registry;
}

void UserEntries::check_schemas(Folder& folder) const {
  for (const auto& entry : entries_) {
    const Mapping& mapping = entry->mapping;
    const auto overloads = folder.overloads(mapping.op);
    std::string why;
    if (!overloads.empty())
      why = misfit(mapping, overloads);
    else if (is_torch_namespace(mapping.op.substr(0, mapping.op.find("::"))))
      why = fmt::format("libtorch has no operator `{}`", mapping.op);
    if (!why.empty()) throw EntryError(fmt::format("{}: {}", mapping.place.str(), why));
  }
  for (const auto& entry : plugin_entries_) {
    const std::string name = entry->function.name.substr(0, entry->function.name.find('.'));
    if (is_torch_namespace(name.substr(0, name.find("::"))) && folder.overloads(name).empty())
      throw EntryError(fmt::format("--plugin {}: libtorch has no operator `{}`; `pt2onnx ops` lists them",
                                   entry->file, name));
  }
}

bool UserEntries::any_used() const {
  return std::ranges::any_of(entries_, [](const auto& entry) { return entry->uses > 0; });
}

/// Whether an operator has used this mapping or another one for the same.
bool UserEntries::is_used(const Mapping& mapping) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) {
    const bool same =
        mapping.overload.empty() ? entry->mapping.op == mapping.op : entry->mapping.name() == mapping.name();
    return same && entry->uses > 0;
  });
}

std::vector<std::string> UserEntries::unused(int opset) const {
  std::vector<std::string> sentences;
  std::vector<std::string> told;
  for (const auto& entry : entries_) {
    const Mapping& mapping = entry->mapping;
    if (is_used(mapping)) continue;
    const bool fits = mapping.since <= opset && (!mapping.until || opset <= *mapping.until);
    if (std::ranges::find(told, mapping.name()) != told.end()) continue;
    told.push_back(mapping.name());
    sentences.push_back(
        fits
            ? fmt::format(
                  "{}: the mapping of `{}` was not used: the program calls no such operator with values that "
                  "are computed at run time",
                  mapping.place.str(), mapping.name())
            : fmt::format("{}: the mapping of `{}` was not used: it is for opset {}{}, the target is {}",
                          mapping.place.str(), mapping.name(), mapping.since,
                          mapping.until ? fmt::format(" to {}", *mapping.until) : std::string(" on"), opset));
  }
  std::vector<std::string> names;  // of the plugin at hand, none of which was used
  for (std::size_t i = 0; i < plugin_entries_.size(); ++i) {
    const PluginEntry& entry = *plugin_entries_[i];
    names.push_back(entry.function.name);
    if (i + 1 < plugin_entries_.size() && plugin_entries_[i + 1]->file == entry.file) continue;
    const bool used = std::ranges::any_of(
        plugin_entries_, [&](const auto& other) { return other->file == entry.file && other->uses > 0; });
    if (!used)
      sentences.push_back(
          fmt::format("--plugin {}: none of its functions was used ({}): the program calls no such operator "
                      "with values that "
                      "are computed at run time, or they are for another opset than {}",
                      entry.file, fmt::join(names, ", "), opset));
    names.clear();
  }
  return sentences;
}

}  // namespace pt2onnx
