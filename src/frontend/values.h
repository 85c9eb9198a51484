// Between torch's values and types and those of program.h. Internal to the front end: includes torch.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pt2onnx/program.h"

namespace pt2onnx::frontend {

std::optional<DType> dtype_of(at::ScalarType type);
std::optional<at::ScalarType> scalar_type_of(DType dtype);

/// The device that stands for one: the CPU for every accelerator, so that a module saved on one runs here.
c10::Device device_here(c10::Device device);

/// Converts types and keeps what it converted, so that equal pointers stay equal.
class TypeTable {
 public:
  program::TypeRef of(const c10::TypePtr& type);

 private:
  program::TypeRef convert(const c10::TypePtr& type);
  // The torch type is kept as well: its address is the key, which nobody else may get meanwhile.
  std::unordered_map<const c10::Type*, std::pair<c10::TypePtr, program::TypeRef>> known_;
};

/// Makes Literals of torch values. Within one reader aliases stay aliases: a list, dict or object met twice is the same
/// Literal, and tensors over the same bytes share them (and the name of the first).
class LiteralReader {
 public:
  explicit LiteralReader(TypeTable& types) : types_(types) {}

  program::Literal read(const at::IValue& value) { return read(value, {}); }
  /// As read(), for the root of a module: tensors and modules are named by their paths ("layer1.0.conv1.weight").
  program::Literal read_named(const at::IValue& value);

  /// The objects met so far, with their torch classes.
  const std::vector<c10::ClassTypePtr>& classes() const { return classes_; }

 private:
  /// Memory, offset, type, whether it is to be read as conjugated or negated, sizes, strides.
  using TensorKey = std::tuple<const void*, std::int64_t, at::ScalarType, bool, bool,
                               std::vector<std::int64_t>, std::vector<std::int64_t>>;

  program::Literal read(const at::IValue& value, const std::string& path);
  /// The path of an item of a container or object; empty while nothing is named.
  std::string below(const std::string& path, const std::string& name) const;
  program::Literal read_tensor(const at::Tensor& tensor, const std::string& path);
  program::Literal read_container(const at::IValue& value, const std::string& path);
  program::ObjectRef read_object(const at::IValue& value, const std::string& path);
  program::Literal opaque(const at::IValue& value, std::string type);

  TypeTable& types_;
  bool naming_ = false;
  std::unordered_map<const void*, program::Literal> containers_;
  std::unordered_map<const void*, program::ObjectRef> objects_;
  std::map<TensorKey, Tensor> tensors_;
  std::vector<c10::ClassTypePtr> classes_;
};

/// How tensors become torch tensors.
enum class TensorMode {
  Data,  // over the Literal's own memory
  Meta,  // dtype and dims only
};

/// The torch value of a literal, as an argument of type `expected` wants it (int for float, one int for a list of
/// `list_size`); without an expectation, or for a generic one, the literal's own types decide. Devices other than the CPU
/// become the CPU. Throws std::invalid_argument for what cannot be one (objects, functions).
at::IValue to_ivalue(const program::Literal& literal, const c10::TypePtr& expected = nullptr,
                     TensorMode mode = TensorMode::Data,
                     std::optional<std::int32_t> list_size = std::nullopt);

/// The part of an exception's text that says what is wrong: no C++ backtrace, no TorchScript traceback around it.
std::string short_message(const std::exception& e);

}  // namespace pt2onnx::frontend
