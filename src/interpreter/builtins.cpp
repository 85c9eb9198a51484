// The built-in operators by name. Several families may know a name (`aten::add`: lists, numbers, sizes): each is asked.
#include "interpreter/machine.h"

namespace pt2onnx {

std::span<const Builtin> find_builtins(const std::string& name) {
  static const auto kAll = [] {
    std::unordered_map<std::string, std::vector<Builtin>> all;
    for (const auto table :
         {dynamic_list_builtins(), object_builtins(), container_builtins(), scalar_builtins(),
          tensor_builtins(), text_builtins(), branch_builtins(), loop_builtins(), control_builtins()})
      for (const BuiltinEntry& entry : table) all[std::string(entry.name)].push_back(entry.run);
    return all;
  }();
  const auto it = kAll.find(name);
  return it == kAll.end() ? std::span<const Builtin>() : std::span<const Builtin>(it->second);
}

}  // namespace pt2onnx
