#include "interpreter/kernel_results.h"

#include <algorithm>

#include "interpreter/sample_arguments.h"

namespace pt2onnx {
namespace {

using program::Literal;
using Sizes = std::map<std::string, std::int64_t>;

std::optional<std::vector<Literal>> run(Folder& folder, const program::Schema& schema,
                                        const Call::Arguments& arguments, SampleArguments& sample,
                                        bool zeros) {
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
Dim dim_of(std::int64_t first, const std::int64_t* second, SampleArguments& a, SampleArguments& b) {
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
    const auto elements = zeros ? SampleArguments::Elements::Zeros : SampleArguments::Elements::None;
    SampleArguments a(example_sizes, 0, elements), b(example_sizes, 1, elements);
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
