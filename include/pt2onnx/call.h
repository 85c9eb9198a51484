// What a symbolic function sees: the call of one torch operator with its arguments by schema name, and the means to
// emit ONNX nodes for it.
//
//   // aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor
//   Results elu(Call& c) {
//     if (c.number("scale") != 1 || c.number("input_scale") != 1) return elu_by_parts(c);
//     return c.op("Elu", {c.tensor("self")}, {{"alpha", c.number("alpha")}});
//   }
//
// Accessors check the type that they read and throw a Rejection that names operator, argument, expected and got; a
// symbolic function never catches it.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pt2onnx/dim.h"
#include "pt2onnx/dtype.h"
#include "pt2onnx/graph.h"
#include "pt2onnx/program.h"

namespace pt2onnx {

/// A Python number in an argument: known, or computed by the graph. A symbolic integer is a Dim; a symbolic float or
/// bool is a 0-d Value.
class Scalar {
 public:
  enum class Kind { Bool, Int, Float, Complex };  // in the order of type promotion

  Scalar(bool v) : data_(v) {}                  // NOLINT
  Scalar(int v) : data_(Dim(v)) {}              // NOLINT
  Scalar(std::int64_t v) : data_(Dim(v)) {}     // NOLINT
  Scalar(Dim v) : data_(std::move(v)) {}        // NOLINT
  Scalar(double v) : data_(v) {}                // NOLINT
  Scalar(std::complex<double> v) : data_(v) {}  // NOLINT
  Scalar(Kind kind, Value value) : data_(Computed{kind, value, {}}) {}
  /// A Bool that is true where a size is not 0 (`when_filled`), or where it is 0.
  static Scalar size_test(Value value, bool when_filled);

  Kind kind() const;
  bool is_known() const;
  /// The number if it is known and real.
  std::optional<double> number() const;
  std::optional<std::int64_t> integer() const;  // known Int or Bool
  bool equals(double v) const { return number() == v; }

  struct Computed {
    Kind kind;
    Value value;
    std::optional<bool> when_filled;  // of a size test
  };
  using Data = std::variant<bool, Dim, double, std::complex<double>, Computed>;
  const Data& data() const { return data_; }

 private:
  Data data_;
};

struct DictArgument;

/// One argument or result. Empty: None. A symbolic float or bool arrives as Scalar with a computed value.
struct Argument {
  using List = std::vector<Argument>;
  std::variant<std::monostate, Value, Scalar, std::string, List, program::OpaqueLiteral> data;

  Argument() = default;
  Argument(Value v) : data(v) {}                   // NOLINT
  Argument(Scalar v) : data(std::move(v)) {}       // NOLINT
  Argument(std::string v) : data(std::move(v)) {}  // NOLINT
  Argument(List v) : data(std::move(v)) {}         // NOLINT
  Argument(const std::vector<Value>& v);           // NOLINT: a list of tensors
  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
};

/// What a symbolic function returns: one result per return of the schema.
///   return value;              one tensor
///   return {a, b};             two results
///   return Results::list(vs);  one result that is a list of tensors (aten::split)
struct Results {
  std::vector<Argument> values;

  Results(Value v) : values{v} {}                        // NOLINT
  Results(Scalar s) : values{Argument(std::move(s))} {}  // NOLINT
  Results(std::initializer_list<Argument> vs) : values(vs) {}
  explicit Results(std::vector<Argument> vs) : values(std::move(vs)) {}
  static Results list(const std::vector<Value>& vs) { return Results{Argument(vs)}; }
};

/// A form that cannot be expressed. Thrown by Call's accessors and reject(); caught by the dispatch alone, which adds
/// operator and location and takes back what was emitted.
struct Rejection : std::runtime_error {
  using std::runtime_error::runtime_error;
  std::optional<int> first_opset;  // set when a later opset can express it: case 4
  std::string advice;              // what would work, may be empty
};

class Builder;  // src/registry/builder.h: owns the graph while it grows

class Call {
 public:
  using Arguments = std::vector<Argument>;

  /// `arguments` are in the order of the schema; a short list is filled up with the schema's defaults.
  Call(Builder& builder, const program::Schema& schema, Arguments arguments);

  const program::Schema& schema() const { return schema_; }
  std::string_view name() const { return schema_.name; }  // "aten::add"
  int opset() const;
  bool has_opset(int version) const { return opset() >= version; }

  // ---- arguments, by schema name -------------------------------------------------------------------------------

  /// Whether the schema of this overload has an argument of that name (overloads share a symbolic function).
  bool has(std::string_view argument) const;
  bool is_none(std::string_view argument) const;
  const Argument& argument(std::string_view name) const;
  /// All, in the order of the schema; those of a variadic schema have no names.
  const Arguments& arguments() const { return arguments_; }

  Value tensor(std::string_view argument);                         // a Scalar is turned into a 0-d tensor
  Value optional_tensor(std::string_view argument);                // absent handle for None
  std::vector<Value> tensors(std::string_view argument);           // Tensor[]
  std::vector<Value> optional_tensors(std::string_view argument);  // Tensor?[]: absent handles for None

  std::int64_t integer(std::string_view argument);  // rejects a symbolic one, in words
  std::optional<std::int64_t> optional_integer(std::string_view argument);
  Dim size(std::string_view argument);  // an integer that may be symbolic
  std::optional<Dim> optional_size(std::string_view argument);
  Shape sizes(std::string_view argument);  // int[] / SymInt[]; a lone int counts as a list of one
  std::optional<Shape> optional_sizes(std::string_view argument);
  std::vector<std::int64_t> ints(std::string_view argument);
  /// `count` entries: a list of one counts for all.
  std::vector<std::int64_t> ints(std::string_view argument, std::size_t count);
  std::optional<std::vector<std::int64_t>> optional_ints(std::string_view argument);

  double number(std::string_view argument);  // int, float or bool, known
  std::optional<double> optional_number(std::string_view argument);
  std::vector<double> numbers(std::string_view argument);
  std::optional<std::vector<double>> optional_numbers(std::string_view argument);
  Scalar scalar(std::string_view argument);
  std::optional<Scalar> optional_scalar(std::string_view argument);
  bool flag(std::string_view argument);
  std::optional<bool> optional_flag(std::string_view argument);
  std::string text(std::string_view argument);
  std::optional<std::string> optional_text(std::string_view argument);
  std::optional<DType> dtype(std::string_view argument);  // ScalarType?; nullopt for None

  // ---- facts, rejecting in words what is not known ------------------------------------------------------------

  std::size_t rank(Value v) const;
  DType dtype_of(Value v) const;
  const Shape& shape(Value v) const;
  std::vector<std::int64_t> static_shape(Value v) const;
  /// A dim argument, negative counted from the end, checked against the rank (a 0-d tensor has one axis, 0).
  std::int64_t axis(std::string_view argument, std::size_t rank);
  std::int64_t normalize_axis(std::int64_t axis, std::size_t rank) const;
  /// int[]? dim of a reduction: nullopt or empty means every axis, unless `empty_means_none`.
  std::vector<std::int64_t> axes(std::string_view argument, std::size_t rank, bool empty_means_none = false);

  /// Whether the program looks at that result. One that it ignores may be left out: an empty Argument.
  bool is_used(std::size_t result) const { return result >= unused_.size() || !unused_[result]; }
  void set_unused(std::vector<bool> unused) { unused_ = std::move(unused); }

  // ---- emission ------------------------------------------------------------------------------------------------

  /// One node with one output. Absent optional inputs are empty handles; trailing ones are dropped. Type and shape
  /// are inferred on the spot; element types that the operator or ONNX Runtime does not take are cast around.
  Value op(std::string_view type, std::vector<Value> inputs, Attributes attributes = {});
  std::vector<Value> op(std::string_view type, std::size_t outputs, std::vector<Value> inputs,
                        Attributes attributes = {});
  /// A node of another domain: "com.microsoft", "custom".
  std::vector<Value> custom_op(std::string_view domain, std::string_view type, std::size_t outputs,
                               std::vector<Value> inputs, Attributes attributes,
                               std::vector<ValueType> types);

  /// One Cast; `v` itself when it has that dtype. Constants are cast at once.
  Value cast(Value v, DType to);

  Value constant(Tensor tensor);
  Value constant(std::span<const std::int64_t> ints);  // 1-d int64
  Value constant(std::initializer_list<std::int64_t> ints);
  Value constant(double value, DType dtype);              // 0-d
  Value scalar_value(const Scalar& scalar, DType dtype);  // 0-d, whatever the kind
  Value size_value(const Dim& dim);                       // 0-d int64; nodes only where it is symbolic
  Value shape_value(const Shape& shape);                  // 1-d int64
  /// The size as a Dim: known when the shape is, else read by the graph.
  Dim size_of(Value v, std::int64_t axis);
  /// All sizes of v; rejects an unknown rank.
  Shape sizes_of(Value v);
  /// A Dim that stands for a 0-d or one-element integer value that the graph computes (data-dependent sizes).
  Dim dim_from(Value v, std::string_view hint = "n");

  // ---- complex values: pairs of real ones, of which the graph knows nothing -------------------------------------

  struct Parts {
    Value real, imaginary;  // of a real value: itself and an absent handle
  };
  Parts parts(Value v);
  /// Both have the same dtype and shape.
  Value complex(Value real, Value imaginary);
  /// As a real tensor with a last axis of 2, and back.
  Value pairs(Value complex);
  Value from_pairs(Value pairs);

  // ---- quantized values: QuantizeLinear and DequantizeLinear, back to back -------------------------------------------

  /// Floats to the nearest codes of that type (QUInt8 or QInt8).
  Value quantize(Value floats, double scale, std::int64_t zero_point, DType to);
  /// Codes that are there already.
  Value quantized(Value codes, double scale, std::int64_t zero_point, DType dtype);
  /// What a quantized value stands for; others: themselves.
  Value dequantize(Value v);
  /// Of a quantized value; rejects others.
  const ValueInfo::Quantization& quantization(Value v) const;

  /// Refines what inference found; a size that is known wins over one that is not.
  void set_shape(Value v, Shape shape);
  void set_dtype(Value v, DType dtype);
  void rename(Value v, std::string_view name);

  /// Runs a torch operator on constants, now: `c.fold("aten::t", {weight})`. Nullopt when an argument is not constant,
  /// the result is too large, or there is no such kernel.
  std::optional<Value> fold(std::string_view torch_op, Arguments arguments);

  /// The same with any results: lists of numbers, packed parameters, quantized weights.
  std::optional<std::vector<program::Literal>> evaluate(std::string_view torch_op,
                                                        const std::vector<program::Literal>& arguments);

  // ---- subgraphs -----------------------------------------------------------------------------------------------

  using BodyFn = std::function<std::vector<Value>(std::vector<Value>)>;
  /// ONNX Loop. `trip_count` (0-d int64) and `condition` (0-d bool) may be absent. The body sees {iteration, condition,
  /// carried...} and returns {condition, carried..., scanned...}. Results: carried finals, then scans stacked.
  std::vector<Value> loop(Value trip_count, Value condition, std::vector<Value> carried, std::size_t scans,
                          const BodyFn& body);
  /// ONNX If on a 0-d bool.
  std::vector<Value> branch(Value condition, const std::function<std::vector<Value>()>& then_branch,
                            const std::function<std::vector<Value>()>& else_branch);
  /// ONNX Scan over axis 0 of `scanned`; the body sees {states..., slices...}, returns {states..., scan outputs...}.
  std::vector<Value> scan(std::vector<Value> states, std::vector<Value> scanned, std::size_t scan_outputs,
                          const BodyFn& body);

  // ---- refusal -------------------------------------------------------------------------------------------------

  /// `why` completes the sentence "aten::op: ..."; lower case, no full stop; `advice` says what would work.
  [[noreturn]] void reject(std::string why, std::string advice = {}) const;
  /// What a translation takes for granted; same form as `why`. The user is told, or it is an error (--strict).
  void assume(std::string what);
  /// Whether a dynamic size is 1 in the example inputs. If so the model is made for that, as `what` tells the user.
  bool assume_one(const Dim& size, std::string what);
  /// Case 4: expressible from `opset` on.
  [[noreturn]] void needs_opset(int opset, std::string why) const;

  Builder& builder() { return builder_; }

 private:
  const Argument* find(std::string_view argument) const;
  [[noreturn]] void mismatch(std::string_view argument, std::string_view expected) const;

  Builder& builder_;
  const program::Schema& schema_;
  Arguments arguments_;
  std::vector<bool> unused_;
};

}  // namespace pt2onnx
