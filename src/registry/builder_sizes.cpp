// Symbolic sizes become nodes here, and only where a node is needed.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "registry/builder.h"

namespace pt2onnx {

std::string Builder::fresh_symbol(std::string_view hint) {
  std::string base(hint);
  std::transform(base.begin(), base.end(), base.begin(), [](unsigned char ch) {
    return std::isalnum(ch) ? static_cast<char>(std::tolower(ch)) : '_';
  });
  for (int i = 0;; ++i) {
    std::string name = i == 0 ? base : fmt::format("{}_{}", base, i);
    if (symbol_names_.insert(name).second && !sources_.contains(name)) return name;
  }
}

/// A source that is out of sight (a subgraph that was left or taken back) is replaced.
void Builder::set_source(const std::string& symbol, Source source) {
  const auto it = sources_.find(symbol);
  if (it != sources_.end() && visible(it->second.value)) return;
  sources_.insert_or_assign(symbol, source);
  journal_.push_back([this, symbol] { sources_.erase(symbol); });
}

Dim Builder::fresh_dim(std::string_view hint, std::int64_t minimum) {
  return Dim::symbol(fresh_symbol(hint), minimum);
}

Dim Builder::symbol_of_axis(Value tensor, std::int64_t axis, std::string name, std::int64_t minimum) {
  const std::string symbol = fresh_symbol(name);
  set_source(symbol, Source{tensor, axis});
  return Dim::symbol(symbol, minimum);
}

Dim Builder::symbol_of_value(Value scalar, std::string_view hint, std::optional<std::int64_t> minimum) {
  if (const Tensor* known = scalar.constant(); known && known->numel() == 1) return Dim(known->to_ints()[0]);
  if (const auto it = value_symbols_.find(scalar.info()); it != value_symbols_.end()) return it->second;
  const std::string symbol = fresh_symbol(hint);
  set_source(symbol, Source{scalar, std::nullopt});
  // Unless the caller knows better, it may be any integer that the data holds.
  Dim dim = Dim::symbol(symbol, minimum.value_or(std::numeric_limits<std::int32_t>::min()));
  value_symbols_.emplace(scalar.info(), dim);
  journal_.push_back([this, info = scalar.info()] { value_symbols_.erase(info); });
  return dim;
}

Dim Builder::size_of(Value v, std::int64_t axis) {
  if (!v.shape()) throw std::logic_error("size of an axis of a value of unknown rank");
  return (*v.shape())[static_cast<std::size_t>(axis)];
}

void Builder::refine_shape(Value v, const Shape& shape) {
  if (v.constant()) return;
  auto& known = v.info()->type.shape;
  if (!known) {
    known = shape;
    return;
  }
  if (known->size() != shape.size())
    throw std::logic_error(fmt::format("`{}` has rank {} by inference and {} by its symbolic function",
                                       v.name(), known->size(), shape.size()));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!(*known)[i].is_static())
      (*known)[i] = shape[i];
    else if (shape[i].is_static() && !(shape[i] == (*known)[i]))
      throw std::logic_error(fmt::format("`{}` is {} by inference and {} by its symbolic function", v.name(),
                                         to_string(*known), to_string(shape)));
  }
}

void Builder::assume_type(Value v, const ValueType& type) {
  ValueType& known = v.info()->type;
  if (!known.dtype) known.dtype = type.dtype;
  if (!type.shape || v.constant() || (known.shape && known.shape->size() != type.shape->size())) return;
  const bool open = !known.shape;
  if (open) known.shape = type.shape;
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    const Dim& dim = (*type.shape)[i];
    Dim& mine = (*known.shape)[i];
    if (visible(dim)) {
      if (!mine.is_static()) mine = dim;
    } else if (open) {
      mine = known.kind == ValueType::Kind::Tensor
                 ? symbol_of_axis(v, static_cast<std::int64_t>(i), "joined", 0)
                 : fresh_dim("item");
    }
  }
}

bool Builder::pin(const Dim& size, std::int64_t value) {
  const auto example = size.evaluate([this](const std::string& symbol) -> std::optional<std::int64_t> {
    const auto it = example_sizes_.find(symbol);
    return it == example_sizes_.end() ? std::nullopt : std::optional(it->second);
  });
  if (example != value) return false;
  for (std::string& symbol : size.symbols()) pinned_.insert(std::move(symbol));
  return true;
}

Value Builder::int_vector(std::initializer_list<std::int64_t> ints) {
  return constant(
      Tensor::of_ints(std::span(ints.begin(), ints.size()), {static_cast<std::int64_t>(ints.size())}));
}

/// Sizes of the axes [begin, end) as a 1-d int64 value.
Value Builder::axis_sizes(Value tensor, std::int64_t begin, std::int64_t end) {
  const auto rank = static_cast<std::int64_t>(tensor.rank().value());
  if (begin == 0 && end == rank) return emit("", "Shape", 1, {tensor}, {})[0];
  if (opset() >= 15) {
    Attributes attributes{{"start", begin}};
    if (end != rank) attributes.set({"end", end});
    return emit("", "Shape", 1, {tensor}, attributes)[0];
  }
  const Value all = emit("", "Shape", 1, {tensor}, {})[0];
  if (opset() >= 10) return emit("", "Slice", 1, {all, int_vector({begin}), int_vector({end})}, {})[0];
  return emit("", "Slice", 1, {all}, {{"starts", std::vector{begin}}, {"ends", std::vector{end}}})[0];
}

Value Builder::atom_vector(const detail::Atom& atom) {
  using Kind = detail::Atom::Kind;
  if (atom.kind == Kind::Symbol) {
    const auto source = sources_.find(atom.key);
    if (source == sources_.end())
      throw std::logic_error(fmt::format("nothing gives the size `{}`", atom.key));
    const auto& [value, axis] = source->second;
    if (axis) return axis_sizes(value, *axis, *axis + 1);
    const Value integer = cast(value, DType::Int64);
    return emit("", "Reshape", 1, {integer, int_vector({1})}, {})[0];
  }
  const Value left = size_vector(atom.left);
  const Value right = size_vector(atom.right);
  if (atom.kind == Kind::Max) return emit("", "Max", 1, {left, right}, {})[0];
  // ONNX Div truncates, which is the floor where both are positive; elsewhere the remainder (sign of the divisor) is
  // taken off first, so that the division is exact.
  if (atom.left.lower_bound().value_or(-1) >= 0 && atom.right.lower_bound().value_or(-1) >= 0)
    return emit("", "Div", 1, {left, right}, {})[0];
  if (opset() < 10) {
    Rejection rejection("divides a size that may be negative, which needs ONNX `Mod`");
    rejection.first_opset = 10;
    throw rejection;
  }
  const Value rest = emit("", "Mod", 1, {left, right}, {})[0];
  return emit("", "Div", 1, {emit("", "Sub", 1, {left, rest}, {})[0], right}, {})[0];
}

Value Builder::size_vector(const Dim& dim) {
  if (const auto known = dim.known()) return int_vector({*known});
  Value sum;
  for (const detail::Term& term : dim.terms()) {
    Value product;
    for (const auto& factor : term.factors) {
      const Value v = atom_vector(*factor);
      product = product ? emit("", "Mul", 1, {product, v}, {})[0] : v;
    }
    if (term.coefficient == -1 && sum) {
      sum = emit("", "Sub", 1, {sum, product}, {})[0];
      continue;
    }
    if (term.coefficient != 1) product = emit("", "Mul", 1, {product, int_vector({term.coefficient})}, {})[0];
    sum = sum ? emit("", "Add", 1, {sum, product}, {})[0] : product;
  }
  if (dim.constant_term() != 0) sum = emit("", "Add", 1, {sum, int_vector({dim.constant_term()})}, {})[0];
  return sum;
}

Value Builder::size_value(const Dim& dim) {
  if (const auto known = dim.known()) return constant(Tensor::scalar(*known, DType::Int64));
  // A number that the graph already holds as such needs no detour over a vector.
  if (const auto symbol = dim.symbol_name())
    if (const auto source = sources_.find(*symbol);
        source != sources_.end() && !source->second.axis && source->second.value.rank() == std::size_t{0})
      return cast(source->second.value, DType::Int64);
  const Value vector = size_vector(dim);
  if (opset() >= 13) return emit("", "Squeeze", 1, {vector, int_vector({0})}, {})[0];
  return emit("", "Squeeze", 1, {vector}, {{"axes", std::vector<std::int64_t>{0}}})[0];
}

Value Builder::shape_value(const Shape& shape) {
  if (const auto known = static_shape(shape))
    return constant(Tensor::of_ints(*known, {static_cast<std::int64_t>(known->size())}));

  /// The axis of a tensor that a dim is read from.
  const auto axis_source = [this](const Dim& dim) -> std::optional<Source> {
    const auto symbol = dim.symbol_name();
    if (!symbol) return std::nullopt;
    const auto it = sources_.find(*symbol);
    if (it == sources_.end() || !it->second.axis) return std::nullopt;
    return it->second;
  };

  std::vector<Value> parts;
  for (std::size_t i = 0; i < shape.size();) {
    if (shape[i].is_static()) {
      std::vector<std::int64_t> run;
      for (; i < shape.size() && shape[i].is_static(); ++i) run.push_back(*shape[i].known());
      parts.push_back(constant(Tensor::of_ints(run, {static_cast<std::int64_t>(run.size())})));
      continue;
    }
    const auto source = axis_source(shape[i]);
    if (!source) {
      parts.push_back(size_vector(shape[i++]));
      continue;
    }
    // Neighbouring axes of one tensor come from one Shape node.
    std::int64_t end = *source->axis + 1;
    ++i;
    for (; i < shape.size(); ++i, ++end) {
      const auto next = axis_source(shape[i]);
      if (!next || next->value != source->value || *next->axis != end) break;
    }
    parts.push_back(axis_sizes(source->value, *source->axis, end));
  }
  if (parts.size() == 1) return parts[0];
  return emit("", "Concat", 1, parts, {{"axis", 0}})[0];
}

}  // namespace pt2onnx
