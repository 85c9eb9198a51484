// Tensors with memory: reading through views, and writing so that every alias sees it.
#pragma once

#include <functional>
#include <memory>

#include "interpreter/datum.h"
#include "registry/builder.h"

namespace pt2onnx {

class Tensors {
 public:
  /// `replay(step, input)` applies one view operator to a value, through the dictionary.
  using Replay = std::function<Value(const ViewStep&, Value input)>;

  Tensors(Builder& builder, Replay replay) : builder_(builder), replay_(std::move(replay)) {}

  /// A tensor with memory of its own.
  TensorRef make(Value value) const;
  /// A 0-d tensor of dtype int64, float32 or bool that is known as a number; its value is emitted when it is read.
  TensorRef make_number(Scalar number) const;
  /// A tensor that shares the memory of `base`; `value` is what the view operator gave.
  TensorRef make_view(const TensorRef& base, ViewStep step, Value value, bool contiguous) const;

  /// The present value.
  Value read(const TensorRef& tensor) const;
  /// The number behind a 0-d tensor, if it is known as one.
  std::optional<Scalar> number(const TensorRef& tensor) const;

  /// Replaces the contents; `value` has the tensor's own shape and dtype. Throws Rejection where a view cannot be
  /// written through.
  void write(const TensorRef& tensor, Value value) const;

 private:
  Value after(const TensorState& tensor, std::size_t steps) const;

  Builder& builder_;
  Replay replay_;
};

}  // namespace pt2onnx
