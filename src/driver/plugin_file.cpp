#include "driver/plugin_file.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/library_path.h"
#include "driver/user_entries.h"
#include "pt2onnx/convert.h"

namespace pt2onnx {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw EntryError(fmt::format("--plugin {}: {}", path, why));
}

void* open_library(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) fail(path, "no such file");
  // A bare name would be looked for in the system's folders only.
  const std::string file = library_path(path);
  // Never closed: the dictionary refers to its code for as long as the process lives.
  if (void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const reason = dlerror();
  fail(path, fmt::format("does not load as a shared library of this pt2onnx ({}): {}; build it with "
                         "find_package(pt2onnx) against the pt2onnx that loads it",
                         version(), reason ? reason : "no reason given"));
}

template <typename Function>
Function* find_function(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

void check_info(const std::string& path, const PluginInfo& info) {
  const PluginInfo& own = kPluginInfo;
  constexpr const char* kRemedy = "build it anew against the pt2onnx that loads it";
  if (info.interface_version != own.interface_version)
    fail(path, fmt::format("was built for version {} of the plugin interface, this pt2onnx ({}) has {}; {}",
                           info.interface_version, version(), own.interface_version, kRemedy));
  if (std::string_view(info.version) != own.version)
    fail(path, fmt::format("was built for pt2onnx {}, this is {}; {}", info.version, version(), kRemedy));
  if (info.cxx11_abi != own.cxx11_abi)
    fail(path, fmt::format("was built with _GLIBCXX_USE_CXX11_ABI={}, pt2onnx with {}; {}", info.cxx11_abi,
                           own.cxx11_abi, "compile it with the same setting"));
  if (info.layout != own.layout)
    fail(path, fmt::format("was built with other headers than this pt2onnx ({}); {}", version(), kRemedy));
}

/// What the function throws besides a Rejection, or leaves out, is the plugin's mistake: it must not look like one of ours.
std::function<Results(Call&)> guarded(std::function<Results(Call&)> convert, const std::string& path) {
  return [convert = std::move(convert), path](Call& call) {
    const auto blame = [&](const std::string& what) {
      return Rejection(fmt::format("the function of the plugin {} failed: {}", path, what));
    };
    try {
      Results results = convert(call);
      const auto& returns = call.schema().returns;
      if (results.values.size() != returns.size())
        throw blame(
            fmt::format("it gives {} results, the operator has {}", results.values.size(), returns.size()));
      for (std::size_t i = 0; i < results.values.size(); ++i)
        if (const auto* value = std::get_if<Value>(&results.values[i].data);
            value && !*value && call.is_used(i))
          throw blame(fmt::format("its result {} is an empty handle", i));
      return results;
    } catch (const Rejection&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      throw blame(e.what());
    } catch (...) {
      throw blame("it threw something that is no std::exception");
    }
  };
}

void check_functions(const std::string& path, const Plugin& plugin) {
  if (plugin.functions.empty() && plugin.operators.empty()) fail(path, "registers nothing");
  for (const Plugin::Function& function : plugin.functions) {
    const auto colons = function.name.find("::");
    if (colons == std::string::npos || colons == 0 || colons + 2 == function.name.size())
      fail(path, fmt::format("`{}` is no name of an operator; write it as namespace::name", function.name));
    if (!function.convert) fail(path, fmt::format("the function for `{}` is empty", function.name));
    if (function.since < 1 || function.since > newest_opset() ||
        (function.until && *function.until < function.since))
      fail(path, fmt::format("`{}`: opsets {} to {} do not exist; the newest one is {}", function.name,
                             function.since, function.until.value_or(function.since), newest_opset()));
  }
  for (const OperatorDeclaration& op : plugin.operators) {
    if (op.domain.empty() || op.domain.starts_with("ai.onnx"))
      fail(path, fmt::format("declares `{}` in ONNX's own domain; choose another one", op.name));
    if (op.name.empty() || !op.infer)
      fail(path, fmt::format("declares `{}::{}` without a name or without inference", op.domain, op.name));
  }
}

}  // namespace

Plugin load_plugin(const std::string& path) {
  void* const handle = open_library(path);
  const auto info = find_function<const PluginInfo*()>(handle, "pt2onnx_plugin_info");
  const auto fill = find_function<void(Plugin*)>(handle, "pt2onnx_plugin_register");
  if (!info || !fill)
    fail(path,
         "is a shared library but no plugin: it has no PT2ONNX_PLUGIN(plugin) { ... } block "
         "(pt2onnx/plugin.h)");
  check_info(path, *info());

  Plugin plugin;
  std::string error;
  try {
    fill(&plugin);
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "something that is no std::exception";
  }
  if (!error.empty()) fail(path, "threw an error while registering: " + error);
  check_functions(path, plugin);
  for (Plugin::Function& function : plugin.functions)
    function.convert = guarded(std::move(function.convert), path);
  return plugin;
}

}  // namespace pt2onnx
