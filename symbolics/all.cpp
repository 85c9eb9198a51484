#include "symbolics/tables.h"

namespace pt2onnx {

Registry builtin_registry() {
  Registry registry;
  for (const auto table : {
           activation_table(), arithmetic_table(),  attention_table(),  bessel_table(),     compare_table(),
           complex_table(),    convolution_table(), create_table(),     fft_table(),        gamma_table(),
           gather_table(),     histogram_table(),   join_table(),       linear_table(),     logic_table(),
           loss_table(),       norm_table(),        orthogonal_table(), pad_table(),        patches_table(),
           pointwise_table(),  divisors_table(),    dropout_table(),    pool_table(),       quantized_table(),
           random_table(),     reduce_table(),      resize_table(),     rnn_table(),        sample_table(),
           scan_table(),       scatter_table(),     shape_table(),      slice_table(),      solve_table(),
           sort_table(),       special_table(),     spectrum_table(),   statistics_table(), stft_table(),
           strided_table(),    vision_table(),
       })
    registry.add(table);
  registry.add(Registry::Form::Complex, complex_forms());
  registry.add(Registry::Form::Quantized, quantized_forms());
  return registry;
}

}  // namespace pt2onnx
