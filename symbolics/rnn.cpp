// Recurrent networks. torch's weights are per gate, in another order than ONNX's; the pieces are cut and joined here,
// at export, so that they end as initializers.
#include <algorithm>
#include <array>

#include "blocks.h"
#include "onnx.h"
#include "tables.h"

namespace pt2onnx {
namespace {

using onnx::add;
using onnx::mul;
using onnx::sub;

/// How a kind of network is spelled in ONNX. `gates`: for each ONNX gate, the place of that gate in torch's weights.
struct Kind {
  std::string_view op;
  std::size_t gate_count;
  std::array<std::int64_t, 4> gates;
  std::string_view activation;  // of a plain RNN
  bool has_cell;
};

constexpr Kind kLstm{"LSTM", 4, {0, 3, 1, 2}, "", true};  // torch: i f g o; ONNX: i o f c
constexpr Kind kGru{"GRU", 3, {1, 0, 2}, "", false};      // torch: r z n; ONNX: z r h
constexpr Kind kTanh{"RNN", 1, {0}, "Tanh", false};
constexpr Kind kRelu{"RNN", 1, {0}, "Relu", false};

struct Network {
  const Kind* kind = nullptr;
  std::vector<Value> params;
  bool biases = true;
  std::int64_t layers = 1, directions = 1;
  std::int64_t hidden = 0;
};

struct State {
  Value hidden, cell;  // [layers * directions, batch, hidden]
};

/// One direction of one layer: the four (or two) tensors as torch lists them.
struct Weights {
  Value input, recurrent, input_bias, recurrent_bias;
};

Weights weights_of(const Network& n, std::int64_t layer, std::int64_t direction) {
  const auto each = static_cast<std::size_t>(n.biases ? 4 : 2);
  const auto at = static_cast<std::size_t>(layer * n.directions + direction) * each;
  Weights w{n.params.at(at), n.params.at(at + 1), {}, {}};
  if (n.biases) {
    w.input_bias = n.params.at(at + 2);
    w.recurrent_bias = n.params.at(at + 3);
  }
  return w;
}

/// Gates in ONNX's order; a leading dim for the direction.
Value reordered(Call& c, const Network& n, Value weight) {
  std::vector<Value> parts;
  if (n.kind->gate_count > 1) {
    for (std::size_t i = 0; i < n.kind->gate_count; ++i)
      parts.push_back(
          onnx::slice(c, weight, 0, n.kind->gates[i] * n.hidden, (n.kind->gates[i] + 1) * n.hidden));
    weight = onnx::concat(c, parts, 0);
  }
  return onnx::unsqueeze(c, weight, {0});
}

struct NodeWeights {
  Value input, recurrent, bias;  // [directions, gates * hidden, ...]
};

NodeWeights node_weights(Call& c, const Network& n, std::int64_t layer) {
  std::vector<Value> input, recurrent, bias;
  for (std::int64_t d = 0; d < n.directions; ++d) {
    const auto w = weights_of(n, layer, d);
    input.push_back(reordered(c, n, w.input));
    recurrent.push_back(reordered(c, n, w.recurrent));
    if (n.biases)
      bias.push_back(onnx::concat(c, {reordered(c, n, w.input_bias), reordered(c, n, w.recurrent_bias)}, 1));
  }
  return {onnx::concat(c, input, 0), onnx::concat(c, recurrent, 0),
          n.biases ? onnx::concat(c, bias, 0) : Value()};
}

/// ONNX starts from zero by itself.
Value unless_zero(Value v) {
  const auto* tensor = v ? v.constant() : nullptr;
  if (tensor && std::ranges::all_of(tensor->bytes, [](std::byte b) { return b == std::byte{0}; })) return {};
  return v;
}

struct LayerResult {
  Value sequence;  // [time, batch, directions * hidden]
  State last;      // [directions, batch, hidden]
};

/// `lengths`: int32 [batch], absent when every sequence has the full length.
LayerResult layer(Call& c, const Network& n, std::int64_t index, Value x, const State& start, Value lengths) {
  const auto weights = node_weights(c, n, index);
  const auto part = [&](Value state) {
    return state ? unless_zero(onnx::slice(c, state, 0, index * n.directions, (index + 1) * n.directions))
                 : state;
  };
  std::vector<Value> inputs = {x,       weights.input,     weights.recurrent, weights.bias,
                               lengths, part(start.hidden)};
  if (n.kind->has_cell) inputs.push_back(part(start.cell));
  Attributes attributes{{"hidden_size", n.hidden},
                        {"direction", n.directions == 2 ? "bidirectional" : "forward"}};
  if (!n.kind->activation.empty())
    attributes.set({"activations", std::vector<std::string>(static_cast<std::size_t>(n.directions),
                                                            std::string(n.kind->activation))});
  if (n.kind == &kGru) attributes.set({"linear_before_reset", 1});

  const auto outputs = c.op(n.kind->op, n.kind->has_cell ? 3 : 2, inputs, attributes);
  const auto sizes = c.sizes_of(x);
  c.set_shape(outputs[0], {sizes[0], Dim(n.directions), sizes[1], Dim(n.hidden)});
  for (std::size_t i = 1; i < outputs.size(); ++i)
    c.set_shape(outputs[i], {Dim(n.directions), sizes[1], Dim(n.hidden)});
  const auto joined = n.directions == 1 ? onnx::squeeze(c, outputs[0], {1})
                                        : onnx::reshape(c, onnx::transpose(c, outputs[0], {0, 2, 1, 3}),
                                                        {sizes[0], sizes[1], Dim(n.directions * n.hidden)});
  return {joined, {outputs[1], n.kind->has_cell ? outputs[2] : Value()}};
}

LayerResult all_layers(Call& c, const Network& n, Value x, const State& start, Value lengths = {}) {
  std::vector<Value> hidden, cell;
  for (std::int64_t i = 0; i < n.layers; ++i) {
    const auto result = layer(c, n, i, x, start, lengths);
    x = result.sequence;
    hidden.push_back(result.last.hidden);
    if (n.kind->has_cell) cell.push_back(result.last.cell);
  }
  return {x, {onnx::concat(c, hidden, 0), n.kind->has_cell ? onnx::concat(c, cell, 0) : Value()}};
}

Network read_network(Call& c, const Kind& kind) {
  Network n;
  n.kind = &kind;
  n.params = c.tensors("params");
  n.biases = c.flag("has_biases");
  n.layers = c.integer("num_layers");
  n.directions = c.flag("bidirectional") ? 2 : 1;
  if (c.flag("train") && c.number("dropout") != 0 && n.layers > 1)
    c.reject("dropout between layers", "export the module in eval mode");
  const auto each = static_cast<std::size_t>(n.biases ? 4 : 2);
  const auto expected = static_cast<std::size_t>(n.layers * n.directions) * each;
  if (n.params.size() != expected) {
    if (n.params.size() == expected / each * (each + 1))
      c.reject("`proj_size`, a projection of the hidden state that ONNX LSTM does not have",
               "use proj_size=0 and a Linear on the output where the model allows it");
    c.reject("a list of weights of unexpected length");
  }
  n.hidden = c.static_shape(n.params[1])[1];  // recurrent weight: [gates * hidden, hidden]
  return n;
}

State read_state(Call& c, const Kind& kind) {
  if (!kind.has_cell) return {c.tensor("hx"), {}};
  const auto hx = c.tensors("hx");
  if (hx.size() != 2) c.reject("`hx` that does not hold two tensors");
  return {hx[0], hx[1]};
}

Results results_of(const Kind& kind, Value sequence, const State& last) {
  if (kind.has_cell) return {sequence, last.hidden, last.cell};
  return {sequence, last.hidden};
}

// aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
//                  bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)
// aten::gru.input(Tensor input, Tensor hx, ...) -> (Tensor, Tensor)
template <const Kind& kind>
Results network(Call& c) {
  const auto n = read_network(c, kind);
  const bool batch_first = c.flag("batch_first");
  const auto flipped = [&](Value v) { return batch_first ? onnx::swap_axes(c, v, 0, 1) : v; };
  const auto result = all_layers(c, n, flipped(c.tensor("input")), read_state(c, kind));
  return results_of(kind, flipped(result.sequence), result.last);
}

// ---- packed sequences ----------------------------------------------------------------------------------------------
//
// torch packs sequences of different length time step by time step: all first steps, all second steps of those that are
// long enough, and so on, the longest sequence first. `batch_sizes[t]` counts the sequences with a step t.

/// bool [time, batch]: whether the sequence has that step.
Value steps_present(Call& c, Value lengths, const Dim& time) {
  const auto steps = onnx::unsqueeze(c, onnx::range(c, 0, time), {1});
  return onnx::less(c, steps, lengths);
}

/// [time, batch, ...] -> the present steps in order, [total, ...].
Value packed(Call& c, Value padded, Value present) {
  const auto sizes = c.sizes_of(padded);
  Shape shape(sizes.begin() + 1, sizes.end());
  shape[0] = sizes[0] * sizes[1];
  return c.op("Compress", {onnx::reshape(c, padded, shape), onnx::flatten_all(c, present)}, {{"axis", 0}});
}

/// The inverse, absent steps filled: each present step's place in `data` is how many were present before it.
Value unpacked(Call& c, Value data, Value batch_sizes, const Dim& batch, Value fill) {
  const auto time = c.size_of(batch_sizes, 0);
  const auto members = onnx::range(c, 0, batch);                                      // [batch]
  const auto present = onnx::less(c, members, onnx::unsqueeze(c, batch_sizes, {1}));  // [time, batch]
  const auto before = sub(c, onnx::cumulative_sum(c, batch_sizes, 0), batch_sizes);
  const auto places = add(c, onnx::unsqueeze(c, before, {1}), members);
  const auto zero = c.constant(Tensor::scalar(std::int64_t{0}, DType::Int64));
  const auto rows = onnx::gather(c, data, onnx::where(c, present, places, zero), 0);
  std::vector<std::int64_t> behind;
  for (std::size_t i = 2; i < c.rank(rows); ++i) behind.push_back(static_cast<std::int64_t>(i));
  const auto padded = onnx::where(c, onnx::unsqueeze(c, present, behind), rows, fill);
  auto shape = c.sizes_of(data);
  shape.erase(shape.begin());
  shape.insert(shape.begin(), {time, batch});
  c.set_shape(padded, shape);
  return padded;
}

/// The number of sequences is the first batch size.
Dim packed_batch(Call& c, Value batch_sizes) {
  return c.dim_from(onnx::select(c, batch_sizes, 0, 0), "batch");
}

/// int64 [batch]
Value lengths_of(Call& c, Value batch_sizes, const Dim& batch) {
  const auto members = onnx::range(c, 0, batch);
  const auto present = onnx::less(c, members, onnx::unsqueeze(c, batch_sizes, {1}));
  return onnx::reduce(c, "ReduceSum", onnx::cast(c, present, DType::Int64), {0}, false);
}

// aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor data, Tensor batch_sizes)
Results pack_padded_sequence(Call& c) {
  auto input = c.tensor("input");
  if (c.flag("batch_first")) input = onnx::swap_axes(c, input, 0, 1);
  const auto lengths = onnx::cast(c, c.tensor("lengths"), DType::Int64);
  // Longest first, so the number of steps is the first length.
  const auto time = c.dim_from(onnx::select(c, lengths, 0, 0), "time");
  const auto present = steps_present(c, lengths, time);
  const auto batch_sizes = onnx::reduce(c, "ReduceSum", onnx::cast(c, present, DType::Int64), {1}, false);
  return {packed(c, onnx::slice(c, input, 0, 0, time), present), batch_sizes};
}

// aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value,
//                            int total_length) -> (Tensor, Tensor lengths)
Results pad_packed_sequence(Call& c) {
  const auto data = c.tensor("data");
  const auto batch_sizes = c.tensor("batch_sizes");
  const auto batch = packed_batch(c, batch_sizes);
  const auto fill = c.scalar_value(c.scalar("padding_value"), c.dtype_of(data));
  auto padded = unpacked(c, data, batch_sizes, batch, fill);
  const auto total = c.size("total_length");
  if (provably_less(total, 1) != true) {  // at most 0: as long as the longest
    std::vector<std::pair<Dim, Dim>> pads(c.rank(padded), {0, 0});
    pads[0].second = total - c.size_of(batch_sizes, 0);
    padded = onnx::pad(c, padded, pads, "constant", fill);
  }
  if (c.flag("batch_first")) padded = onnx::swap_axes(c, padded, 0, 1);
  return {padded, lengths_of(c, batch_sizes, batch)};
}

// aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers,
//                 float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)
// aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, ...) -> (Tensor, Tensor)
template <const Kind& kind>
Results packed_network(Call& c) {
  const auto n = read_network(c, kind);
  const auto data = c.tensor("data");
  const auto batch_sizes = c.tensor("batch_sizes");
  const auto start = read_state(c, kind);
  const auto batch = c.size_of(start.hidden, 1);
  const auto padded = unpacked(c, data, batch_sizes, batch, onnx::constant_like(c, 0, data));
  const auto lengths = lengths_of(c, batch_sizes, batch);
  const auto result = all_layers(c, n, padded, start, onnx::cast(c, lengths, DType::Int32));
  const auto present = steps_present(c, lengths, c.size_of(batch_sizes, 0));
  const auto sequence = packed(c, result.sequence, present);
  c.set_shape(sequence, {c.size_of(data, 0), Dim(n.directions * n.hidden)});
  return results_of(kind, sequence, result.last);
}

// ---- cells ---------------------------------------------------------------------------------------------------------

/// What input and hidden state contribute to the gates: [..., gates * hidden] each.
struct CellGates {
  Value input, recurrent;
};

CellGates cell_gates(Call& c, Value hidden) {
  return {linear(c, c.tensor("input"), c.tensor("w_ih"), c.optional_tensor("b_ih")),
          linear(c, hidden, c.tensor("w_hh"), c.optional_tensor("b_hh"))};
}

/// One part per gate, in torch's order.
std::vector<Value> split_gates(Call& c, Value gates, std::size_t count) {
  const Shape sizes(count, Dim(c.static_shape(c.tensor("w_hh"))[1]));
  return onnx::split(c, gates, static_cast<std::int64_t>(c.rank(gates)) - 1, sizes);
}

// aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
//     -> (Tensor, Tensor)
Results lstm_cell(Call& c) {
  const auto state = read_state(c, kLstm);
  const auto gates = cell_gates(c, state.hidden);
  const auto parts = split_gates(c, add(c, gates.input, gates.recurrent), 4);
  const auto cell = add(c, mul(c, onnx::sigmoid(c, parts[1]), state.cell),
                        mul(c, onnx::sigmoid(c, parts[0]), onnx::tanh(c, parts[2])));
  return {mul(c, onnx::sigmoid(c, parts[3]), onnx::tanh(c, cell)), cell};
}

// aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor
Results gru_cell(Call& c) {
  const auto hidden = c.tensor("hx");
  const auto gates = cell_gates(c, hidden);
  const auto x = split_gates(c, gates.input, 3);
  const auto h = split_gates(c, gates.recurrent, 3);
  const auto reset = onnx::sigmoid(c, add(c, x[0], h[0]));
  const auto update = onnx::sigmoid(c, add(c, x[1], h[1]));
  const auto fresh = onnx::tanh(c, add(c, x[2], mul(c, reset, h[2])));
  return add(c, fresh, mul(c, update, sub(c, hidden, fresh)));
}

// aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)
template <const Kind& kind>
Results rnn_cell(Call& c) {
  const auto gates = cell_gates(c, c.tensor("hx"));
  return c.op(kind.activation, {add(c, gates.input, gates.recurrent)});
}

constexpr Entry kTable[] = {
    {"aten::_pack_padded_sequence", 9, pack_padded_sequence},
    {"aten::_pad_packed_sequence", 9, pad_packed_sequence},
    {"aten::gru.data", 9, packed_network<kGru>},
    {"aten::gru.input", 9, network<kGru>},
    {"aten::gru_cell", 9, gru_cell},
    {"aten::lstm.data", 9, packed_network<kLstm>},
    {"aten::lstm.input", 9, network<kLstm>},
    {"aten::lstm_cell", 9, lstm_cell},
    {"aten::rnn_relu.data", 9, packed_network<kRelu>},
    {"aten::rnn_relu.input", 9, network<kRelu>},
    {"aten::rnn_relu_cell", 9, rnn_cell<kRelu>},
    {"aten::rnn_tanh.data", 9, packed_network<kTanh>},
    {"aten::rnn_tanh.input", 9, network<kTanh>},
    {"aten::rnn_tanh_cell", 9, rnn_cell<kTanh>},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> rnn_table() { return kTable; }

}  // namespace pt2onnx
