#include "interpreter/functional_form.h"

#include <algorithm>

#include "interpreter/operator_kind.h"

namespace pt2onnx {

using program::Schema;
using program::SchemaArgument;

namespace {

/// The first `count` arguments of an out= overload are those of the other, which can do with them.
bool takes_the_same(const Schema& with_out, const Schema& other, std::size_t count) {
  if (other.arguments.size() < count) return false;
  for (std::size_t i = 0; i < other.arguments.size(); ++i) {
    const SchemaArgument& theirs = other.arguments[i];
    if ((theirs.alias && theirs.alias->is_write) || (i >= count && !theirs.default_value)) return false;
    if (i < count &&
        (theirs.name != with_out.arguments[i].name || theirs.type->text != with_out.arguments[i].type->text))
      return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const Schema> functional_form(const Schema& schema, Folder& folder) {
  const std::string name = functional_name(schema);
  const auto outs = static_cast<std::size_t>(
      std::ranges::count_if(schema.arguments, [](const SchemaArgument& a) { return a.is_out; }));
  if (name == schema.name && outs == 0) return nullptr;
  const std::size_t count = schema.arguments.size() - outs;
  if (outs == 0 && folder.exists(name, schema.overload)) {
    auto same = folder.schema(name, schema.overload);
    if (same && same->arguments.size() == count) return same;
  }
  if (outs != 0)
    for (const auto& other : folder.overloads(name))
      if (takes_the_same(schema, *other, count)) return other;
  // Some have no functional form: theirs is named as it would be.
  auto copy = std::make_shared<Schema>(schema);
  copy->name = name;
  std::erase_if(copy->arguments, [](const SchemaArgument& a) { return a.is_out; });
  return copy;
}

}  // namespace pt2onnx
