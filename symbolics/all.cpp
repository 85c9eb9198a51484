#include "tables.h"

namespace pt2onnx {

Registry builtin_registry() {
  Registry registry;
  for (const auto table :
       {activation_table(), arithmetic_table(), attention_table(), compare_table(), convolution_table(), create_table(),
        gather_table(), linear_table(), norm_table(), pool_table(), reduce_table(), resize_table(), rnn_table(),
        scatter_table(), shape_table(), sort_table()})
    registry.add(table);
  return registry;
}

}  // namespace pt2onnx
