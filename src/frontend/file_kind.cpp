#include "frontend/file_kind.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "frontend/foreign_files.h"
#include "frontend/frontend.h"
#include "frontend/pickle_scan.h"

namespace pt2onnx::frontend {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw LoadError("`" + path + "` is " + what);
}

[[noreturn]] void refuse_damaged(const std::string& path, const ZipError& e) {
  throw LoadError("`" + path + "` is a damaged zip archive (" + e.what() +
                  "): copy or download the file again");
}

/// The entries of an archive without the top folder that torch puts them in ("resnet18/code/...").
class Contents {
 public:
  explicit Contents(const ZipDirectory& zip) : zip_(zip) {
    if (zip.entries().empty()) return;
    const std::string& first = zip.entries().front().name;
    prefix_ = first.substr(0, first.find('/') == std::string::npos ? 0 : first.find('/') + 1);
    for (const ZipEntry& entry : zip.entries())
      if (!entry.name.starts_with(prefix_)) prefix_.clear();
  }

  std::string_view inner(const ZipEntry& entry) const {
    return std::string_view(entry.name).substr(prefix_.size());
  }
  const ZipEntry* find(std::string_view name) const { return zip_.find(prefix_ + std::string(name)); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool has_folder(std::string_view name) const {
    return std::any_of(zip_.entries().begin(), zip_.entries().end(),
                       [&](const ZipEntry& entry) { return inner(entry).starts_with(name); });
  }
  bool all_end_with(std::string_view suffix) const {
    return !zip_.entries().empty() &&
           std::all_of(zip_.entries().begin(), zip_.entries().end(),
                       [&](const ZipEntry& entry) { return entry.name.ends_with(suffix); });
  }
  const ZipDirectory& zip() const { return zip_; }
  const std::string& prefix() const { return prefix_; }

 private:
  const ZipDirectory& zip_;
  std::string prefix_;
};

bool is_torchscript(const Contents& zip) {
  return zip.has_folder("code/") && zip.has("constants.pkl") && zip.has("data.pkl");
}

/// Whether TorchScript code is in it, wherever: then the archive is one that lost a part.
bool was_torchscript(const ZipDirectory& zip) {
  const auto any = [&](auto holds) {
    return std::any_of(zip.entries().begin(), zip.entries().end(),
                       [&](const ZipEntry& e) { return holds(e.name); });
  };
  return any([](const std::string& name) { return name.find("code/__torch__") != std::string::npos; }) ||
         (any([](const std::string& name) { return name.ends_with("constants.pkl"); }) &&
          any([](const std::string& name) { return name.ends_with("data.pkl"); }));
}

bool is_exported_program(const Contents& zip) {
  if (zip.has("serialized_exported_program.json")) return true;  // torch 2.1 to 2.7
  return zip.has("archive_format") && (zip.has_folder("models/") || zip.has_folder("data/"));
}

/// What a zip archive that is no TorchScript is.
std::string describe_zip(const Contents& zip) {
  if (is_exported_program(zip))
    return "a `.pt2` archive of `torch.export`, not TorchScript: in Python, "
           "`torch.onnx.export(torch.export.load(...), ...)` "
           "converts it; or save the module with `torch.jit.trace(module.eval(), "
           "example).save(\"model.pt\")`";
  if (zip.has("model.json") && zip.has_folder("tensors/"))
    return "a TorchScript file of PyTorch 1.0 to 1.2, which no libtorch of today reads: load it with PyTorch "
           "1.3 to 1.5 and "
           "save it anew";
  if (zip.has_folder(".data/extern_modules"))
    return "a `torch.package` archive (Python code): load the module with `torch.package.PackageImporter`, "
           "then "
           "`torch.jit.trace(module.eval(), example).save(\"model.pt\")`";
  if (zip.has("bytecode.pkl"))
    return "a module for the mobile interpreter (`_save_for_lite_interpreter`) without its TorchScript code: "
           "save the module "
           "with `.save(\"model.pt\")` instead";
  if (const ZipEntry* pickle = zip.find("data.pkl"); pickle && zip.has("version"))
    return describe_saved_object(scan_pickle(zip.zip().read(*pickle)));
  if (zip.zip().entries().empty()) return "an empty zip archive: save the model again";
  if (zip.all_end_with(".npy"))
    return "a NumPy archive (`.npz`) of arrays, not a model: arrays are given as example values with "
           "--input-data";
  if (zip.has("model.weights.h5") || zip.has("config.json"))
    return "a Keras model (`.keras`), not a PyTorch model: export it with `tf2onnx` from its own framework";
  if (zip.has("[Content_Types].xml") || zip.has("mimetype"))
    return "an office document, not a model: check the path";
  if (zip.has("META-INF/MANIFEST.MF")) return "a Java archive, not a model: check the path";
  return "a zip archive of something else (it begins with `" + zip.zip().entries().front().name +
         "`), not TorchScript: if the model lies inside, unpack it first";
}

bool is_weight(std::string_view inner) {
  return (inner.starts_with("data/") || inner.starts_with("constants/") ||
          inner.starts_with("xl_model_weights/")) &&
         !inner.ends_with(".pkl");
}

}  // namespace

std::shared_ptr<const MappedFile> map_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
      throw LoadError("`" + path + "` cannot be read: " + error.message());
    throw LoadError("`" + path + "` does not exist");
  }
  if (fs::is_directory(status))
    refuse(path, fs::exists(fs::path(path) / "saved_model.pb", error)
                     ? "a TensorFlow SavedModel: export it with `tf2onnx` from its own framework"
                     : "a directory, not a file: name the TorchScript file itself");
  if (!fs::is_regular_file(status))
    refuse(path, "no regular file (a device or pipe): copy the model into a file");
  try {
    return std::make_shared<const MappedFile>(path);
  } catch (const std::system_error& e) {
    throw LoadError("`" + path + "` cannot be read: " + e.code().message());
  }
}

Archive open_torchscript(const std::string& path) {
  Archive archive;
  archive.path = path;
  archive.file = map_file(path);
  const auto bytes = archive.file->bytes();
  archive.bytes = bytes.size();
  const bool may_be_zip = bytes.size() >= 4 && bytes[0] == 'P' && bytes[1] == 'K';
  try {
    archive.directory = std::make_shared<const ZipDirectory>(*archive.file);
  } catch (const ZipError& e) {
    if (may_be_zip && !std::string_view(e.what()).ends_with("missing")) refuse_damaged(path, e);
    refuse(path, describe_foreign_file(bytes));
  }
  if (!may_be_zip) refuse(path, describe_foreign_file(bytes));
  try {
    const Contents contents(*archive.directory);
    if (!is_torchscript(contents)) {
      if (was_torchscript(*archive.directory)) throw ZipError("parts of a TorchScript archive are missing");
      refuse(path, describe_zip(contents));
    }
    archive.prefix = contents.prefix();
    for (const ZipEntry& entry : archive.directory->entries()) {
      const std::string_view inner = contents.inner(entry);
      if (is_weight(inner)) {
        archive.weights.push_back(&entry);
      } else if (inner.ends_with(".py") || inner.ends_with(".pkl")) {
        archive.code += archive.directory->read(entry);
        archive.code += '\n';
      } else {
        archive.directory->check(entry);
      }
    }
  } catch (const ZipError& e) {
    refuse_damaged(path, e);
  }
  return archive;
}

std::optional<std::string> Archive::read(std::string_view name) const {
  const ZipEntry* entry = directory->find(prefix + std::string(name));
  if (!entry) return std::nullopt;
  return directory->read(*entry);
}

void Archive::check_weights(const std::function<bool(const ZipEntry&)>& concerns) const {
  try {
    for (const ZipEntry* entry : weights)
      if (concerns(*entry)) directory->check(*entry);
  } catch (const ZipError& e) {
    refuse_damaged(path, e);
  }
}

}  // namespace pt2onnx::frontend
