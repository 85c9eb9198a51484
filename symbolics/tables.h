// The table of each family, by name. A new file of symbolic functions adds a line here and one in all.cpp.
#pragma once

#include <span>

#include "pt2onnx/registry.h"

namespace pt2onnx {

std::span<const Entry> activation_table();
std::span<const Entry> arithmetic_table();
std::span<const Entry> attention_table();
std::span<const Entry> compare_table();
std::span<const Entry> convolution_table();
std::span<const Entry> create_table();
std::span<const Entry> gather_table();
std::span<const Entry> linear_table();
std::span<const Entry> norm_table();
std::span<const Entry> pool_table();
std::span<const Entry> reduce_table();
std::span<const Entry> resize_table();
std::span<const Entry> rnn_table();
std::span<const Entry> scatter_table();
std::span<const Entry> shape_table();
std::span<const Entry> sort_table();

}  // namespace pt2onnx
