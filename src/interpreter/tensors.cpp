#include "interpreter/tensors.h"

#include <atomic>

#include "interpreter/view_inverse.h"
#include "registry/literal.h"

namespace pt2onnx {

Rejection listed_and_written() {
  Rejection rejection("writes to a tensor that is also an item of a list whose length depends on the data");
  rejection.advice = "put a clone() of it in the list, or write to a clone()";
  return rejection;
}

TensorRef Tensors::make(Value value) const {
  auto tensor = std::make_shared<TensorState>();
  tensor->storage = std::make_shared<Storage>();
  tensor->storage->value = value;
  return tensor;
}

TensorRef Tensors::make_number(Scalar number) const {
  TensorRef tensor = make(Value());
  tensor->storage->number = std::move(number);
  return tensor;
}

TensorRef Tensors::make_view(const TensorRef& base, ViewStep step, Value value, bool contiguous) const {
  auto tensor = std::make_shared<TensorState>();
  read(base);  // a number becomes memory as soon as something looks into it
  tensor->storage = base->storage;
  tensor->views = base->views;
  tensor->views.push_back(std::move(step));
  tensor->cached = value;
  tensor->version = base->storage->version;
  tensor->contiguous = contiguous;
  return tensor;
}

std::uint64_t Tensors::next_version() {
  static std::atomic<std::uint64_t> version{0};
  return ++version;
}

/// What is emitted inside a branch or loop body means nothing outside, so there nothing is remembered; equal nodes are
/// shared by the builder anyway.
Value Tensors::read(const TensorRef& tensor) const {
  Storage& storage = *tensor->storage;
  Value value = storage.value;
  if (!value) {
    const Scalar& number = *storage.number;
    const DType dtype = default_dtype(number.kind());
    if (const auto* dim = std::get_if<Dim>(&number.data()))
      value = builder_.size_value(*dim);
    else if (const auto* computed = std::get_if<Scalar::Computed>(&number.data()))
      value = computed->value;
    else
      value = builder_.constant(Tensor::scalar(number.number().value(), dtype));
    value = builder_.cast(value, dtype);
    if (!journal_.active()) storage.value = value;
  }
  if (tensor->views.empty()) return value;
  if (tensor->version == storage.version && tensor->cached && builder_.visible(tensor->cached))
    return tensor->cached;
  for (const ViewStep& step : tensor->views) value = replay_(step, value);
  if (!journal_.active()) {
    tensor->cached = value;
    tensor->version = storage.version;
  }
  return value;
}

std::optional<Scalar> Tensors::number(const TensorRef& tensor) const {
  if (!tensor->views.empty()) return std::nullopt;
  const Storage& storage = *tensor->storage;
  if (storage.number) return storage.number;
  const Tensor* constant = storage.value ? storage.value.constant() : nullptr;
  if (!constant || !constant->dims.empty() || is_complex(constant->dtype)) return std::nullopt;
  // Only the default types can take part in shape arithmetic without a loss.
  switch (constant->dtype) {
    case DType::Bool: return Scalar(constant->to_ints()[0] != 0);
    case DType::Int64: return Scalar(constant->to_ints()[0]);
    case DType::Float32:
    case DType::Float64: return Scalar(constant->to_doubles()[0]);
    default: return std::nullopt;
  }
}

void Tensors::write(const TensorRef& tensor, Value value) const {
  std::vector<Value> levels{read_base(tensor)};  // the storage, then what each view gives
  for (std::size_t i = 0; i + 1 < tensor->views.size(); ++i)
    levels.push_back(replay_(tensor->views[i], levels.back()));

  Value written = value;
  for (std::size_t i = tensor->views.size(); i-- > 0;)
    written = write_through(builder_, tensor->views[i], levels[i], written, replay_);
  set(*tensor, written);
  tensor->cached = value;
  tensor->version = tensor->storage->version;
}

void Tensors::replace(const TensorRef& tensor, Value value) const { set(*tensor, value); }

Value Tensors::read_base(const TensorRef& tensor) const {
  TensorState base;
  base.storage = tensor->storage;
  return read(std::make_shared<TensorState>(std::move(base)));
}

void Tensors::set(const TensorState& tensor, Value value) const {
  if (tensor.storage->listed) throw listed_and_written();
  journal_.touch(tensor.storage);
  tensor.storage->value = value;
  tensor.storage->number.reset();
  tensor.storage->version = next_version();
}

}  // namespace pt2onnx
