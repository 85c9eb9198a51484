#include "diagnosis/onnx_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pt2onnx {
namespace {

template <typename Items>
const typename Items::value_type* named(const Items& items, const std::string& name) {
  const auto it =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return it == items.end() ? nullptr : &*it;
}

std::vector<DType> without(const std::vector<DType>& a, const std::vector<DType>& b) {
  std::vector<DType> rest;
  std::copy_if(a.begin(), a.end(), std::back_inserter(rest),
               [&](DType dtype) { return std::find(b.begin(), b.end(), dtype) == b.end(); });
  return rest;
}

void compare_types(const OpParameter& before, const OpParameter& after, std::string_view kind,
                   std::vector<std::string>& changes) {
  const auto gained = without(after.dtypes, before.dtypes), lost = without(before.dtypes, after.dtypes);
  if (!gained.empty())
    changes.push_back(fmt::format("{} `{}` takes {} as well", kind, after.name, text_of(gained)));
  if (!lost.empty())
    changes.push_back(fmt::format("{} `{}` takes {} no more", kind, after.name, text_of(lost)));
}

void compare_parameters(const std::vector<OpParameter>& before, const std::vector<OpParameter>& after,
                        std::string_view kind, std::vector<std::string>& changes) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    const OpParameter* old = named(before, after[i].name);
    // The same place under another name is a new name, unless either stands elsewhere.
    if (!old && i < before.size() && !named(after, before[i].name)) {
      old = &before[i];
      changes.push_back(fmt::format("{} `{}` is called `{}`", kind, old->name, after[i].name));
    }
    if (!old) {
      changes.push_back(
          fmt::format("new {}{} `{}`", after[i].optional ? "optional " : "", kind, after[i].name));
      continue;
    }
    if (old->optional != after[i].optional)
      changes.push_back(fmt::format("{} `{}` {}", kind, after[i].name,
                                    after[i].optional ? "may be left out" : "must be given"));
    if (old->variadic != after[i].variadic)
      changes.push_back(fmt::format("{} `{}` is {}", kind, after[i].name,
                                    after[i].variadic ? "any number of values" : "one value"));
    compare_types(*old, after[i], kind, changes);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool renamed = i < after.size() && !named(before, after[i].name);
    if (!named(after, before[i].name) && !renamed)
      changes.push_back(fmt::format("{} `{}` is gone", kind, before[i].name));
  }
}

void compare_attributes(const std::vector<OpAttribute>& before, const std::vector<OpAttribute>& after,
                        std::vector<std::string>& changes) {
  for (const OpAttribute& attribute : after) {
    const OpAttribute* old = named(before, attribute.name);
    if (!old) {
      changes.push_back(fmt::format(
          "new attribute `{}` ({}{})", attribute.name, to_string(attribute.kind),
          attribute.default_text.empty() ? "" : fmt::format(", default {}", attribute.default_text)));
      continue;
    }
    if (old->kind != attribute.kind)
      changes.push_back(fmt::format("attribute `{}` is {} instead of {}", attribute.name,
                                    to_string(attribute.kind), to_string(old->kind)));
    if (old->required != attribute.required)
      changes.push_back(fmt::format("attribute `{}` {}", attribute.name,
                                    attribute.required ? "must be given" : "may be left out"));
    if (old->default_text != attribute.default_text)
      changes.push_back(fmt::format("the default of `{}` is {} instead of {}", attribute.name,
                                    attribute.default_text.empty() ? "open" : attribute.default_text,
                                    old->default_text.empty() ? "open" : old->default_text));
  }
  for (const OpAttribute& attribute : before)
    if (!named(after, attribute.name))
      changes.push_back(fmt::format("attribute `{}` is gone", attribute.name));
}

}  // namespace

std::string text_of(const std::vector<DType>& dtypes) {
  std::string text;
  for (const DType dtype : dtypes) text += (text.empty() ? "" : ", ") + std::string(to_string(dtype));
  return text;
}

std::string_view to_string(OpAttribute::Kind kind) {
  switch (kind) {
    case OpAttribute::Kind::Int: return "int";
    case OpAttribute::Kind::Float: return "float";
    case OpAttribute::Kind::String: return "string";
    case OpAttribute::Kind::Ints: return "ints";
    case OpAttribute::Kind::Floats: return "floats";
    case OpAttribute::Kind::Strings: return "strings";
    case OpAttribute::Kind::Tensor: return "tensor";
    case OpAttribute::Kind::Graph: return "graph";
    case OpAttribute::Kind::Other: return "other";
  }
  return "";
}

std::vector<std::string> changes_between(const OpSignature& before, const OpSignature& after) {
  std::vector<std::string> changes;
  compare_parameters(before.inputs, after.inputs, "input", changes);
  compare_attributes(before.attributes, after.attributes, changes);
  compare_parameters(before.outputs, after.outputs, "output", changes);
  // An attribute that comes back as an input is the commonest change of all: say so.
  for (const OpAttribute& attribute : before.attributes) {
    if (named(after.attributes, attribute.name) || !named(after.inputs, attribute.name)) continue;
    std::erase_if(changes, [&](const std::string& change) {
      return change.find("`" + attribute.name + "`") != std::string::npos;
    });
    changes.push_back(fmt::format("`{}` is an input instead of an attribute", attribute.name));
  }
  if (changes.empty())
    changes.emplace_back("no change in inputs, attributes and the types that pt2onnx knows");
  return changes;
}

}  // namespace pt2onnx
