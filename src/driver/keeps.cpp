// --keep-module and --keep-function: names of the program, and the nodes that they become.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnosis/near_names.h"
#include "driver/user_entries.h"

namespace pt2onnx {
namespace {

constexpr std::string_view kDomain = "local";  // of functions that the user gives no name

struct Names {
  std::set<std::string> paths, classes;
};

void collect(const program::Object& object, Names& names, std::set<const program::Object*>& seen) {
  if (!seen.insert(&object).second) return;
  if (object.is_module) {
    if (!object.path.empty()) names.paths.insert(object.path);
    names.classes.insert(object.type);
  }
  for (const auto& [name, value] : object.attributes)
    if (const auto* inner = std::get_if<program::ObjectRef>(&value.data); inner && *inner)
      collect(**inner, names, seen);
}

std::string last_part(std::string_view name) { return std::string(name.substr(name.rfind('.') + 1)); }

[[noreturn]] void unknown(std::string_view option, const std::string& name, std::string_view what,
                          const std::vector<std::string>& candidates) {
  auto shown = near_names(name, candidates);
  constexpr std::size_t kShown = 8;
  const bool near = !shown.empty();
  if (!near)
    shown.assign(candidates.begin(),
                 candidates.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, candidates.size())));
  throw EntryError(
      fmt::format("{} {}: the program has no such {}{}", option, name, what,
                  shown.empty() ? std::string()
                                : fmt::format("; {} {}", near ? "near:" : "it has", fmt::join(shown, ", "))));
}

Keep parse_keep(const std::string& text, std::string_view option) {
  Keep keep;
  keep.is_function = option == "--keep-function";
  const auto equals = text.find('=');
  keep.name = text.substr(0, equals);
  keep.domain = kDomain;
  keep.op = last_part(keep.name);
  if (!keep.is_function) {
    keep.op = keep.name;
    std::ranges::replace(keep.op, '.', '_');
  }
  if (equals != std::string::npos) {
    const std::string node = text.substr(equals + 1);
    const auto colons = node.find("::");
    keep.domain = node.substr(0, colons);
    keep.op = colons == std::string::npos ? std::string() : node.substr(colons + 2);
    if (keep.domain.empty() || keep.op.empty() || keep.domain == "ai.onnx" ||
        keep.op.find(':') != std::string::npos)
      throw EntryError(fmt::format("{} {}: write NAME=domain::Op, with a domain of your own", option, text));
  }
  if (keep.name.empty()) throw EntryError(fmt::format("{} {}: write NAME or NAME=domain::Op", option, text));
  return keep;
}

}  // namespace

std::vector<Keep> keeps_of(const Options& options, const program::Program& program) {
  std::vector<Keep> keeps;
  for (const std::string& text : options.keep_modules) {
    Keep& keep = keeps.emplace_back(parse_keep(text, "--keep-module"));
    keep.bare = options.keep_bare;
    Names names;
    std::set<const program::Object*> seen;
    if (program.root) collect(*program.root, names, seen);
    const auto named = [&](const std::string& type) { return names_qualified(keep.name, type); };
    if (names.paths.contains(keep.name) || std::ranges::any_of(names.classes, named)) continue;
    unknown("--keep-module", keep.name, "submodule or class", {names.paths.begin(), names.paths.end()});
  }
  for (const std::string& text : options.keep_functions) {
    Keep& keep = keeps.emplace_back(parse_keep(text, "--keep-function"));
    keep.bare = options.keep_bare;
    std::vector<std::string> names;
    bool found = false;
    for (const auto& [name, function] : program.functions) {
      const bool method = std::ranges::any_of(program.classes,
                                              [&](const auto& c) { return name.starts_with(c.first + "."); });
      if (method) continue;
      found |= names_qualified(keep.name, name);
      names.push_back(last_part(name));
    }
    if (!found) unknown("--keep-function", keep.name, "function", names);
  }
  if (options.keep_bare && keeps.empty())
    throw EntryError(
        "--keep-bare: says how to keep what --keep-module and --keep-function name, and neither is there");
  return keeps;
}

}  // namespace pt2onnx
