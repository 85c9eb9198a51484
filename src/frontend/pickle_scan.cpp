#include "frontend/pickle_scan.h"

#include <algorithm>
#include <cstdint>

namespace pt2onnx::frontend {

namespace {

/// The bytes that follow an opcode: a fixed number, or as many as a little-endian length says. -1: not a pickle opcode.
struct Operand {
  int fixed = 0;
  int length_size = 0;
};

constexpr Operand kUnknown{-1, 0};

Operand operand_of(char opcode) {
  switch (opcode) {
    case 'K':
    case 'h':
    case 'q':
    case '\x80':
    case '\x82': return {1, 0};  // BININT1 BINGET BINPUT PROTO EXT1
    case 'M':
    case '\x83': return {2, 0};  // BININT2 EXT2
    case 'J':
    case 'j':
    case 'r':
    case '\x84': return {4, 0};  // BININT LONG_BINGET LONG_BINPUT EXT4
    case 'G':
    case '\x95': return {8, 0};  // BINFLOAT FRAME
    case 'U':
    case 'C':
    case '\x8a':
    case '\x8c': return {0, 1};  // short strings and bytes, LONG1
    case 'X':
    case 'T':
    case 'B':
    case '\x8b': return {0, 4};  // strings and bytes, LONG4
    case '\x8d':
    case '\x8e':
    case '\x96': return {0, 8};  // BINUNICODE8 BINBYTES8 BYTEARRAY8
    case '(':
    case '.':
    case '0':
    case '1':
    case '2':
    case 'N':
    case 'Q':
    case 'R':
    case 'a':
    case 'b':
    case 'd':
    case '}':
    case 'e':
    case 'l':
    case ']':
    case 'o':
    case 's':
    case 't':
    case ')':
    case 'u':
    case '\x81':
    case '\x85':
    case '\x86':
    case '\x87':
    case '\x88':
    case '\x89':
    case '\x8f':
    case '\x90':
    case '\x91':
    case '\x92':
    case '\x93':
    case '\x94':
    case '\x97':
    case '\x98': return {0, 0};
    default: return kUnknown;
  }
}

bool is_text(char opcode) {
  return opcode == 'X' || opcode == 'U' || opcode == 'T' || opcode == '\x8c' || opcode == '\x8d';
}

/// The text up to a newline, and past it; false when there is none.
bool take_line(std::string_view bytes, std::size_t& at, std::string& line) {
  const auto end = bytes.find('\n', at);
  if (end == std::string_view::npos) return false;
  line = std::string(bytes.substr(at, end - at));
  at = end + 1;
  return true;
}

bool contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// A class that pickles of plain tensors and containers use.
bool is_plain(const std::string& global) {
  return global.starts_with("collections.") || global.starts_with("torch._utils.") ||
         global.starts_with("torch.storage.") || global.starts_with("numpy") ||
         global.starts_with("__builtin__.") || global.starts_with("builtins.") ||
         global.starts_with("_codecs.") || global.starts_with("torch.serialization.") ||
         // torch.FloatStorage, torch.float32, torch.Size, torch.device
         (global.starts_with("torch.") && std::count(global.begin(), global.end(), '.') == 1);
}

constexpr std::string_view kBuildModule =
    "build the module in Python, `module.load_state_dict(...)`, then `torch.jit.trace(module.eval(), "
    "example).save(\"model.pt\")` (or `torch.jit.script`)";

}  // namespace

PickleScan scan_pickle(std::string_view bytes) {
  PickleScan scan;
  bool any_object = false;
  for (std::size_t at = 0; at < bytes.size();) {
    const char opcode = bytes[at++];
    if (opcode == '.') {
      scan.complete = true;
      scan.end = at;
      return scan;
    }
    if (opcode == 'c' || opcode == 'i') {  // GLOBAL, INST: two lines
      std::string module, name;
      if (!take_line(bytes, at, module) || !take_line(bytes, at, name)) return scan;
      if (!any_object) scan.starts_with_global = any_object = true;
      scan.globals.push_back(module + "." + name);
      continue;
    }
    if (std::string_view("FILSVgpP").find(opcode) != std::string_view::npos) {  // operands as a line of text
      std::string line;
      if (!take_line(bytes, at, line)) return scan;
      continue;
    }
    const Operand operand = operand_of(opcode);
    if (operand.fixed < 0 ||
        bytes.size() - at < static_cast<std::size_t>(operand.fixed + operand.length_size))
      return scan;
    std::uint64_t length = static_cast<std::uint64_t>(operand.fixed);
    if (operand.length_size > 0) {
      for (int i = 0; i < operand.length_size; ++i)
        length |= std::uint64_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])}
                  << (8 * i);
      at += static_cast<std::size_t>(operand.length_size);
      if (length > bytes.size() - at) return scan;
      if (is_text(opcode)) scan.strings.emplace_back(bytes.substr(at, length));
    }
    if (opcode == '\x93' && scan.strings.size() >= 2) {  // STACK_GLOBAL: the two texts before it
      if (!any_object) scan.starts_with_global = any_object = true;
      scan.globals.push_back(scan.strings[scan.strings.size() - 2] + "." + scan.strings.back());
    }
    if (opcode == '}' || opcode == ']' || opcode == '(' || opcode == ')') any_object = true;
    at += length;
  }
  return scan;
}

std::string describe_saved_object(const PickleScan& scan) {
  if (scan.starts_with_global) {
    const std::string& type = scan.globals.front();
    if (type.starts_with("__torch__."))
      return "the data of a TorchScript module without its code: copy or download the whole file again";
    if (!is_plain(type))
      return "a module pickled by `torch.save(module)` (class `" + type +
             "`), which only Python can read: load it there, then `torch.jit.trace(module.eval(), "
             "example).save(\"model.pt\")` (or `torch.jit.script`)";
    if (type != "collections.OrderedDict")
      return "a tensor saved by `torch.save`, not a module: a module becomes a TorchScript file by "
             "`torch.jit.trace(module, "
             "example).save(\"model.pt\")`";
    return "a state_dict (tensors by name, without the code of the module): " + std::string(kBuildModule);
  }
  const bool is_checkpoint =
      contains(scan.strings, "optimizer") || contains(scan.strings, "optimizer_state_dict") ||
      contains(scan.strings, "epoch") || contains(scan.strings, "state_dict") ||
      contains(scan.strings, "model_state_dict") || contains(scan.strings, "global_step");
  if (is_checkpoint)
    return "a training checkpoint (a dict with weights and more, without the code of the module): " +
           std::string(kBuildModule);
  const bool has_module =
      std::any_of(scan.globals.begin(), scan.globals.end(), [](const auto& g) { return !is_plain(g); });
  if (has_module)
    return "a Python object saved by `torch.save` (it holds a `" +
           *std::find_if(scan.globals.begin(), scan.globals.end(),
                         [](const auto& g) { return !is_plain(g); }) +
           "`), which only Python can read: load it there, then `torch.jit.trace(module.eval(), "
           "example).save(\"model.pt\")`";
  const bool has_tensors = std::any_of(scan.globals.begin(), scan.globals.end(),
                                       [](const auto& g) { return g.starts_with("torch._utils._rebuild"); });
  if (has_tensors)
    return "a state_dict (tensors by name, without the code of the module): " + std::string(kBuildModule);
  return "a Python object saved by `torch.save`, not a module: a module becomes a TorchScript file by "
         "`torch.jit.trace(module, example).save(\"model.pt\")`";
}

}  // namespace pt2onnx::frontend
