#include "interpreter/sample_arguments.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "registry/literal.h"

namespace pt2onnx {

using program::Literal;

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 24;
constexpr std::int64_t kUsualSize = 3;  // of what the example does not tell

/// Zeros, ones, and both in turns: good as indices of any axis that has two elements.
std::vector<double> varied_elements(std::size_t count, int turn) {
  std::vector<double> elements(count, turn == 0 ? 0.0 : 1.0);
  if (turn == 2)
    for (std::size_t i = 0; i < count; i += 2) elements[i] = 0;
  return elements;
}

}  // namespace

std::optional<Literal> SampleArguments::literal(const Argument& argument) {
  if (const auto* v = std::get_if<Value>(&argument.data)) return *v ? tensor(*v) : Literal();
  if (const auto* scalar = std::get_if<Scalar>(&argument.data)) {
    if (const auto* dim = std::get_if<Dim>(&scalar->data()); dim && !dim->is_static()) {
      const auto size = size_of(*dim);
      return size ? std::optional(Literal{*size}) : std::nullopt;
    }
  }
  if (const auto* list = std::get_if<Argument::List>(&argument.data)) {
    auto items = std::make_shared<program::ListLiteral>();
    for (const Argument& item : *list) {
      auto one = literal(item);
      if (!one) return std::nullopt;
      items->items.push_back(std::move(*one));
    }
    return Literal{items};
  }
  return literal_from(argument);
}

std::optional<std::int64_t> SampleArguments::size_of(const Dim& dim) {
  return dim.evaluate(
      [&](const std::string& symbol) -> std::optional<std::int64_t> { return size_of(symbol); });
}

std::int64_t SampleArguments::example_of(const std::string& symbol) const {
  const auto it = examples_.find(symbol);
  return it == examples_.end() ? kUsualSize : it->second;
}

std::int64_t SampleArguments::size_of(const std::string& symbol) {
  const auto leader = leaders_.find(symbol);
  const std::string& name = leader == leaders_.end() ? symbol : leader->second;
  const std::int64_t first = example_of(name);
  const auto [entry, fresh] = steps_.try_emplace(name, static_cast<std::int64_t>(steps_.size()) + 1);
  const std::int64_t step = entry->second;
  // From turn to turn sizes grow at rates of their own, so that none is a multiple of another's growth in all of them; and by
  // so much that a quotient of a size (frames in a signal) grows as well.
  return turn_ == 0 ? first : turn_ == 1 ? 2 * first + step : 3 * first + step * (step + 2);
}

std::optional<Literal> SampleArguments::tensor(Value v) {
  if (v.constant()) return Literal{*v.constant()};
  if (!v.dtype() || !v.shape() || is_complex(*v.dtype()) || v.info()->quantization) return std::nullopt;
  Tensor tensor;
  tensor.dtype = *v.dtype();
  std::int64_t elements = 1;
  for (const Dim& dim : *v.shape()) {
    const auto size = size_of(dim);
    if (!size || *size < 0) return std::nullopt;
    tensor.dims.push_back(*size);
    elements *= std::max<std::int64_t>(*size, 1);
    if (elements > kMostElements && elements_ != Elements::None) return std::nullopt;
  }
  if (elements_ == Elements::None) return Literal{tensor};
  const auto count = static_cast<std::size_t>(tensor.numel());
  if (elements_ == Elements::Varied)
    return Literal{Tensor::of_doubles(varied_elements(count, turn_), tensor.dims, tensor.dtype)};
  const auto bytes = count * pt2onnx::size_of(tensor.dtype);
  return Literal{Tensor::of_bytes(std::vector<std::byte>(bytes), tensor.dims, tensor.dtype)};
}

}  // namespace pt2onnx
