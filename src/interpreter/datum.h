// What a register of the interpreter holds: everything that TorchScript values can be, with tensors as ONNX values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pt2onnx/call.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

struct Datum;

/// When a state came into being: what is born inside a branch or loop body is nothing that has to be put back or joined
/// outside. A copy is born when it is made; a state that gets other content is as old as before.
class Birth {
 public:
  Birth() : at_(++clock) {}
  Birth(const Birth&) : Birth() {}
  Birth& operator=(const Birth&) { return *this; }

  static std::uint64_t now() { return ++clock; }
  bool after(std::uint64_t moment) const { return at_ > moment; }
  /// Of what the file holds, looked at only now.
  void backdate() { at_ = 0; }

 private:
  static thread_local std::uint64_t clock;
  std::uint64_t at_;
};

/// The memory behind one tensor and all its views. A write gives it a new value and a new version.
struct Storage {
  Value value;                   // absent while `number` was not needed as a tensor
  std::optional<Scalar> number;  // a 0-d tensor that is known as a number: shape arithmetic of traced models
  std::uint64_t version = 0;
  /// An item of a list whose length the graph decides, where a write would have to be seen as well.
  bool listed = false;
  Birth birth = {};
};

/// One view operator on the way from a storage to a tensor; can be replayed when the storage has changed.
struct ViewStep {
  std::shared_ptr<const program::Schema> schema;
  std::vector<Argument> arguments;  // [0] is the viewed tensor, left empty here
  std::size_t result = 0;           // which tensor of a list that the operator returns (split, unbind)
};

/// A tensor: a storage, and the views that lead from it. Aliases share a TensorState or a Storage.
struct TensorState {
  std::shared_ptr<Storage> storage;
  std::vector<ViewStep> views;
  Value cached;  // the value at `version` of the storage; unused without views
  std::uint64_t version = 0;
  bool contiguous = true;  // whether reshape of it is a view
  bool row_major =
      false;  // known to lie in memory row by row; results of operators may follow their inputs' order
  Birth birth = {};
};
using TensorRef = std::shared_ptr<TensorState>;

/// The list that a loop appends to, seen from inside of an iteration: what earlier ones appended is out of sight.
struct Growth {
  Dim length;  // at the beginning of the iteration
};

/// A list whose length the graph decides: an ONNX sequence of tensors (numbers as 0-d tensors); one tensor whose first
/// axis counts the items; or one that grows.
struct DynamicItems {
  enum class Form { Sequence, Stacked, Growing };
  Form form = Form::Sequence;
  Value value = {};                          // of Sequence and Stacked
  std::shared_ptr<Growth> growth = nullptr;  // of Growing
};

/// Thrown where an iteration looks at what earlier ones appended: then the list has to be carried as a whole.
struct NeedsWholeList {
  std::shared_ptr<Growth> growth;
};

struct ListState {
  program::TypeRef element;  // may be null
  std::vector<Datum> items;
  std::optional<DynamicItems> dynamic;  // then `items` is empty, or what a growing list got in this iteration
  Birth birth = {};
};
using ListRef = std::shared_ptr<ListState>;

struct TupleState {
  program::TypeRef type;  // may be null
  std::vector<Datum> items;
};
using TupleRef = std::shared_ptr<TupleState>;

struct DictState {
  program::TypeRef key, value;
  std::vector<std::pair<Datum, Datum>> items;  // in insertion order
  Birth birth = {};
};
using DictRef = std::shared_ptr<DictState>;

/// A module or class instance while it runs; attributes are read from the program when first asked for.
struct ObjectState {
  std::string type;
  std::string path;
  bool is_module = false;
  program::ObjectRef source;  // null for an object made by the program itself
  std::vector<std::pair<std::string, Datum>> attributes;
  Birth birth = {};
};
using InstanceRef = std::shared_ptr<ObjectState>;

/// A value that could not be computed, since the operator behind it has no translation. Whatever depends on it is
/// tainted too and never reported.
struct Tainted {};

/// Text of which the graph decides parts, each written as an expression in braces: equal expressions are equal parts.
struct OpenText {
  std::string text;
};

/// What a branch leaves in a variable that it does not set (early return); never read where the program is right.
struct Uninitialized {};

/// An Optional of which the graph decides whether it holds something.
struct MaybeNone {
  Value present;                 // 0-d bool
  std::shared_ptr<Datum> value;  // a stand-in where it is not present
};

struct Datum {
  std::variant<std::monostate, Tainted, Uninitialized, MaybeNone, Scalar, std::string, OpenText, TensorRef,
               ListRef, TupleRef, DictRef, InstanceRef, program::EnumLiteral, program::DeviceLiteral,
               program::FunctionLiteral, program::OpaqueLiteral>
      data;

  Datum() = default;
  template <typename T>
    requires(!std::is_same_v<std::decay_t<T>, Datum> && std::is_constructible_v<decltype(data), T>)
  Datum(T&& v) : data(std::forward<T>(v)) {}  // NOLINT

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  bool is_tainted() const { return std::holds_alternative<Tainted>(data); }

  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data);
  }
};

inline ListRef make_list(std::vector<Datum> items, program::TypeRef element = nullptr) {
  return std::make_shared<ListState>(ListState{std::move(element), std::move(items), std::nullopt, {}});
}

/// Whether the datum, or something that it contains, is tainted.
bool any_tainted(const Datum& datum);

/// "Tensor", "int", "List", ... for messages.
std::string type_name(const Datum& datum);

/// Equality of what is known (numbers, strings, None, enums, devices, and lists and tuples of them); nullopt when the
/// graph decides.
std::optional<bool> known_equal(const Datum& a, const Datum& b);

}  // namespace pt2onnx
