// The output: an ONNX graph in plain C++ types. Only the emitter turns it into protobuf.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pt2onnx/dim.h"
#include "pt2onnx/dtype.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

/// What is known of a value's type. Tensor: dtype and dims, each perhaps unknown. Sequence and Optional: of such a
/// tensor.
struct ValueType {
  enum class Kind { Tensor, Sequence, Optional };
  Kind kind = Kind::Tensor;
  std::optional<DType> dtype;
  std::optional<Shape> shape;  // nullopt: not even the rank is known

  bool operator==(const ValueType&) const = default;
};

/// Whether its elements are known to be complex.
inline bool is_complex(const ValueType& type) { return type.dtype && is_complex(*type.dtype); }

struct ValueInfo {
  std::string name;
  ValueType type;
  std::optional<Tensor> constant;  // set for a constant: becomes an initializer if something uses it
  int scope = 0;                   // the (sub)graph that makes it; 0: the main graph, or a constant
  /// A complex value is no value of the graph: it stands for two real ones. `pairs`, where there is one, is the real
  /// tensor with a last axis of 2 that it was taken from.
  ValueInfo *real = nullptr, *imaginary = nullptr, *pairs = nullptr;
  /// Nor is a quantized value: it stands for the floats that its integer codes mean, (code - zero_point) * scale.
  struct Quantization {
    ValueInfo *codes, *floats;
    double scale;
    std::int64_t zero_point;
  };
  std::shared_ptr<const Quantization> quantization;
  /// Of floats that were dequantized: how far apart neighbouring numbers are.
  std::optional<double> step;
};

/// Handle of an ONNX value; cheap to copy, valid as long as its graph. A default-made one is an absent optional input.
class Value {
 public:
  Value() = default;
  explicit Value(ValueInfo* info) : info_(info) {}

  explicit operator bool() const { return info_ != nullptr; }
  bool operator==(const Value&) const = default;

  const std::string& name() const { return info_->name; }
  const ValueType& type() const { return info_->type; }
  std::optional<DType> dtype() const { return info_->type.dtype; }
  const std::optional<Shape>& shape() const { return info_->type.shape; }
  std::optional<std::size_t> rank() const;
  /// The bytes when the value is a constant, else null.
  const Tensor* constant() const { return info_->constant ? &*info_->constant : nullptr; }

  ValueInfo* info() const { return info_; }

 private:
  ValueInfo* info_ = nullptr;
};

struct Graph;

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>, Tensor, std::shared_ptr<Graph>, ValueType>;

/// Attributes by name, in the order given. An entry whose optional value is empty is left out:
/// `{{"axis", 1}, {"kernel_shape", maybe_dims}}`.
class Attributes {
 public:
  struct Item {
    std::string name;
    std::optional<Attribute> value;

    template <typename T>
    Item(std::string_view n, T v) : name(n) {
      if constexpr (std::is_same_v<T, bool>) {
        value = static_cast<std::int64_t>(v ? 1 : 0);
      } else if constexpr (std::is_same_v<T, DType>) {
        value = onnx_type_of(v);
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<std::int64_t>(v);
      } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<double>(v);
      } else if constexpr (std::is_convertible_v<T, std::string_view>) {
        value = std::string(std::string_view(v));
      } else {
        value = Attribute(std::move(v));
      }
    }
    template <typename T>
    Item(std::string_view n, std::optional<T> v) : name(n) {
      if (v) *this = Item(n, std::move(*v));
    }
  };

  Attributes() = default;
  Attributes(std::initializer_list<Item> items);

  void set(Item item);  // replaces an attribute of the same name; an empty value removes it
  const Attribute* find(std::string_view name) const;
  bool empty() const { return items_.empty(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

/// Where a node comes from: shown as doc_string and metadata, named in findings.
struct Origin {
  std::string op;           // "aten::conv2d"
  std::string module_path;  // "layer1.0.conv1"
  std::string file;         // the user's Python file, or the archive's code file
  int line = 0;
};
using OriginRef = std::shared_ptr<const Origin>;

struct KeptCall;

struct Node {
  std::string domain;  // "" is the standard domain
  std::string op;
  std::string name;
  std::vector<Value> inputs;  // absent optionals as empty handles
  std::vector<Value> outputs;
  Attributes attributes;
  OriginRef origin;
  std::shared_ptr<const KeptCall> kept;  // the call that it is to become part of
};

/// Nodes in topological order. A subgraph (body of If, Loop, Scan) sees the values of the graphs around it.
struct Graph {
  std::string name = "main";
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<std::unique_ptr<Node>> nodes;
};

/// A call whose nodes are to become one node (core/outline.h).
struct KeptCall {
  std::string domain, name;      // of the operator
  std::string node;              // of the node
  bool bare = false;             // without a function behind it
  std::vector<Value> arguments;  // its first inputs
  std::vector<Value> results;    // its first outputs, as far as the call makes them
  Attributes attributes;
  OriginRef origin;
};

/// A function of the model itself, which its nodes call by domain and name.
struct LocalFunction {
  std::string domain, name;
  std::string text;             // as the user gave it, a FunctionProto; or, where it is empty,
  std::shared_ptr<Graph> body;  // as it was translated; it sees nothing outside of itself
};

/// A finished translation: the main graph, the arena of its values and the opsets that it needs.
struct Model {
  std::deque<ValueInfo> values;
  Graph graph;
  int opset = 0;
  std::map<std::string, int> domains;    // custom domains and their versions
  std::vector<LocalFunction> functions;  // those that no node calls are not written
  std::vector<std::pair<std::string, std::string>> metadata;
};

}  // namespace pt2onnx
