#include "interpreter/operator_kind.h"

#include <algorithm>

namespace pt2onnx {

using program::Schema;
using program::SchemaArgument;

namespace {

bool mention_tensors(const std::vector<SchemaArgument>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const SchemaArgument& a) {
    return a.type && a.type->text.find("Tensor") != std::string::npos;
  });
}

}  // namespace

bool writes_arguments(const Schema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const SchemaArgument& a) { return a.alias && a.alias->is_write; });
}

std::string functional_name(const Schema& schema) {
  const bool in_place =
      writes_arguments(schema) && schema.name.ends_with('_') && !schema.name.ends_with("__");
  return in_place ? schema.name.substr(0, schema.name.size() - 1) : schema.name;
}

bool takes_tensors(const Schema& schema) {
  return schema.is_variadic || mention_tensors(schema.arguments) || mention_tensors(schema.returns);
}

bool gives_tensors(const Schema& schema) { return schema.is_variadic || mention_tensors(schema.returns); }

bool leaves_unset(std::string_view name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty");
}

}  // namespace pt2onnx
