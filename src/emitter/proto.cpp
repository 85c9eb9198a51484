#include "emitter/proto.h"

#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace pt2onnx {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

/// Indexed by ONNX's number of the type. Quantized types are left out: a graph has the plain ones.
std::vector<std::optional<DType>> make_dtypes() {
  std::vector<std::optional<DType>> table;
  for (int i = 0; i <= static_cast<int>(DType::Float8E5M2); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::QInt8 || dtype == DType::QUInt8 || dtype == DType::QInt32) continue;
    const auto number = static_cast<std::size_t>(onnx_type_of(dtype));
    if (table.size() <= number) table.resize(number + 1);
    table[number] = dtype;
  }
  return table;
}

int elem_type(DType dtype) { return static_cast<int>(onnx_type_of(dtype)); }

}  // namespace

std::optional<DType> dtype_from_onnx(int elem_type) {
  static const auto table = make_dtypes();
  const auto number = static_cast<std::size_t>(elem_type);  // a negative one becomes too large
  return number < table.size() ? table[number] : std::nullopt;
}

void DimNames::add(const std::string& text, const Dim& dim) {
  if (find(text) == nullptr) entries_.emplace_back(text, dim);
}

const Dim* DimNames::find(const std::string& text) const {
  for (const auto& [name, dim] : entries_) {
    if (name == text) return &dim;
  }
  return nullptr;
}

void set_shape(onnx::TensorShapeProto& to, const Shape& shape, DimNames* names) {
  for (const Dim& dim : shape) {
    auto& entry = *to.add_dim();
    if (const auto number = dim.known()) {
      entry.set_dim_value(*number);
    } else {
      entry.set_dim_param(dim.str());
      if (names != nullptr) names->add(entry.dim_param(), dim);
    }
  }
}

bool set_type(onnx::TypeProto& to, const ValueType& type, DimNames* names) {
  if (!type.dtype) return false;
  onnx::TypeProto* element = &to;
  if (type.kind == ValueType::Kind::Sequence) element = to.mutable_sequence_type()->mutable_elem_type();
  if (type.kind == ValueType::Kind::Optional) element = to.mutable_optional_type()->mutable_elem_type();
  auto& tensor = *element->mutable_tensor_type();
  tensor.set_elem_type(elem_type(*type.dtype));
  if (type.shape) set_shape(*tensor.mutable_shape(), *type.shape, names);
  return true;
}

void set_header(TensorProto& to, const Tensor& tensor, const std::string& name) {
  to.mutable_dims()->Add(tensor.dims.begin(), tensor.dims.end());
  to.set_data_type(elem_type(tensor.dtype));
  if (!name.empty()) to.set_name(name);
}

void set_elements(TensorProto& to, const Tensor& tensor) {
  const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  if (tensor.dtype != DType::String) {
    to.set_raw_data(bytes.data(), bytes.size());
    return;
  }
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = bytes.find('\0', begin);
    if (end == std::string_view::npos)
      throw std::logic_error("a string tensor whose last element has no end");
    to.add_string_data(bytes.data() + begin, end - begin);
    begin = end + 1;
  }
}

void set_attribute(AttributeProto& to, const std::string& name, const Attribute& value) {
  to.set_name(name);
  std::visit(
      [&to](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::int64_t>) {
          to.set_type(AttributeProto::INT);
          to.set_i(v);
        } else if constexpr (std::is_same_v<T, double>) {
          to.set_type(AttributeProto::FLOAT);
          to.set_f(static_cast<float>(v));
        } else if constexpr (std::is_same_v<T, std::string>) {
          to.set_type(AttributeProto::STRING);
          to.set_s(v);
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          to.set_type(AttributeProto::INTS);
          to.mutable_ints()->Add(v.begin(), v.end());
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          to.set_type(AttributeProto::FLOATS);
          for (const double f : v) to.add_floats(static_cast<float>(f));
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          to.set_type(AttributeProto::STRINGS);
          for (const std::string& s : v) to.add_strings(s);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          to.set_type(AttributeProto::TENSOR);
          set_header(*to.mutable_t(), v, {});
          set_elements(*to.mutable_t(), v);
        } else if constexpr (std::is_same_v<T, ValueType>) {
          to.set_type(AttributeProto::TYPE_PROTO);
          set_type(*to.mutable_tp(), v, nullptr);
        } else {
          static_assert(std::is_same_v<T, std::shared_ptr<Graph>>);
          to.set_type(AttributeProto::GRAPH);
          to.mutable_g()->set_name(v->name);
        }
      },
      value);
}

}  // namespace pt2onnx
