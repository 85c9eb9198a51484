#include "driver/reference.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "driver/example_inputs.h"

namespace pt2onnx {
namespace {

using program::Literal;

void flatten(const Literal& value, std::vector<Tensor>& out) {
  if (const auto* tensor = std::get_if<Tensor>(&value.data)) {
    out.push_back(*tensor);
  } else if (auto number = number_tensor(value)) {
    out.push_back(std::move(*number));
  } else if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&value.data)) {
    for (const Literal& item : (*list)->items) flatten(item, out);
  } else if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&value.data)) {
    for (const Literal& item : (*tuple)->items) flatten(item, out);
  } else if (const auto* dict = std::get_if<std::shared_ptr<program::DictLiteral>>(&value.data)) {
    for (const auto& [key, item] : (*dict)->items) flatten(item, out);
  }
}

bool draws_integers(const BoundInputs& bound) {
  return std::any_of(bound.tensors.begin(), bound.tensors.end(),
                     [](const InputTensor& t) { return is_integral(t.input.dtype) && !t.data; });
}

}  // namespace

std::optional<Tensor> number_tensor(const Literal& value) {
  if (const auto* flag = std::get_if<bool>(&value.data))
    return Tensor::scalar(std::int64_t{*flag}, DType::Bool);
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return Tensor::scalar(*whole, DType::Int64);
  if (const auto* real = std::get_if<double>(&value.data)) return Tensor::scalar(*real, DType::Float64);
  return std::nullopt;
}

std::vector<Tensor> flatten_outputs(const Literal& result) {
  std::vector<Tensor> outputs;
  flatten(result, outputs);
  return outputs;
}

std::optional<ReferenceRun> run_reference(TorchModule& module, const BoundInputs& bound,
                                          const SymbolSizes& sizes, std::string& refusal) {
  refusal.clear();
  for (const IntegerRange range : kIntegerRanges) {
    ReferenceRun run;
    run.sizes = sizes;
    run.inputs = example_tensors(bound, sizes, range);
    try {
      run.outputs = flatten_outputs(module.run(argument_values(bound, run.inputs)));
      return run;
    } catch (const std::runtime_error& e) {
      if (refusal.empty()) refusal = e.what();
    }
    if (!draws_integers(bound)) break;
  }
  return std::nullopt;
}

std::vector<SymbolSizes> other_sizes(const BoundInputs& bound, const SymbolSizes& sizes) {
  std::map<std::string, std::set<std::size_t>> axes;
  for (const InputTensor& tensor : bound.tensors)
    for (std::size_t axis = 0; axis < tensor.input.shape.size(); ++axis)
      if (const auto symbol = tensor.input.shape[axis].symbol_name()) axes[*symbol].insert(axis);

  std::vector<SymbolSizes> combinations;
  const auto grown = [](std::int64_t size) { return size + 1; };
  const auto doubled = [](std::int64_t size) { return std::max<std::int64_t>(1, size * 2); };
  const auto add = [&](const auto& is_chosen, const auto& changed) {
    SymbolSizes other = sizes;
    for (auto& [symbol, size] : other)
      if (is_chosen(symbol) && !bound.pinned.contains(symbol)) size = changed(size);
    if (other != sizes && std::find(combinations.begin(), combinations.end(), other) == combinations.end())
      combinations.push_back(std::move(other));
  };
  const auto add_where = [&](const auto& on_axis) {
    const auto is_chosen = [&](const std::string& symbol) {
      const auto& places = axes[symbol];
      return std::all_of(places.begin(), places.end(), on_axis);
    };
    add(is_chosen, grown);
    add(is_chosen, doubled);
  };
  add_where([](std::size_t) { return true; });
  add_where([](std::size_t axis) { return axis != 1; });
  add_where([](std::size_t axis) { return axis == 0; });
  add_where([](std::size_t axis) { return axis >= 2; });
  add_where([](std::size_t axis) { return axis == 1; });
  for (const auto& [symbol, size] : sizes)
    add([&](const std::string& other) { return other == symbol; }, doubled);
  return combinations;
}

}  // namespace pt2onnx
