// Tensors with memory: reading through views, and writing so that every alias sees it.
#pragma once

#include <functional>
#include <memory>

#include "interpreter/datum.h"
#include "interpreter/journal.h"
#include "registry/builder.h"

namespace pt2onnx {

/// Of a write that an item of a list of unknown length would have to show as well.
Rejection listed_and_written();

class Tensors {
 public:
  /// `replay(step, input)` applies one view operator to a value, through the dictionary.
  using Replay = std::function<Value(const ViewStep&, Value input)>;

  Tensors(Builder& builder, Journal& journal, Replay replay)
      : builder_(builder), journal_(journal), replay_(std::move(replay)) {}

  /// A number that no version of any storage has had yet.
  static std::uint64_t next_version();

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
  /// The same for a tensor that is no view, whose shape may change with it.
  void replace(const TensorRef& tensor, Value value) const;

 private:
  Value read_base(const TensorRef& tensor) const;
  void set(const TensorState& tensor, Value value) const;

  Builder& builder_;
  Journal& journal_;
  Replay replay_;
};

}  // namespace pt2onnx
