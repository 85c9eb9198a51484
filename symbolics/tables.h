// The table of each family, by name. A new file of symbolic functions adds a line here and one in all.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "pt2onnx/registry.h"

namespace pt2onnx {

/// By name, then by opset: a row that is there twice, or out of its place, does not compile.
template <std::size_t N>
consteval bool strictly_ascending(const Entry (&table)[N]) {
  for (std::size_t i = 1; i < N; ++i) {
    const Entry &a = table[i - 1], &b = table[i];
    if (a.name > b.name || (a.name == b.name && a.since >= b.since)) return false;
  }
  return true;
}

std::span<const Entry> activation_table();
std::span<const Entry> arithmetic_table();
std::span<const Entry> attention_table();
std::span<const Entry> bessel_table();
std::span<const Entry> compare_table();
std::span<const Entry> complex_forms();  // not among the others: Registry::Form
std::span<const Entry> complex_table();
std::span<const Entry> convolution_table();
std::span<const Entry> create_table();
std::span<const Entry> divisors_table();
std::span<const Entry> dropout_table();
std::span<const Entry> fft_table();
std::span<const Entry> gamma_table();
std::span<const Entry> gather_table();
std::span<const Entry> histogram_table();
std::span<const Entry> join_table();
std::span<const Entry> linear_table();
std::span<const Entry> logic_table();
std::span<const Entry> loss_table();
std::span<const Entry> norm_table();
std::span<const Entry> orthogonal_table();
std::span<const Entry> pad_table();
std::span<const Entry> patches_table();
std::span<const Entry> pointwise_table();
std::span<const Entry> pool_table();
std::span<const Entry> quantized_forms();
std::span<const Entry> quantized_table();
std::span<const Entry> random_table();
std::span<const Entry> reduce_table();
std::span<const Entry> resize_table();
std::span<const Entry> rnn_table();
std::span<const Entry> sample_table();
std::span<const Entry> scan_table();
std::span<const Entry> scatter_table();
std::span<const Entry> shape_table();
std::span<const Entry> slice_table();
std::span<const Entry> solve_table();
std::span<const Entry> sort_table();
std::span<const Entry> special_table();
std::span<const Entry> spectrum_table();
std::span<const Entry> statistics_table();
std::span<const Entry> stft_table();
std::span<const Entry> strided_table();
std::span<const Entry> vision_table();

}  // namespace pt2onnx
