#include "driver/example_inputs.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace pt2onnx {
namespace {

/// The same numbers on every machine: the distributions of the standard library differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }  // in [0, 1)

  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(limit));
  }

 private:
  std::mt19937_64 engine_;
};

std::int64_t draw(Random& random, IntegerRange range) {
  switch (range) {
    case IntegerRange::UpToSeven: return random.below(8);
    case IntegerRange::UpToOne: return random.below(2);
    case IntegerRange::AllOnes: return 1;
    case IntegerRange::AllZeros: return 0;
  }
  return 0;
}

Tensor random_tensor(DType dtype, const Sizes& sizes, IntegerRange integers, Random& random) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  if (is_floating(dtype)) {
    std::vector<double> values(count);
    for (double& value : values) value = random.normal();
    return Tensor::of_doubles(values, sizes, dtype);
  }
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = dtype == DType::Bool ? random.below(2) : draw(random, integers);
  return Tensor::of_ints(values, sizes, dtype);
}

/// A complex number is two real ones in memory.
Tensor random_complex(DType dtype, const Sizes& sizes, Random& random) {
  Sizes parts = sizes;
  parts.push_back(2);
  Tensor tensor = random_tensor(real_of(dtype), parts, IntegerRange::AllZeros, random);
  tensor.dtype = dtype;
  tensor.dims = sizes;
  return tensor;
}

}  // namespace

Sizes sizes_of(const InputTensor& tensor, const SymbolSizes& sizes) {
  Sizes result;
  for (const Dim& dim : tensor.input.shape) {
    const auto size = dim.evaluate([&](const std::string& symbol) -> std::optional<std::int64_t> {
      const auto it = sizes.find(symbol);
      return it == sizes.end() ? std::nullopt : std::optional(it->second);
    });
    result.push_back(size.value());  // the dims of inputs are numbers and symbols of `sizes`
  }
  return result;
}

std::map<std::string, Tensor> example_tensors(const BoundInputs& bound, const SymbolSizes& sizes,
                                              IntegerRange integers, std::uint64_t round) {
  std::map<std::string, Tensor> tensors;
  std::uint64_t seed = 20240229 + 1000 * round;
  for (const InputTensor& input : bound.tensors) {
    Random random(seed++);  // of its own, so that an input keeps its values when another one changes size
    const Sizes wanted = sizes_of(input, sizes);
    const DType dtype = input.input.dtype;
    Tensor tensor = input.data && input.data->dims == wanted ? *input.data
                    : is_complex(dtype)                      ? random_complex(dtype, wanted, random)
                                                             : random_tensor(dtype, wanted, integers, random);
    tensors.emplace(input.input.name, std::move(tensor));
  }
  return tensors;
}

std::string describe(const BoundInputs& bound, const SymbolSizes& sizes) {
  std::string text;
  for (const InputTensor& input : bound.tensors)
    text += fmt::format("{}{} {}[{}]", text.empty() ? "" : ", ", input.input.name,
                        to_string(input.input.dtype), fmt::join(sizes_of(input, sizes), ","));
  return text.empty() ? "no inputs" : text;
}

}  // namespace pt2onnx
