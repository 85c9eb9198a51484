// Example values for the graph's inputs: those of --input-data, else random ones with a fixed seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "driver/bind_inputs.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx {

/// What integers are drawn from. Nothing says whether they are indices into a table of 2 or of 30,000, so whoever runs
/// the module tries one after the other until it accepts them.
enum class IntegerRange { UpToSeven, UpToOne, AllOnes, AllZeros };
inline constexpr IntegerRange kIntegerRanges[] = {IntegerRange::UpToSeven, IntegerRange::UpToOne,
                                                  IntegerRange::AllOnes, IntegerRange::AllZeros};

/// One tensor per graph input, by its name. Values of --input-data are used where their sizes are those asked for.
/// Another `round` has other random numbers.
std::map<std::string, Tensor> example_tensors(const BoundInputs& bound, const SymbolSizes& sizes,
                                              IntegerRange integers, std::uint64_t round = 0);

/// The sizes of an input when the symbols have these values.
Sizes sizes_of(const InputTensor& tensor, const SymbolSizes& sizes);

/// "x float32[1,3,224,224], k int64[5]"
std::string describe(const BoundInputs& bound, const SymbolSizes& sizes);

}  // namespace pt2onnx
