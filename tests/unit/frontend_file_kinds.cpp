// Each wrong file gets a sentence of its own: what it is, and what to do.
#include <gmock/gmock.h>

#include <filesystem>

#include "frontend/frontend.h"
#include "support/torchscript.h"
#include "support/zip_archive.h"

namespace pt2onnx::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string load_error(const std::string& path) {
  try {
    load_torchscript(path, {});
  } catch (const LoadError& e) {
    return e.what();
  }
  return "no error";
}

std::string load_error_of(const std::string& bytes) {
  const TemporaryFile file("x.pt", bytes);
  const std::string error = load_error(file.path());
  EXPECT_THAT(error, HasSubstr("`" + file.path() + "`"));
  EXPECT_THAT(error, Not(EndsWith(".")));
  return error;
}

// What torch.save writes, as a pickle of protocol 2 by hand.
const std::string kProto = "\x80\x02";
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
std::string text(const std::string& value) {
  return "X" + std::string(1, static_cast<char>(value.size())) + std::string(3, '\0') + value;
}
const std::string kRebuild = global("torch._utils", "_rebuild_tensor_v2");
const std::string kStateDict =
    kProto + global("collections", "OrderedDict") + ")R(" + text("fc.weight") + kRebuild + "u.";
const std::string kModule = kProto + global("__main__", "Net") + ")\x81}b.";
const std::string kCheckpoint =
    kProto + "}(" + text("epoch") + "K\x01" + text("state_dict") + kRebuild + "u.";
const std::string kTensor = kProto + kRebuild + ")R.";

std::string saved(const std::string& pickle) {
  return zip_bytes({{"x/data.pkl", pickle}, {"x/byteorder", "little"}, {"x/version", "3\n"}});
}

std::string legacy(const std::string& pickle) {
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  return magic + kProto + "M\xe9\x03." + kProto + "}." + pickle;
}

TEST(FileKinds, MissingDirectoryEmptyAndUnreadable) {
  EXPECT_THAT(load_error("/no/such/file.pt"), HasSubstr("does not exist"));
  EXPECT_THAT(load_error("/dev/null/x.pt"), HasSubstr("does not exist"));
  EXPECT_THAT(load_error("/dev/null"), HasSubstr("no regular file"));
  EXPECT_THAT(load_error(std::filesystem::temp_directory_path()), HasSubstr("a directory"));
  EXPECT_THAT(load_error_of(""), HasSubstr("empty"));
}

TEST(FileKinds, Text) {
  EXPECT_THAT(load_error_of("import torch\nprint(1)\n"), HasSubstr("a text file"));
  EXPECT_THAT(load_error_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(load_error_of("\n<!DOCTYPE html><html></html>"), HasSubstr("an HTML page"));
}

TEST(FileKinds, TorchSave) {
  EXPECT_THAT(load_error_of(saved(kStateDict)),
              AllOf(HasSubstr("a state_dict"), HasSubstr("load_state_dict"), HasSubstr("torch.jit.trace")));
  EXPECT_THAT(load_error_of(saved(kModule)),
              AllOf(HasSubstr("class `__main__.Net`"), HasSubstr("torch.jit.trace")));
  EXPECT_THAT(load_error_of(saved(kCheckpoint)), HasSubstr("a training checkpoint"));
  EXPECT_THAT(load_error_of(saved(kTensor)), HasSubstr("a tensor saved by"));
  EXPECT_THAT(load_error_of(saved(kProto + "}.")), HasSubstr("a Python object saved by"));
}

TEST(FileKinds, TorchSaveOfOldFormats) {
  EXPECT_THAT(load_error_of(legacy(kStateDict)), AllOf(HasSubstr("old format"), HasSubstr("a state_dict")));
  EXPECT_THAT(load_error_of(legacy(kModule)), AllOf(HasSubstr("old format"), HasSubstr("`__main__.Net`")));
  EXPECT_THAT(load_error_of(legacy(kStateDict).substr(0, 18)), HasSubstr("cut off"));
  EXPECT_THAT(load_error_of(kStateDict), HasSubstr("a Python pickle that `torch.save` did not write"));
  std::string tar(1024, '\0');
  tar.replace(0, 8, "sys_info");
  tar.replace(257, 5, "ustar");
  EXPECT_THAT(load_error_of(tar), HasSubstr("a tar archive"));
}

TEST(FileKinds, ArchivesOfOtherTools) {
  EXPECT_THAT(load_error_of(zip_bytes({{"m/archive_format", "pt2"}, {"m/models/model.json", "{}"}})),
              HasSubstr("torch.export"));
  EXPECT_THAT(load_error_of(zip_bytes({{"serialized_exported_program.json", "{}"}})),
              HasSubstr("torch.export"));
  EXPECT_THAT(load_error_of(zip_bytes({{"p/.data/extern_modules", ""}})), HasSubstr("torch.package"));
  EXPECT_THAT(load_error_of(zip_bytes({{"m/model.json", "{}"}, {"m/tensors/0", ""}})),
              HasSubstr("PyTorch 1.0 to 1.2"));
  EXPECT_THAT(load_error_of(zip_bytes({{"m/bytecode.pkl", ""}})), HasSubstr("mobile interpreter"));
  EXPECT_THAT(load_error_of(zip_bytes({{"a.npy", ""}, {"b.npy", ""}})), HasSubstr("`.npz`"));
  EXPECT_THAT(load_error_of(zip_bytes({{"[Content_Types].xml", ""}})), HasSubstr("an office document"));
  EXPECT_THAT(load_error_of(zip_bytes({{"config.json", ""}, {"model.weights.h5", ""}})), HasSubstr("Keras"));
  EXPECT_THAT(load_error_of(zip_bytes({{"readme.txt", ""}})), HasSubstr("it begins with `readme.txt`"));
  EXPECT_THAT(load_error_of(zip_bytes({})), HasSubstr("an empty zip archive"));
}

TEST(FileKinds, FormatsOfOtherFrameworks) {
  EXPECT_THAT(load_error_of("\x08\x0a\x12\x07pytorch\x3a\x02\x0a\x00\x42\x02\x10\x14"),
              HasSubstr("an ONNX model already"));
  EXPECT_THAT(load_error_of("\x89HDF\r\n\x1a\n...."), HasSubstr("HDF5"));
  EXPECT_THAT(load_error_of(std::string("\x10\0\0\0ET12....", 12)), HasSubstr("ExecuTorch"));
  EXPECT_THAT(load_error_of(std::string("\x10\0\0\0TFL3....", 12)), HasSubstr("TensorFlow Lite"));
  EXPECT_THAT(load_error_of(std::string("\x02\0\0\0\0\0\0\0{}", 10)), HasSubstr("safetensors"));
  EXPECT_THAT(load_error_of("GGUF...."), HasSubstr("GGUF"));
  EXPECT_THAT(load_error_of("\x1f\x8b\x08...."), HasSubstr("gunzip"));
  EXPECT_THAT(load_error_of("\xde\xad\xbe\xef\x01\x02"), HasSubstr("not in any form that pt2onnx knows"));
}

// ---- a real archive, damaged -------------------------------------------------------------------------------------

TorchScriptSnippet small_module() {
  TorchScriptSnippet snippet{"def forward(self, x):\n    return torch.relu(x + self.w)\n", {}, {}, {}, {}};
  const std::vector<double> ones(64, 1.0);
  snippet.parameters.emplace_back("w", Tensor::of_doubles(ones, {64}, DType::Float32));
  return snippet;
}

TEST(FileKinds, CutOffAnywhere) {
  const TemporaryModule module(small_module());
  const std::string bytes = read_file(module.path());
  for (std::size_t size = 4; size < bytes.size(); size += 97)
    EXPECT_THAT(load_error_of(bytes.substr(0, size)), HasSubstr("cut off")) << size;
}

TEST(FileKinds, DamageIsFoundBeforeTorchSeesIt) {
  const TemporaryModule module(small_module());
  const std::string bytes = read_file(module.path());
  const TemporaryFile intact("intact.pt", bytes);
  const auto reference = load_torchscript(intact.path(), {})->program().root->attributes;
  for (std::size_t at = 0; at < bytes.size(); at += 13) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const TemporaryFile file("damaged.pt", damaged);
    try {
      // Some bytes mean nothing (padding, dates): then nothing may have changed.
      const auto loaded = load_torchscript(file.path(), {});
      const auto& weight = std::get<Tensor>(loaded->program().root->attributes.front().second.data);
      EXPECT_TRUE(identical(weight, std::get<Tensor>(reference.front().second.data))) << at;
    } catch (const LoadError& e) {
      EXPECT_THAT(e.what(), HasSubstr(file.path())) << at;
    }
  }
}

TEST(FileKinds, PartsMissing) {
  const TemporaryModule module(small_module());
  ZipContents contents = read_zip(module.path());
  std::erase_if(contents, [](const auto& entry) { return entry.first.ends_with("constants.pkl"); });
  EXPECT_THAT(load_error_of(zip_bytes(contents)), HasSubstr("parts of a TorchScript archive are missing"));
}

TEST(FileKinds, CodeThatTorchDoesNotTakeIsALoadError) {
  const TemporaryModule module(small_module());
  ZipContents contents = read_zip(module.path());
  for (auto& [name, content] : contents)
    if (name.ends_with(".py")) content += "\n  def broken(:\n";
  EXPECT_THAT(load_error_of(zip_bytes(contents)), HasSubstr("cannot load"));
}

}  // namespace
}  // namespace pt2onnx::testing
