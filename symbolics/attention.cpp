// Attention, from the single operator to the fast paths of nn.MultiheadAttention and nn.TransformerEncoderLayer.
#include <cmath>
#include <limits>
#include <numbers>

#include "blocks.h"
#include "dropout.h"
#include "onnx.h"
#include "promotion.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::add;
using onnx::matmul;
using onnx::mul;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value swap_last_two(Call& c, Value x) {
  const auto rank = static_cast<std::int64_t>(c.rank(x));
  return onnx::swap_axes(c, x, rank - 2, rank - 1);
}

/// What is added to the scores: a bool mask becomes 0 / -inf.
Value additive(Call& c, Value mask, Value like) {
  const auto dtype = c.dtype_of(like);
  if (c.dtype_of(mask) != DType::Bool) return onnx::cast(c, mask, dtype);
  return onnx::where(c, mask, onnx::constant_like(c, 0, like), onnx::constant_like(c, -kInfinity, like));
}

/// Heads of key or value repeated until there are as many as of query: [b, g, l, e] -> [b, g * n, l, e].
Value repeated_heads(Call& c, Value x, const Dim& heads) {
  const auto sizes = c.sizes_of(x);
  const auto rank = sizes.size();
  if (rank < 3 || sizes[rank - 3] == heads) return x;
  const auto times = floor_div(heads, sizes[rank - 3]);
  Shape spread = sizes, merged = sizes;
  spread.insert(spread.end() - 2, times);
  merged[rank - 3] = heads;
  return onnx::reshape(
      c, onnx::expand(c, onnx::unsqueeze(c, x, {static_cast<std::int64_t>(rank) - 2}), spread), merged);
}

/// The scores before the mask: query times key, scaled. In half precision both sides take the root of the scale, so that
/// the product stays finite, as torch does.
Value scaled_scores(Call& c, const Attention& a, Value key) {
  const auto dtype = c.dtype_of(a.query);
  const bool half = dtype == DType::Float16 || dtype == DType::BFloat16;
  const auto width = c.size_of(a.query, -1).known();
  Value factor;
  if (a.scale || width) {
    const auto scale = a.scale.value_or(1 / std::sqrt(static_cast<double>(width.value_or(1))));
    if (half && scale < 0) c.reject("a negative scale");
    factor = c.constant(half ? std::sqrt(scale) : scale, dtype);
  } else {
    const auto root = onnx::sqrt(c, c.scalar_value(c.size_of(a.query, -1), DType::Float32));
    factor = onnx::cast(c, onnx::reciprocal(c, half ? onnx::sqrt(c, root) : root), dtype);
  }
  key = swap_last_two(c, key);
  return matmul(c, mul(c, a.query, factor), half ? mul(c, key, factor) : key);
}

/// Whether some row of the mask may have nothing that takes part. Its result is zero in torch, not NaN.
bool may_have_empty_rows(const Attention& a) {
  if (!a.mask) return false;
  const auto* mask = a.mask.constant();
  if (!mask || mask->dims.empty() || mask->dims.back() == 0) return true;
  const auto values = mask->to_doubles();
  const auto width = static_cast<std::size_t>(mask->dims.back());
  for (std::size_t row = 0; row < values.size(); row += width) {
    bool used = false;
    for (std::size_t i = 0; i < width; ++i)
      used = used || (mask->dtype == DType::Bool ? values[row + i] != 0 : values[row + i] != -kInfinity);
    if (!used) return true;
  }
  return false;
}

Value attention_by_parts(Call& c, const Attention& a) {
  auto key = a.key;
  auto value = a.value;
  if (a.grouped) {
    const auto heads = c.size_of(a.query, -3);
    key = repeated_heads(c, key, heads);
    value = repeated_heads(c, value, heads);
  }
  auto scores = scaled_scores(c, a, key);
  auto mask = a.mask;
  if (a.causal) mask = onnx::triangle(c, c.size_of(a.query, -2), c.size_of(key, -2), 0, false);
  if (mask) scores = add(c, scores, additive(c, mask, scores));
  auto weights = onnx::softmax(c, scores, -1);
  if (may_have_empty_rows(a))
    weights = onnx::where(c, onnx::is_nan(c, weights), onnx::constant_like(c, 0, weights), weights);
  return matmul(c, a.dropout > 0 ? dropped(c, weights, a.dropout) : weights, value);
}

/// ONNX Attention takes four dims, does not broadcast batch and heads, and drops nothing.
bool fits_node(Call& c, const Attention& a) {
  if (!c.has_opset(23) || a.dropout > 0 || !is_floating(c.dtype_of(a.query))) return false;
  for (const auto x : {a.query, a.key, a.value})
    if (c.rank(x) != 4) return false;
  const auto query = c.sizes_of(a.query), key = c.sizes_of(a.key), value = c.sizes_of(a.value);
  if (!(query[0] == key[0] && key[0] == value[0] && key[1] == value[1])) return false;
  if (!a.grouped && !(query[1] == key[1])) return false;
  return !a.scale || *a.scale > 0;
}

Attention read_attention(Call& c) {
  Attention a;
  a.query = c.tensor("query");
  a.key = c.tensor("key");
  a.value = c.tensor("value");
  a.mask = c.optional_tensor("attn_mask");
  a.causal = c.flag("is_causal");
  a.grouped = c.has("enable_gqa") && c.flag("enable_gqa");
  a.scale = c.optional_number("scale");
  a.dropout = c.number("dropout_p");
  return a;
}

// aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
//     float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor
Results scaled_dot_product_attention(Call& c) { return attention(c, read_attention(c)); }

// aten::_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor
// The mask is true where an element does not take part.
Value masked_softmax_of(Call& c, Value x, Value mask, std::int64_t axis) {
  return onnx::softmax(c, onnx::where(c, mask, onnx::constant_like(c, -kInfinity, x), x), axis);
}

/// Room for the dims that a mask of that type leaves out: 0 is [length, length], 1 is [batch, length].
Value spread_mask(Call& c, Value mask, std::optional<std::int64_t> type) {
  if (type == 1) return onnx::unsqueeze(c, mask, {1, 2});
  return mask;
}

Results masked_softmax(Call& c) {
  const auto x = c.tensor("self");
  const auto mask = spread_mask(c, c.tensor("mask"), c.optional_integer("mask_type"));
  const auto dim = c.optional_integer("dim").value_or(-1);
  return masked_softmax_of(c, x, mask, c.normalize_axis(dim, c.rank(x)));
}

// ---- multi-head attention ------------------------------------------------------------------------------------------

struct MultiHead {
  Value query, key, value;                             // [batch, length, embed]
  Value qkv_weight, qkv_bias, proj_weight, proj_bias;  // [3 * embed, embed], ...
  Value mask;                                          // true: left out; absent for none
  std::optional<std::int64_t> mask_type;
  std::int64_t embed = 0, heads = 1;
};

/// [batch, length, embed] -> [batch, heads, length, embed / heads]
Value by_heads(Call& c, Value x, const MultiHead& m) {
  const auto sizes = c.sizes_of(x);
  return onnx::transpose(c, onnx::reshape(c, x, {sizes[0], sizes[1], Dim(m.heads), Dim(m.embed / m.heads)}),
                         {0, 2, 1, 3});
}

std::vector<Value> projected(Call& c, const MultiHead& m) {
  const Shape thirds(3, Dim(m.embed));
  if (m.query == m.key && m.key == m.value)
    return onnx::split(c, linear(c, m.query, m.qkv_weight, m.qkv_bias), 2, thirds);
  const auto weights = onnx::split(c, m.qkv_weight, 0, thirds);
  const auto biases = onnx::split(c, m.qkv_bias, 0, thirds);
  return {linear(c, m.query, weights[0], biases[0]), linear(c, m.key, weights[1], biases[1]),
          linear(c, m.value, weights[2], biases[2])};
}

/// Joined heads, projected.
Value projected_out(Call& c, Value context, const MultiHead& m) {
  const auto sizes = c.sizes_of(context);  // [batch, heads, length, width]
  const auto joined =
      onnx::reshape(c, onnx::transpose(c, context, {0, 2, 1, 3}), {sizes[0], sizes[2], Dim(m.embed)});
  return linear(c, joined, m.proj_weight, m.proj_bias);
}

struct MultiHeadResult {
  Value output, weights;  // weights: [batch, heads, length, length]
};

MultiHeadResult multi_head_with_weights(Call& c, const MultiHead& m) {
  auto qkv = projected(c, m);
  for (auto& x : qkv) x = by_heads(c, x, m);
  const auto scale = c.constant(1 / std::sqrt(static_cast<double>(m.embed / m.heads)), c.dtype_of(m.query));
  const auto scores = matmul(c, mul(c, qkv[0], scale), swap_last_two(c, qkv[1]));
  const auto weights = m.mask ? masked_softmax_of(c, scores, spread_mask(c, m.mask, m.mask_type), 3)
                              : onnx::softmax(c, scores, 3);
  return {projected_out(c, matmul(c, weights, qkv[2]), m), weights};
}

Value multi_head(Call& c, const MultiHead& m) {
  if (m.mask) return multi_head_with_weights(c, m).output;  // an empty row is NaN here, unlike in `attention`
  auto qkv = projected(c, m);
  for (auto& x : qkv) x = by_heads(c, x, m);
  Attention a;
  a.query = qkv[0];
  a.key = qkv[1];
  a.value = qkv[2];
  return projected_out(c, attention(c, a), m);
}

MultiHead read_multi_head(Call& c) {
  MultiHead m;
  m.qkv_weight = c.tensor("qkv_weight");
  m.qkv_bias = c.tensor("qkv_bias");
  m.proj_weight = c.tensor("proj_weight");
  m.proj_bias = c.tensor("proj_bias");
  m.mask = c.optional_tensor("mask");
  if (m.mask) m.mask = onnx::cast(c, m.mask, DType::Bool);
  m.mask_type = c.optional_integer("mask_type");
  m.embed = c.integer("embed_dim");
  m.heads = c.integer(c.has("num_head") ? "num_head" : "num_heads");
  return m;
}

// aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head,
//     Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None,
//     bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor weights)
Results native_multi_head_attention(Call& c) {
  auto m = read_multi_head(c);
  m.query = c.tensor("query");
  m.key = c.tensor("key");
  m.value = c.tensor("value");
  if (!c.flag("need_weights")) return {multi_head(c, m), Argument()};
  const auto result = multi_head_with_weights(c, m);
  const bool average = c.flag("average_attn_weights");
  return {result.output,
          average ? onnx::reduce(c, "ReduceMean", result.weights, {1}, false) : result.weights};
}

// aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias,
//     Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1,
//     Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1,
//     Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor
Results transformer_encoder_layer(Call& c) {
  const auto src = c.tensor("src");
  auto m = read_multi_head(c);
  const bool norm_first = c.flag("norm_first");
  const auto norm = [&](Value x, const char* weight, const char* bias) {
    return layer_norm(c, x, {Dim(m.embed)}, c.tensor(weight), c.tensor(bias), c.number("eps"));
  };

  m.query = norm_first ? norm(src, "norm_weight_1", "norm_bias_1") : src;
  m.key = m.value = m.query;
  auto x = add(c, src, multi_head(c, m));
  if (!norm_first) x = norm(x, "norm_weight_1", "norm_bias_1");

  const auto before = x;
  if (norm_first) x = norm(x, "norm_weight_2", "norm_bias_2");
  x = linear(c, x, c.tensor("ffn_weight_1"), c.tensor("ffn_bias_1"));
  x = c.flag("use_gelu") ? gelu(c, x) : c.op("Relu", {x});
  x = add(c, before, linear(c, x, c.tensor("ffn_weight_2"), c.tensor("ffn_bias_2")));
  return norm_first ? x : norm(x, "norm_weight_2", "norm_bias_2");
}

constexpr Entry kTable[] = {
    {"aten::_masked_softmax", 9, masked_softmax},
    {"aten::_native_multi_head_attention", 9, native_multi_head_attention},
    {"aten::_transformer_encoder_layer_fwd", 9, transformer_encoder_layer},
    {"aten::scaled_dot_product_attention", 9, scaled_dot_product_attention},
};
static_assert(strictly_ascending(kTable));

}  // namespace

Value gelu(Call& c, Value x) {
  if (c.has_opset(20)) return c.op("Gelu", {x});
  const auto number = [&](double v) { return onnx::constant_like(c, v, x); };
  const auto curve = c.op("Erf", {onnx::div(c, x, number(std::numbers::sqrt2))});
  return mul(c, mul(c, x, add(c, curve, number(1))), number(0.5));
}

Value attention(Call& c, const Attention& a) {
  if (!fits_node(c, a)) return attention_by_parts(c, a);
  const auto y =
      c.op("Attention", {a.query, a.key, a.value, a.mask}, {{"is_causal", a.causal}, {"scale", a.scale}});
  auto shape = c.sizes_of(a.query);
  shape[3] = c.size_of(a.value, 3);
  c.set_shape(y, shape);
  return y;
}

std::span<const Entry> attention_table() { return kTable; }

}  // namespace pt2onnx
