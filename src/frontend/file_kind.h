// Tells what a file is before torch sees it. Neutral: no torch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/zip_file.h"

namespace pt2onnx::frontend {

/// A TorchScript archive, checked as far as its directory, code and pickles go.
struct Archive {
  std::string path;
  std::size_t bytes = 0;
  std::string code;  // all of code/*.py, and the pickles, one after the other

  /// The content of an entry by its name below the archive's top folder ("code/__torch__.py"), if it is there.
  std::optional<std::string> read(std::string_view name) const;
  /// Compares the weights that `concerns` picks with their checksums. Throws LoadError.
  void check_weights(const std::function<bool(const ZipEntry&)>& concerns) const;

  std::shared_ptr<const MappedFile> file;
  std::shared_ptr<const ZipDirectory> directory;
  std::string prefix;  // the top folder: "resnet18/"
  std::vector<const ZipEntry*> weights;
};

/// Throws LoadError when there is no readable regular file.
std::shared_ptr<const MappedFile> map_file(const std::string& path);

/// Throws LoadError, which says what the file is and what to do, when it is no TorchScript archive.
Archive open_torchscript(const std::string& path);

}  // namespace pt2onnx::frontend
