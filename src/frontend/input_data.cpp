// Example values from files (--input-data).
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <system_error>

#include "frontend/file_kind.h"
#include "frontend/frontend.h"
#include "frontend/npy.h"
#include "frontend/values.h"

namespace pt2onnx {

using program::Literal;

namespace {

using NamedValues = std::vector<std::pair<std::string, Literal>>;

constexpr std::string_view kArraySuffix = ".npy";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw LoadError("`" + path + "` cannot be used as example values: " + why);
}

NamedValues read_arrays(const frontend::ZipDirectory& zip) {
  NamedValues values;
  for (const frontend::ZipEntry& entry : zip.entries()) {
    const std::string name = entry.name.substr(0, entry.name.size() - kArraySuffix.size());
    try {
      values.emplace_back(name, Literal{frontend::read_npy(zip.read(entry))});
    } catch (const frontend::NpyError& e) {
      throw frontend::NpyError("array `" + name + "`: " + e.what());
    }
  }
  return values;
}

std::string positional(std::size_t index) { return "in_" + std::to_string(index); }

/// A dict gives its names, a tuple or list its positions; anything else is the only input.
NamedValues by_name(const Literal& value) {
  NamedValues values;
  if (const auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&value.data)) {
    for (const auto& [key, item] : (*dict)->items) {
      const auto* name = std::get_if<std::string>(&key.data);
      values.emplace_back(name ? *name : positional(values.size()), item);
    }
    return values;
  }
  if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&value.data)) {
    for (const Literal& item : (*tuple)->items) values.emplace_back(positional(values.size()), item);
    return values;
  }
  if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&value.data)) {
    for (const Literal& item : (*list)->items) values.emplace_back(positional(values.size()), item);
    return values;
  }
  values.emplace_back(positional(0), value);
  return values;
}

NamedValues read_pickled(std::span<const unsigned char> bytes) {
  const at::IValue value = torch::jit::pickle_load({bytes.begin(), bytes.end()});
  frontend::TypeTable types;
  return by_name(frontend::LiteralReader(types).read(value));
}

}  // namespace

NamedValues read_input_data(const std::string& path) {
  const auto file = frontend::map_file(path);
  const auto bytes = file->bytes();
  try {
    if (bytes.size() > 1 && bytes[0] == 0x93 && bytes[1] == 'N')
      return {{positional(0), Literal{frontend::read_npy({bytes.begin(), bytes.end()})}}};
    const frontend::ZipDirectory zip(*file);
    const auto is_array = [](const frontend::ZipEntry& entry) { return entry.name.ends_with(kArraySuffix); };
    if (std::all_of(zip.entries().begin(), zip.entries().end(), is_array)) return read_arrays(zip);
    for (const frontend::ZipEntry& entry : zip.entries()) zip.check(entry);
    return read_pickled(bytes);
  } catch (const frontend::ZipError& e) {
    refuse(path, std::string("it is neither an `.npz` nor a `.pt` of `torch.save` (") + e.what() + ")");
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    refuse(path, frontend::short_message(e));
  }
}

}  // namespace pt2onnx
