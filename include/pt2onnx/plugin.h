// A plugin: a shared library with symbolic functions of the user's, loaded with `--plugin libmine.so`. It needs these
// headers and libpt2onnx only, neither torch nor protobuf (examples/plugin, docs/plugins.md).
//
//   PT2ONNX_PLUGIN(plugin) {
//     plugin.add("mylib::square_plus_one", 9, square_plus_one);
//     plugin.declare("mylib", "Fancy", fancy_types);
//   }
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pt2onnx/registry.h"

namespace pt2onnx {

/// A number, a text or a list of them by its name; empty where the node has none.
using AttributeLookup = std::function<std::optional<Attribute>(std::string_view name)>;

/// The types of a node's outputs, one for each, from those of its inputs (an absent one is empty) and its attributes.
/// Where dtype or shape of an input is unknown, so may those of an output be. Throws std::invalid_argument for a node
/// that is wrong.
using InferTypes = std::function<std::vector<ValueType>(std::span<const std::optional<ValueType>> inputs,
                                                        const AttributeLookup& attribute)>;

/// An operator of a domain of the user's. Nodes of it are typed by `infer` when they are made and when the model is
/// checked.
struct OperatorDeclaration {
  std::string domain, name;
  InferTypes infer;
};

/// What a plugin brings; filled by its PT2ONNX_PLUGIN block.
class Plugin {
 public:
  struct Function {
    std::string name;  // "mylib::op" for all overloads, "aten::add.Tensor" for one
    int since = 0;     // the first opset that it is good for
    std::function<Results(Call&)> convert;
    std::optional<int> until;  // the last one
  };

  /// Wins over built-in functions. Of several for one operator the one with the highest `since` counts that is not above
  /// the target.
  void add(std::string name, int since, std::function<Results(Call&)> convert,
           std::optional<int> until = std::nullopt) {
    functions.push_back({std::move(name), since, std::move(convert), until});
  }
  void declare(std::string domain, std::string name, InferTypes infer) {
    operators.push_back({std::move(domain), std::move(name), std::move(infer)});
  }

  std::vector<Function> functions;
  std::vector<OperatorDeclaration> operators;
};

/// What a plugin was built with. The first member never moves: it tells whether the others can be read.
struct PluginInfo {
  int interface_version;
  const char* version;  // of pt2onnx
  int cxx11_abi;        // of libstdc++'s strings
  std::size_t layout;   // a sum over the sizes of what passes between plugin and program
};

inline constexpr int kPluginInterface = 1;
#define PT2ONNX_PLUGIN_VERSION "0.1"

#ifdef _GLIBCXX_USE_CXX11_ABI
inline constexpr int kCxx11Abi = _GLIBCXX_USE_CXX11_ABI;
#else
inline constexpr int kCxx11Abi = -1;
#endif

inline constexpr PluginInfo kPluginInfo{
    kPluginInterface, PT2ONNX_PLUGIN_VERSION, kCxx11Abi,
    ((((sizeof(Call) * 31 + sizeof(ValueInfo)) * 31 + sizeof(Argument)) * 31 + sizeof(program::Schema)) * 31 +
     sizeof(Plugin)) *
            31 +
        sizeof(Attributes)};

}  // namespace pt2onnx

// NOLINTBEGIN(bugprone-macro-parentheses): `plugin` is the name of a parameter
#define PT2ONNX_PLUGIN(plugin)                                                                              \
  static void pt2onnx_fill_plugin(pt2onnx::Plugin& plugin);                                                 \
  extern "C" __attribute__((visibility("default"))) const pt2onnx::PluginInfo* pt2onnx_plugin_info() {      \
    return &pt2onnx::kPluginInfo;                                                                           \
  }                                                                                                         \
  extern "C" __attribute__((visibility("default"))) void pt2onnx_plugin_register(pt2onnx::Plugin* filled) { \
    pt2onnx_fill_plugin(*filled);                                                                           \
  }                                                                                                         \
  static void pt2onnx_fill_plugin(pt2onnx::Plugin& plugin)
// NOLINTEND(bugprone-macro-parentheses)
