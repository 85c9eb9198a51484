#include "frontend/foreign_files.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "frontend/pickle_scan.h"

namespace pt2onnx::frontend {

namespace {

constexpr std::string_view kSaveModule =
    "save the module with `torch.jit.trace(module.eval(), example).save(\"model.pt\")` (or "
    "`torch.jit.script`)";

std::string with_advice(std::string_view what) { return std::string(what) + ": " + std::string(kSaveModule); }

// ---- ONNX: a protobuf message whose fields are those of ModelProto ------------------------------------------------

bool read_varint(std::span<const unsigned char> bytes, std::size_t& at, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const unsigned char byte = bytes[at++];
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// ir_version 1, producer_name 2, producer_version 3, domain 4, model_version 5, doc_string 6, graph 7, opset_import 8,
/// metadata_props 14, training_info 20, functions 25, configuration 26.
bool is_onnx_model(std::span<const unsigned char> bytes) {
  bool has_version = false, has_graph = false;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t tag = 0, value = 0;
    if (!read_varint(bytes, at, tag) || !read_varint(bytes, at, value)) return false;
    const std::uint64_t field = tag >> 3, wire = tag & 7;
    const bool is_number = field == 1 || field == 5;
    const bool is_message =
        (field >= 2 && field <= 8 && field != 5) || field == 14 || field == 20 || field == 25 || field == 26;
    if (!(is_number && wire == 0) && !(is_message && wire == 2)) return false;
    has_version |= field == 1 && value < 1000;
    has_graph |= field == 7;
    if (wire == 2 && value > bytes.size() - at)
      return has_version && has_graph;  // a cut-off model is one still
    if (wire == 2) at += value;
  }
  return has_version && has_graph;
}

// ---- text ---------------------------------------------------------------------------------------------------------

bool is_text(std::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\f';
  });
}

std::string describe_text(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const std::string_view text = first == std::string_view::npos ? std::string_view() : head.substr(first);
  if (text.starts_with("version https://git-lfs"))
    return "a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`";
  if (text.starts_with("<!DOCTYPE") || text.starts_with("<!doctype") || text.starts_with("<html") ||
      text.starts_with("<HTML"))
    return "an HTML page, probably of a download that failed: download the model again";
  return with_advice("a text file, not a TorchScript archive");
}

// ---- torch.save before 1.6, and other pickles ---------------------------------------------------------------------

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);

/// The old format is a row of pickles: magic number, protocol version, system information, and then the object.
std::string describe_legacy_save(std::string_view bytes) {
  std::size_t at = 0;
  for (int skipped = 0; skipped < 3; ++skipped) {
    const PickleScan scan = scan_pickle(bytes.substr(at));
    if (!scan.complete) return "a file of `torch.save` in its old format that is cut off: get the whole file";
    at += scan.end;
  }
  return "in the old format of `torch.save` (before PyTorch 1.6): " +
         describe_saved_object(scan_pickle(bytes.substr(at)));
}

bool has_at(std::string_view bytes, std::size_t at, std::string_view mark) {
  return bytes.size() >= at + mark.size() && bytes.substr(at, mark.size()) == mark;
}

std::uint64_t little_endian(std::string_view bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

bool is_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && little_endian(bytes, 8) <= bytes.size() - 8;
}

}  // namespace

std::string describe_foreign_file(std::span<const unsigned char> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (all.empty()) return "empty: the download or the save did not finish";
  if (all.starts_with("PK\x03\x04"))
    return "a zip archive that is cut off: its directory, at the end, is missing; copy or download the file "
           "again";
  if (all.starts_with("\x89HDF\r\n\x1a\n"))
    return "an HDF5 file (weights of Keras, or data), not a PyTorch model: export it with `tf2onnx` from its "
           "own framework";
  if (all.starts_with("GGUF"))
    return with_advice("a GGUF file (weights for llama.cpp), without the code of the module");
  if (all.starts_with("\x1f\x8b")) return "compressed by gzip: unpack it first (`gunzip`)";
  if (all.starts_with("BZh") ||
      all.starts_with("\xfd"
                      "7zXZ") ||
      all.starts_with("7z\xbc\xaf\x27\x1c") || all.starts_with("\x28\xb5\x2f\xfd") || all.starts_with("Rar!"))
    return "a compressed archive (bzip2, xz, 7z, zstd or rar): unpack it first";
  if (has_at(all, 4, "ET12") || has_at(all, 4, "ET13") || has_at(all, 4, "eh00"))
    return "an ExecuTorch program (`.pte`), which is compiled already: export the module that it was made "
           "of; " +
           std::string(kSaveModule);
  if (has_at(all, 4, "PTMF"))
    return "a mobile module in FlatBuffer form (`_save_for_lite_interpreter`), which holds no TorchScript "
           "code any more: " +
           std::string(kSaveModule);
  if (has_at(all, 4, "TFL3")) return "a TensorFlow Lite model: convert it with `tf2onnx --tflite`";
  if (has_at(all, 257, "ustar") || all.starts_with(std::string_view("sys_info\0", 9)))
    return "a tar archive, the form in which PyTorch before 0.2 saved checkpoints (or a packed folder): "
           "unpack it, or load it "
           "with an old PyTorch and save it anew; " +
           std::string(kSaveModule);
  if (all.starts_with(kLegacyMagic)) return describe_legacy_save(all);
  if (is_safetensors(all))
    return "a safetensors file (tensors by name, without the code of the module): build the module in "
           "Python, load the "
           "tensors into it, then `torch.jit.trace(module.eval(), example).save(\"model.pt\")`";
  if (all[0] == '\x80' && all.size() > 1 && all[1] <= 5)
    return with_advice("a Python pickle that `torch.save` did not write, not a TorchScript archive");
  if (is_onnx_model(bytes))
    return "an ONNX model already; nothing is left to convert (`pt2onnx show` prints it)";
  if (all.starts_with("\x93NUMPY"))
    return "a NumPy array (`.npy`), not a model: it can be example data in an `.npz` (--input-data)";
  if (all.starts_with("\x7f"
                      "ELF"))
    return "a program or shared library, not a model: a library of operators is given with --load-library";
  const std::string_view head = all.substr(0, 4096);
  if (is_text(head)) return describe_text(head);
  return with_advice("not in any form that pt2onnx knows (damaged, or of another program)");
}

}  // namespace pt2onnx::frontend
