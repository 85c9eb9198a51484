#include "interpreter/kernel_results.h"

#include <algorithm>
#include <set>

#include "registry/literal.h"

namespace pt2onnx {
namespace {

using program::Literal;
using Sizes = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

/// The arguments of one run, at one choice of the dynamic sizes.
class Sample {
 public:
  Sample(const Sizes& examples, bool second, bool zeros)
      : examples_(examples), second_(second), zeros_(zeros) {}

  /// Nullopt for what cannot be made up: a number that the graph computes, a tensor of unknown rank.
  std::optional<Literal> literal(const Argument& argument) {
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

  std::optional<std::int64_t> size_of(const Dim& dim) {
    return dim.evaluate(
        [&](const std::string& symbol) -> std::optional<std::int64_t> { return size_of(symbol); });
  }
  /// Sizes of the second run differ from those of the first, each by another amount.
  std::int64_t size_of(const std::string& symbol) {
    const auto it = examples_.find(symbol);
    const std::int64_t first = it == examples_.end() ? 3 : it->second;
    const auto [step, fresh] = steps_.try_emplace(symbol, static_cast<std::int64_t>(steps_.size()) + 1);
    return second_ ? first + step->second : first;
  }
  const std::map<std::string, std::int64_t>& symbols() const { return steps_; }

 private:
  std::optional<Literal> tensor(Value v) {
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
      if (elements > kMostElements && zeros_) return std::nullopt;
    }
    if (!zeros_) return Literal{tensor};
    const auto bytes = static_cast<std::size_t>(tensor.numel()) * size_of_element(tensor.dtype);
    return Literal{Tensor::of_bytes(std::vector<std::byte>(bytes), tensor.dims, tensor.dtype)};
  }
  static std::size_t size_of_element(DType dtype) { return pt2onnx::size_of(dtype); }

  const Sizes& examples_;
  bool second_, zeros_;
  std::map<std::string, std::int64_t> steps_;
};

std::optional<std::vector<Literal>> run(Folder& folder, const program::Schema& schema,
                                        const Call::Arguments& arguments, Sample& sample, bool zeros) {
  std::vector<Literal> literals;
  for (const Argument& argument : arguments) {
    auto literal = sample.literal(argument);
    if (!literal) return std::nullopt;
    literals.push_back(std::move(*literal));
  }
  auto result = zeros ? folder.evaluate(schema, literals) : folder.evaluate_types(schema, literals);
  if (!result.ok()) return std::nullopt;
  return std::move(result.values);
}

/// The tensors of a result; nullopt when it holds anything else.
std::optional<std::vector<Tensor>> tensors_of(const Literal& literal, bool& is_list) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data)) return std::vector{*tensor};
  const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data);
  if (!list) return std::nullopt;
  is_list = true;
  std::vector<Tensor> tensors;
  for (const Literal& item : (*list)->items) {
    const auto* tensor = std::get_if<Tensor>(&item.data);
    if (!tensor) return std::nullopt;
    tensors.push_back(*tensor);
  }
  return tensors;
}

Dim open_dim() { return Dim::symbol("?"); }

/// A size that is equal in both runs is that number; one that follows a dynamic dim in both is that dim.
Dim dim_of(std::int64_t first, const std::int64_t* second, Sample& a, Sample& b) {
  if (!second) return a.symbols().empty() ? Dim(first) : open_dim();
  if (first == *second) return Dim(first);
  for (const auto& [symbol, step] : a.symbols())
    if (a.size_of(symbol) == first && b.size_of(symbol) == *second) return Dim::symbol(symbol);
  return open_dim();
}

}  // namespace

std::optional<std::vector<KernelResult>> kernel_results(Folder& folder, const program::Schema& schema,
                                                        const Call::Arguments& arguments,
                                                        const Sizes& example_sizes) {
  for (const bool zeros : {false, true}) {
    Sample a(example_sizes, false, zeros), b(example_sizes, true, zeros);
    const auto first = run(folder, schema, arguments, a, zeros);
    if (!first) continue;
    std::optional<std::vector<Literal>> second;
    if (!a.symbols().empty()) second = run(folder, schema, arguments, b, zeros);
    std::vector<KernelResult> results;
    for (std::size_t i = 0; i < first->size(); ++i) {
      KernelResult result;
      bool is_list = false;
      const auto ours = tensors_of((*first)[i], result.is_list);
      if (!ours) return std::nullopt;
      const auto theirs = second ? tensors_of((*second)[i], is_list) : std::nullopt;
      if (theirs && theirs->size() != ours->size()) return std::nullopt;  // as long as the input says
      for (std::size_t t = 0; t < ours->size(); ++t) {
        ValueType type;
        type.dtype = (*ours)[t].dtype;
        const auto& dims = (*ours)[t].dims;
        const bool same_rank = !theirs || (*theirs)[t].dims.size() == dims.size();
        if (same_rank) type.shape.emplace();
        for (std::size_t axis = 0; same_rank && axis < dims.size(); ++axis)
          type.shape->push_back(dim_of(dims[axis], theirs ? &(*theirs)[t].dims[axis] : nullptr, a, b));
        result.tensors.push_back(std::move(type));
      }
      results.push_back(std::move(result));
    }
    return results;
  }
  return std::nullopt;
}

}  // namespace pt2onnx
