// What the user adds: entries of the dictionary (mapping files, plugins), and what is to be kept whole.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/plugin.h"
#include "pt2onnx/registry.h"
#include "registry/folder.h"
#include "registry/mapping.h"

namespace pt2onnx {

/// What is wrong with an entry of the user's; what() is the whole sentence, with its place.
struct EntryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What --keep-module and --keep-function ask for; throws EntryError for names that the program does not have.
std::vector<Keep> keeps_of(const Options& options, const program::Program& program);

class UserEntries {
 public:
  UserEntries() = default;
  /// Reads the files; throws EntryError.
  explicit UserEntries(const Options& options);

  /// The dictionary that the options ask for.
  Registry registry() const;

  /// Holds the entries against the schemas of their operators, as far as libtorch has them; throws EntryError.
  void check_schemas(Folder& folder) const;

  /// Whether the program has used any.
  bool any_used() const;

  /// A sentence for each entry that no operator has used so far, although this opset would have allowed it.
  std::vector<std::string> unused(int opset) const;

 private:
  struct Entry {
    Mapping mapping;
    int uses = 0;
  };
  struct PluginEntry {
    Plugin::Function function;
    std::string file;
    int uses = 0;
  };
  void read_maps(const std::string& path);
  void read_plugin(const std::string& path);
  bool is_used(const Mapping& mapping) const;

  const Options* options_ = nullptr;
  std::vector<std::shared_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<PluginEntry>> plugin_entries_;
};

}  // namespace pt2onnx
