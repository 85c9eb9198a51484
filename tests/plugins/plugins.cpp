// One source, a plugin for each mistake (PLUGIN_KIND); built by tests/CMakeLists.txt, loaded by tests/cli/plugin_test.cpp.
#include "pt2onnx/plugin.h"

#include <stdexcept>

#define GOOD 0
#define NO_ENTRY 1
#define OTHER_INTERFACE 2
#define OTHER_VERSION 3
#define OTHER_LAYOUT 4
#define THROWS 5
#define EMPTY 6
#define NO_NAMESPACE 7
#define UNKNOWN_OP 8
#define FAILS_LATER 9

#if PLUGIN_KIND == OTHER_INTERFACE || PLUGIN_KIND == OTHER_VERSION || PLUGIN_KIND == OTHER_LAYOUT
extern "C" const pt2onnx::PluginInfo* pt2onnx_plugin_info() {
  static pt2onnx::PluginInfo info = pt2onnx::kPluginInfo;
  if (PLUGIN_KIND == OTHER_INTERFACE) info.interface_version += 1;
  if (PLUGIN_KIND == OTHER_VERSION) info.version = "9.9";
  if (PLUGIN_KIND == OTHER_LAYOUT) info.layout += 1;
  return &info;
}
extern "C" void pt2onnx_plugin_register(pt2onnx::Plugin* /*plugin*/) {
  throw std::logic_error("must not be called");
}
#elif PLUGIN_KIND != NO_ENTRY

namespace {

using namespace pt2onnx;

[[maybe_unused]] Results own_erf(Call& c) {
#if PLUGIN_KIND == FAILS_LATER
  throw std::runtime_error("out of ideas for " + std::string(c.name()));
#else
  return c.op("Erf", {c.tensor("self")});
#endif
}

[[maybe_unused]] Results no_results(Call& /*c*/) { return Results(std::vector<Argument>{}); }

}  // namespace

PT2ONNX_PLUGIN(plugin) {
#if PLUGIN_KIND == THROWS
  throw std::runtime_error("no licence");
#elif PLUGIN_KIND == NO_NAMESPACE
  plugin.add("erf", 9, own_erf);
#elif PLUGIN_KIND == UNKNOWN_OP
  plugin.add("aten::erff", 9, own_erf);
#elif PLUGIN_KIND == EMPTY
  (void)plugin;
#else
  plugin.add("aten::erf", 9, own_erf);
  plugin.add("aten::erfinv", 9, no_results);
#endif
}
#endif
