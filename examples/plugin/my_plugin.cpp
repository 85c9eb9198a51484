// Symbolic functions of one's own: an operator of torch translated otherwise, and one of an own library kept as a node
// whose types are inferred.
#include <pt2onnx/plugin.h>

#include <stdexcept>

using namespace pt2onnx;

namespace {

// aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor
// log(1 + exp(beta x)) / beta; where beta x is above the threshold, torch gives x.
Results softplus(Call& c) {
  const Value x = c.tensor("self");
  const double beta = c.number("beta");
  if (beta <= 0) c.reject("`beta` that is not positive");
  const DType dtype = c.dtype_of(x);
  const Value scale = c.constant(beta, dtype);
  const Value scaled = c.op("Mul", {x, scale});
  const Value smooth = c.op("Div", {c.op("Softplus", {scaled}), scale});
  const Value linear = c.op("Greater", {scaled, c.constant(c.number("threshold"), dtype)});
  return c.op("Where", {linear, x, smooth});
}

// mylib::repeat_last(Tensor x, int times) -> Tensor
Results repeat_last(Call& c) {
  return c.custom_op("mylib", "RepeatLast", 1, {c.tensor("x")}, {{"times", c.integer("times")}}, {})[0];
}

// The last axis grows by the factor `times`; what is not known of the input is not known of the output.
std::vector<ValueType> repeat_last_types(std::span<const std::optional<ValueType>> inputs,
                                         const AttributeLookup& attribute) {
  const auto times = attribute("times");
  if (inputs.size() != 1 || !inputs[0] || !times) throw std::invalid_argument("takes `x` and `times`");
  ValueType type = *inputs[0];
  if (type.shape && type.shape->empty()) throw std::invalid_argument("`x` has no axis");
  if (type.shape) type.shape->back() = type.shape->back() * Dim(std::get<std::int64_t>(*times));
  return {type};
}

}  // namespace

PT2ONNX_PLUGIN(plugin) {
  plugin.add("aten::softplus", 9, softplus);
  plugin.add("mylib::repeat_last", 9, repeat_last);
  plugin.declare("mylib", "RepeatLast", repeat_last_types);
}
