#include <limits>
#include <optional>

#include "emitter/emitter.h"
#include "emitter/model_proto.h"
#include "emitter/output_file.h"
#include "emitter/wire.h"

namespace pt2onnx {
namespace {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::TensorProto;

// protobuf's own limit for a message, and so for a file.
constexpr std::uint64_t kLargestMessage = std::numeric_limits<std::int32_t>::max();
// 1.9 GiB of weights leave room for the graph, and for tools that edit the file.
constexpr std::uint64_t kAutoExternalBytes = (std::uint64_t{19} << 30) / 10;
// Smaller ones stay inside: readers want shapes and the like at hand.
constexpr std::size_t kExternalBytes = 1024;
// An offset at which a runtime can map the data.
constexpr std::uint64_t kPageBytes = 4096;

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

/// A model cut at its initializers: what protobuf serializes before and after them, and between them and the weights.
/// Written one after the other, the pieces are byte for byte what protobuf would make of the whole, since it writes
/// fields in the order of their numbers.
class Pieces {
 public:
  explicit Pieces(ModelFrame frame) : weights_(std::move(frame.weights)) {
    // Fields of ModelProto before and after `graph`, fields of GraphProto before and after `initializer`.
    ModelProto& model = frame.proto;
    GraphProto& graph = *model.mutable_graph();
    ModelProto model_tail;
    model_tail.mutable_opset_import()->Swap(model.mutable_opset_import());
    model_tail.mutable_metadata_props()->Swap(model.mutable_metadata_props());
    model_tail.mutable_functions()->Swap(model.mutable_functions());
    GraphProto graph_tail;
    graph_tail.mutable_input()->Swap(graph.mutable_input());
    graph_tail.mutable_output()->Swap(graph.mutable_output());
    graph_tail.mutable_value_info()->Swap(graph.mutable_value_info());

    google::protobuf::RepeatedPtrField<TensorProto> initializers;
    initializers.Swap(graph.mutable_initializer());
    std::uint64_t graph_bytes = 0;
    for (int i = 0; i < initializers.size(); ++i) {
      headers_.push_back(initializer_header(initializers.Get(i), weights_[static_cast<std::size_t>(i)]));
      graph_bytes += headers_.back().size();
      if (const Tensor* weight = weights_[static_cast<std::size_t>(i)]) graph_bytes += weight->bytes.size();
    }
    const std::string graph_head = graph.SerializeAsString();
    graph_tail_ = graph_tail.SerializeAsString();
    graph_bytes += graph_head.size() + graph_tail_.size();
    model.clear_graph();
    head_ = model.SerializeAsString() + wire::field_header(ModelProto::kGraphFieldNumber, graph_bytes) +
            graph_head;
    model_tail_ = model_tail.SerializeAsString();
    size_ = head_.size() - graph_head.size() + graph_bytes + model_tail_.size();
  }

  std::uint64_t size() const { return size_; }

  void write(Sink& sink) const {
    sink.write(head_);
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      sink.write(headers_[i]);
      if (weights_[i] != nullptr) sink.write(bytes_of(*weights_[i]));
    }
    sink.write(graph_tail_);
    sink.write(model_tail_);
  }

 private:
  /// All of an initializer but the bytes of its weight, which come last: the fields that are set have lower numbers.
  static std::string initializer_header(const TensorProto& proto, const Tensor* weight) {
    std::string fields = proto.SerializeAsString();
    std::uint64_t size = fields.size();
    if (weight != nullptr) {
      fields += wire::field_header(TensorProto::kRawDataFieldNumber, weight->bytes.size());
      size = fields.size() + weight->bytes.size();
    }
    return wire::field_header(GraphProto::kInitializerFieldNumber, size) + fields;
  }

  std::vector<const Tensor*> weights_;
  std::vector<std::string> headers_;  // one per weight
  std::string head_, graph_tail_, model_tail_;
  std::uint64_t size_ = 0;
};

std::uint64_t weight_bytes(const ModelFrame& frame) {
  std::uint64_t sum = 0;
  for (const Tensor* weight : frame.weights) sum += weight != nullptr ? weight->bytes.size() : 0;
  return sum;
}

void note_external(TensorProto& initializer, const char* key, const std::string& value) {
  auto& entry = *initializer.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

/// Writes the large weights to `file` and leaves in the frame where each is found.
void move_weights(ModelFrame& frame, OutputFile& file, const std::string& location) {
  for (std::size_t i = 0; i < frame.weights.size(); ++i) {
    const Tensor*& weight = frame.weights[i];
    if (weight == nullptr || weight->bytes.size() < kExternalBytes) continue;
    auto& initializer = *frame.proto.mutable_graph()->mutable_initializer(static_cast<int>(i));
    note_external(initializer, "location", location);
    note_external(initializer, "offset", std::to_string(file.pad_to(kPageBytes)));
    note_external(initializer, "length", std::to_string(weight->bytes.size()));
    initializer.set_data_location(TensorProto::EXTERNAL);
    file.write(bytes_of(*weight));
    weight = nullptr;
  }
}

std::string too_large(std::uint64_t bytes) {
  return "the model has " + std::to_string(bytes >> 20) + " MiB, but one ONNX file holds at most 2048 MiB";
}

class StringSink final : public Sink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

}  // namespace

void write_model(const Model& model, const std::string& path, const WriteOptions& options) {
  ModelFrame frame = make_frame(model, options.producer_version);
  OutputFile file(path);
  std::optional<OutputFile> data;
  const bool external =
      options.external_data == ExternalData::Always ||
      (options.external_data == ExternalData::Auto && weight_bytes(frame) > kAutoExternalBytes);
  if (external) {
    const std::string data_path = path + ".data";
    data.emplace(data_path);
    move_weights(frame, *data, data_path.substr(data_path.rfind('/') + 1));
  }
  const Pieces pieces(std::move(frame));
  if (pieces.size() > kLargestMessage) {
    throw WriteError("cannot write `" + path + "`: " + too_large(pieces.size()) +
                     "; keep the weights in a file of their own (--external-data auto)");
  }
  pieces.write(file);
  // Neither file gets its name before both are complete.
  file.finish();
  if (data) data->commit();
  file.commit();
}

std::string serialize_model(const Model& model, const std::string& producer_version) {
  const Pieces pieces(make_frame(model, producer_version));
  if (pieces.size() > kLargestMessage) throw WriteError("cannot serialize: " + too_large(pieces.size()));
  StringSink sink;
  sink.text.reserve(pieces.size());
  pieces.write(sink);
  return std::move(sink.text);
}

}  // namespace pt2onnx
