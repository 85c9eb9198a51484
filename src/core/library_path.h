// What a user means by the name of a shared library.
#pragma once

#include <string>

namespace pt2onnx {

/// For dlopen, which would look a bare name up in the system's folders only.
inline std::string library_path(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

}  // namespace pt2onnx
