#include "interpreter/operator_kind.h"

#include <algorithm>

namespace pt2onnx {

using program::Schema;
using program::SchemaArgument;

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
  const auto mentions = [](const std::vector<SchemaArgument>& arguments) {
    return std::any_of(arguments.begin(), arguments.end(), [](const SchemaArgument& a) {
      return a.type && a.type->text.find("Tensor") != std::string::npos;
    });
  };
  return schema.is_variadic || mentions(schema.arguments) || mentions(schema.returns);
}

bool leaves_unset(std::string_view name) {
  return name.starts_with("aten::empty") || name.starts_with("aten::new_empty");
}

}  // namespace pt2onnx
