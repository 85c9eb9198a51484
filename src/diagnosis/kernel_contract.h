// What a custom node looks like to the runtime: the contract that an ONNX Runtime custom op or a TensorRT plugin fulfils.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx {

struct KernelContract {
  struct Input {
    std::string name;
    bool optional = false;  // an empty name where it is None
    bool list = false;      // as many inputs as the list has tensors
  };
  struct Attribute {
    std::string name;
    std::string kind;       // "int", "ints", "float", "floats", "string", "strings", "int or float"
    bool optional = false;  // left out where it is None
    bool is_bool = false;   // 0 or 1

    /// The type of the field of a TensorRT plugin that its ONNX parser makes of it: "INT32", "FLOAT32", "CHAR"; "INT32 or
    /// FLOAT32" where the call decides. 64-bit integers are narrowed, a list is a field of that length.
    std::string plugin_field() const;
  };
  std::string domain, name;
  std::vector<Input> inputs;          // in the order of the node
  std::vector<Attribute> attributes;  // under the names of the schema
  std::vector<std::string> outputs;   // "Tensor", or "Tensor[]": as many as the program takes
};

/// For an operator whose schema is known.
KernelContract kernel_contract(const program::Schema& schema, std::string_view domain);

/// "custom::foo(x, mask?; k: int, scales: floats) -> Tensor": the node in one line.
std::string text_of(const KernelContract& contract);

}  // namespace pt2onnx
