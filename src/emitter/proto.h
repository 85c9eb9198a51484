// From the plain types of graph.h to onnx's protobuf messages and back. Only for sources of the emitter.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx/onnx_pb.h"
#include "pt2onnx/graph.h"

namespace pt2onnx {

/// The inverse of onnx_type_of; nullopt for UNDEFINED and for types without a DType (int4, float8e4m3fnuz ...).
std::optional<DType> dtype_from_onnx(int elem_type);

/// Remembers which Dim a dim_param stands for, to read back what an inference function derived from it.
class DimNames {
 public:
  void add(const std::string& text, const Dim& dim);
  const Dim* find(const std::string& text) const;

 private:
  std::vector<std::pair<std::string, Dim>> entries_;  // a handful per node: a linear search is the fastest
};

void set_shape(onnx::TensorShapeProto& to, const Shape& shape, DimNames* names = nullptr);

/// A tensor without dtype has no ONNX type: `to` stays empty and the answer is false.
bool set_type(onnx::TypeProto& to, const ValueType& type, DimNames* names = nullptr);

/// Dtype, dims and name.
void set_header(onnx::TensorProto& to, const Tensor& tensor, const std::string& name);

/// The elements: raw_data, or string_data for strings (whose bytes are the elements, each ended by a zero byte).
void set_elements(onnx::TensorProto& to, const Tensor& tensor);

/// Everything but a subgraph, of which only the name is set.
void set_attribute(onnx::AttributeProto& to, const std::string& name, const Attribute& value);

}  // namespace pt2onnx
