// Sliding blocks: nn.Unfold and nn.Fold.
#include "spatial.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using Ints = std::vector<std::int64_t>;

struct Blocks {
  Ints kernel, dilation, padding, stride;  // two each
};

Blocks read_blocks(Call& c) {
  return {c.ints("kernel_size", 2), c.ints("dilation", 2), c.ints("padding", 2), c.ints("stride", 2)};
}

/// positions[k, b]: where element k of block b is along one axis.
Value positions(Call& c, const Blocks& blocks, std::size_t i, const Dim& count) {
  const auto scaled = [&](const Dim& n, std::int64_t factor) {
    const auto numbers = onnx::range(c, 0, n * factor, factor);
    c.set_shape(numbers, {n});
    return numbers;
  };
  return onnx::add(c, onnx::unsqueeze(c, scaled(blocks.kernel[i], blocks.dilation[i]), {1}),
                   scaled(count, blocks.stride[i]));
}

// aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor
// [N, C, H, W] -> [N, C * kernel elements, blocks]
Results im2col(Call& c) {
  const auto input = with_batch(c, c.tensor("self"), 2);
  const auto blocks = read_blocks(c);
  const auto& pad = blocks.padding;
  auto x = onnx::pad(c, input.value, {{0, 0}, {0, 0}, {pad[0], pad[0]}, {pad[1], pad[1]}});
  const auto sizes = c.sizes_of(x);
  Shape counts;
  for (std::size_t i = 0; i < 2; ++i)
    counts.push_back(
        floor_div(sizes[i + 2] - (blocks.dilation[i] * (blocks.kernel[i] - 1) + 1), blocks.stride[i]) + 1);
  x = onnx::gather(c, x, positions(c, blocks, 0, counts[0]), 2);  // [N, C, kernel h, blocks h, W]
  x = onnx::gather(c, x, positions(c, blocks, 1, counts[1]), 4);  // [..., kernel w, blocks w]
  x = onnx::transpose(c, x, {0, 1, 2, 4, 3, 5});
  x = onnx::reshape(c, x,
                    {sizes[0], sizes[1] * (blocks.kernel[0] * blocks.kernel[1]), counts[0] * counts[1]});
  return input.restore(c, x);
}

// aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride)
Results col2im(Call& c) {
  const auto input = with_batch(c, c.tensor("self"), 1);  // [N, C * kernel elements, blocks]
  const auto blocks = read_blocks(c);
  const auto output = c.sizes("output_size");
  const auto y = c.op("Col2Im", {input.value, c.shape_value(output), c.constant(blocks.kernel)},
                      {{"dilations", blocks.dilation},
                       {"pads", joined(blocks.padding, blocks.padding)},
                       {"strides", blocks.stride}});
  const auto sizes = c.sizes_of(input.value);
  const Dim elements = blocks.kernel[0] * blocks.kernel[1];
  c.set_shape(y, {sizes[0], floor_div(sizes[1], elements), output.at(0), output.at(1)});
  return input.restore(c, y);
}

constexpr Entry kTable[] = {
    {"aten::col2im", 18, col2im, by_parts},
    {"aten::im2col", 9, im2col, by_parts},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> patches_table() { return kTable; }

}  // namespace pt2onnx
