// Loading a plugin.
#pragma once

#include <string>

#include "pt2onnx/plugin.h"

namespace pt2onnx {

/// What the library at `path` brings, its functions guarded: whatever they throw or forget becomes a Rejection. The library
/// stays loaded. Throws EntryError: no such file, no library, no plugin, another version, an error while registering.
Plugin load_plugin(const std::string& path);

}  // namespace pt2onnx
