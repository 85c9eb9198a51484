#include "frontend/values.h"

#include <ATen/core/class_type.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "frontend/types.h"

namespace pt2onnx::frontend {

using program::Literal;

namespace {

constexpr std::pair<DType, at::ScalarType> kDTypes[] = {
    {DType::Float32, at::kFloat},
    {DType::Float64, at::kDouble},
    {DType::Float16, at::kHalf},
    {DType::BFloat16, at::kBFloat16},
    {DType::Int8, at::kChar},
    {DType::Int16, at::kShort},
    {DType::Int32, at::kInt},
    {DType::Int64, at::kLong},
    {DType::UInt8, at::kByte},
    {DType::UInt16, at::kUInt16},
    {DType::UInt32, at::kUInt32},
    {DType::UInt64, at::kUInt64},
    {DType::Bool, at::kBool},
    {DType::Complex32, at::kComplexHalf},
    {DType::Complex64, at::kComplexFloat},
    {DType::Complex128, at::kComplexDouble},
    {DType::QInt8, at::kQInt8},
    {DType::QUInt8, at::kQUInt8},
    {DType::QInt32, at::kQInt32},
    {DType::Float8E4M3FN, at::kFloat8_e4m3fn},
    {DType::Float8E5M2, at::kFloat8_e5m2},
};

/// Whether the tensor is nothing but strided elements of a type that a Literal has.
bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && !tensor.is_quantized() && !tensor.is_nested() &&
         dtype_of(tensor.scalar_type()).has_value() && (tensor.is_cpu() || tensor.is_meta());
}

std::string describe(const at::Tensor& tensor) {
  std::string text = "Tensor of ";
  text += c10::toString(tensor.scalar_type());
  if (tensor.is_quantized()) return text + ", quantized";
  if (tensor.is_nested()) return text + ", nested";
  if (tensor.layout() != at::kStrided) {
    std::ostringstream layout;
    layout << tensor.layout();
    return text + ", layout " + layout.str();
  }
  return text + " on " + tensor.device().str();
}

/// The bytes of a plain tensor; those of a non-contiguous one are copied into order.
Tensor share(const at::Tensor& tensor, std::string name) {
  Tensor out;
  out.dtype = *dtype_of(tensor.scalar_type());
  out.dims = tensor.sizes().vec();
  out.name = std::move(name);
  if (tensor.is_meta()) return out;  // dtype and dims only
  auto owner = std::make_shared<const at::Tensor>(tensor.resolve_conj().resolve_neg().contiguous());
  out.bytes = {static_cast<const std::byte*>(owner->const_data_ptr()), owner->nbytes()};
  out.owner = std::move(owner);
  return out;
}

at::Tensor to_tensor(const Tensor& tensor, TensorMode mode) {
  const auto type = scalar_type_of(tensor.dtype);
  if (!type) throw std::invalid_argument("a tensor of strings is nothing that torch has");
  if (mode == TensorMode::Meta) return at::empty(tensor.dims, at::TensorOptions(*type).device(at::kMeta));
  if (tensor.bytes.empty()) {
    for (const std::int64_t dim : tensor.dims)
      if (dim == 0) return at::empty(tensor.dims, *type);
    throw std::invalid_argument("a tensor whose elements are not known");
  }
  // Torch wants a mutable pointer; operators that write are refused before they get here.
  void* data = const_cast<std::byte*>(tensor.bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return at::from_blob(data, tensor.dims, [owner = tensor.owner](void*) {}, *type);
}

/// A torch type that says nothing about the value: the literal's own types have to.
bool is_generic(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::VarType:
    case c10::TypeKind::AnyType:
    case c10::TypeKind::AnyListType:
    case c10::TypeKind::AnyTupleType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::UnionType: return true;
    default: return false;
  }
}

c10::TypePtr element_type(const c10::TypePtr& expected, std::size_t index, const program::TypeRef& own) {
  if (expected && index < expected->containedTypeSize()) {
    const c10::TypePtr type = expected->containedType(index);
    if (!is_generic(type) && !type->hasFreeVariables()) return type;
  }
  return torch_type(own);
}

at::IValue to_list(const program::ListLiteral& list, const c10::TypePtr& expected, TensorMode mode) {
  const c10::TypePtr element = element_type(expected, 0, list.element);
  c10::impl::GenericList out(element);
  out.reserve(list.items.size());
  for (const Literal& item : list.items) out.push_back(to_ivalue(item, element, mode));
  return out;
}

at::IValue to_tuple(const program::TupleLiteral& tuple, const c10::TypePtr& expected, TensorMode mode) {
  const auto type = expected ? expected->cast<c10::TupleType>() : nullptr;
  std::vector<at::IValue> items;
  items.reserve(tuple.items.size());
  for (std::size_t i = 0; i < tuple.items.size(); ++i) {
    const bool known = type && i < type->elements().size();
    items.push_back(to_ivalue(tuple.items[i], known ? type->elements()[i] : nullptr, mode));
  }
  if (type && type->schema()) return c10::ivalue::Tuple::createNamed(std::move(items), type);
  return c10::ivalue::Tuple::create(std::move(items));
}

at::IValue to_dict(const program::DictLiteral& dict, const c10::TypePtr& expected, TensorMode mode) {
  const c10::TypePtr key = element_type(expected, 0, dict.key);
  const c10::TypePtr value = element_type(expected, 1, dict.value);
  c10::impl::GenericDict out(key, value);
  for (const auto& [k, v] : dict.items)
    out.insert_or_assign(to_ivalue(k, key, mode), to_ivalue(v, value, mode));
  return out;
}

}  // namespace

std::optional<DType> dtype_of(at::ScalarType type) {
  for (const auto& [ours, theirs] : kDTypes)
    if (theirs == type) return ours;
  return std::nullopt;
}

c10::Device device_here(c10::Device device) { return device.is_meta() ? device : c10::Device(at::kCPU); }

std::optional<at::ScalarType> scalar_type_of(DType dtype) {
  for (const auto& [ours, theirs] : kDTypes)
    if (ours == dtype) return theirs;
  return std::nullopt;
}

Literal LiteralReader::read_named(const at::IValue& value) {
  naming_ = true;
  Literal out = read(value, {});
  naming_ = false;
  return out;
}

std::string LiteralReader::below(const std::string& path, const std::string& name) const {
  if (!naming_) return {};
  return path.empty() ? name : path + "." + name;
}

Literal LiteralReader::opaque(const at::IValue& value, std::string type) {
  return {program::OpaqueLiteral{std::move(type), std::make_shared<const at::IValue>(value)}};
}

Literal LiteralReader::read_tensor(const at::Tensor& tensor, const std::string& path) {
  if (!tensor.defined()) return {};
  if (!is_plain(tensor)) return opaque(tensor, describe(tensor));
  if (!tensor.has_storage()) return {share(tensor, path)};

  const TensorKey key{tensor.is_meta() ? tensor.unsafeGetTensorImpl() : tensor.storage().data(),
                      tensor.storage_offset(),
                      tensor.scalar_type(),
                      tensor.is_conj(),
                      tensor.is_neg(),
                      tensor.sizes().vec(),
                      tensor.strides().vec()};
  auto [known, is_new] = tensors_.try_emplace(key);
  if (is_new) known->second = share(tensor, path);
  return {known->second};
}

Literal LiteralReader::read_container(const at::IValue& value, const std::string& path) {
  // Registered before its items are read: a list may contain an object that holds the list.
  auto [known, is_new] = containers_.try_emplace(value.internalToPointer());
  if (!is_new) return known->second;

  if (value.isList()) {
    const auto list = value.toList();
    auto out = std::make_shared<program::ListLiteral>();
    known->second.data = out;
    out->element = types_.of(list.elementType());
    out->items.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
      out->items.push_back(read(list.get(i), below(path, std::to_string(i))));
    return {out};
  }
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    auto out = std::make_shared<program::DictLiteral>();
    known->second.data = out;
    out->key = types_.of(dict.keyType());
    out->value = types_.of(dict.valueType());
    for (const auto& item : dict) {
      const std::string name =
          item.key().isString() ? item.key().toStringRef() : std::to_string(out->items.size());
      Literal key = read(item.key());
      out->items.emplace_back(std::move(key), read(item.value(), below(path, name)));
    }
    return {out};
  }
  const auto tuple = value.toTuple();
  auto out = std::make_shared<program::TupleLiteral>();
  known->second.data = out;
  out->type = types_.of(tuple->type<c10::TupleType>());
  for (std::size_t i = 0; i < tuple->elements().size(); ++i)
    out->items.push_back(read(tuple->elements()[i], below(path, std::to_string(i))));
  return {out};
}

program::ObjectRef LiteralReader::read_object(const at::IValue& value, const std::string& path) {
  auto& known = objects_[value.internalToPointer()];
  if (known) return known;
  known = std::make_shared<program::Object>();
  const program::ObjectRef object = known;  // `known` may move while attributes are read

  const auto instance = value.toObject();
  const c10::ClassTypePtr type = instance->type();
  classes_.push_back(type);
  object->type = type->name()->qualifiedName();
  object->is_module = type->is_module();
  if (object->is_module) object->path = path;
  for (std::size_t i = 0; i < type->numAttributes(); ++i) {
    const std::string& name = type->getAttributeName(i);
    object->attributes.emplace_back(name, read(instance->getSlot(i), below(path, name)));
  }
  return object;
}

Literal LiteralReader::read(const at::IValue& value, const std::string& path) {
  if (value.isNone()) return {};
  if (value.isTensor()) return read_tensor(value.toTensor(), path);
  if (value.isBool()) return {value.toBool()};
  if (value.isInt()) return {value.toInt()};
  if (value.isDouble()) return {value.toDouble()};
  if (value.isComplexDouble()) {
    const auto number = value.toComplexDouble();
    return {std::complex<double>(number.real(), number.imag())};
  }
  if (value.isString()) return {value.toStringRef()};
  if (value.isList() || value.isGenericDict() || value.isTuple()) return read_container(value, path);
  if (value.isDevice()) return {program::DeviceLiteral{device_here(value.toDevice()).str()}};
  if (value.isEnum()) {
    const auto holder = value.toEnumHolder();
    return {program::EnumLiteral{holder->qualifiedClassName(), holder->name(),
                                 std::make_shared<const Literal>(read(holder->value()))}};
  }
  if (value.isObject() && !value.isCustomClass()) return {read_object(value, path)};
  if (value.isSymInt()) {
    if (const auto number = value.toSymInt().maybe_as_int()) return {*number};
  }
  if (value.isCustomClass()) return opaque(value, value.toObjectRef().type()->name()->qualifiedName());
  return opaque(value, value.tagKind());
}

at::IValue to_ivalue(const Literal& literal, const c10::TypePtr& expected, TensorMode mode,
                     std::optional<std::int32_t> list_size) {
  // What an Optional holds is what is expected; None itself needs no type.
  c10::TypePtr type = expected;
  while (type && type->kind() == c10::TypeKind::OptionalType)
    type = type->expectRef<c10::OptionalType>().getElementType();
  const auto expects = [&](c10::TypeKind kind) { return type && type->kind() == kind; };

  if (expects(c10::TypeKind::ListType)) {
    const bool is_number = std::holds_alternative<std::int64_t>(literal.data) ||
                           std::holds_alternative<double>(literal.data) ||
                           std::holds_alternative<bool>(literal.data);
    if (is_number) {  // int[2] stride=1: the schema lets one number stand for all
      const c10::TypePtr element = type->expectRef<c10::ListType>().getElementType();
      c10::impl::GenericList out(element);
      for (std::int32_t i = 0; i < list_size.value_or(1); ++i)
        out.push_back(to_ivalue(literal, element, mode));
      return out;
    }
  }

  return std::visit(
      [&](const auto& data) -> at::IValue {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          // An undefined tensor is how an absent `Tensor` argument is passed.
          if (expects(c10::TypeKind::TensorType) && type == expected) return at::Tensor();
          return {};
        } else if constexpr (std::is_same_v<T, bool>) {
          return data;
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          if (expects(c10::TypeKind::FloatType)) return static_cast<double>(data);
          if (expects(c10::TypeKind::BoolType)) return data != 0;
          return data;
        } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return data;
        } else if constexpr (std::is_same_v<T, std::complex<double>>) {
          return c10::complex<double>(data);
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return to_tensor(data, mode);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<program::ListLiteral>>) {
          return to_list(*data, type, mode);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<program::TupleLiteral>>) {
          return to_tuple(*data, type, mode);
        } else if constexpr (std::is_same_v<T, std::shared_ptr<program::DictLiteral>>) {
          return to_dict(*data, type, mode);
        } else if constexpr (std::is_same_v<T, program::DeviceLiteral>) {
          return c10::Device(mode == TensorMode::Meta ? at::kMeta : at::kCPU);
        } else if constexpr (std::is_same_v<T, program::OpaqueLiteral>) {
          return *static_cast<const at::IValue*>(data.handle.get());
        } else if constexpr (std::is_same_v<T, program::ObjectRef>) {
          throw std::invalid_argument("an object of class `" + data->type + "`");
        } else if constexpr (std::is_same_v<T, program::EnumLiteral>) {
          throw std::invalid_argument("a member of enum `" + data.type + "`");
        } else {
          static_assert(std::is_same_v<T, program::FunctionLiteral>);
          throw std::invalid_argument("function `" + data.name + "`");
        }
      },
      literal.data);
}

namespace {

/// "ValueError: ..." at the start of a line; not "model.py(12): forward", a frame.
bool is_exception_line(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
}

/// The interpreter puts tracebacks before what was thrown. Skips them.
std::string_view without_traceback(std::string_view text) {
  const auto mark = text.rfind("Traceback of TorchScript");
  if (mark == std::string_view::npos) return text;
  for (auto end = text.find('\n', mark); end != std::string_view::npos; end = text.find('\n', end + 1)) {
    const std::string_view rest = text.substr(end + 1);
    if (is_exception_line(rest.substr(0, rest.find('\n')))) return rest;
  }
  return text;
}

}  // namespace

std::string short_message(const std::exception& e) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&e);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : e.what();
  std::string_view message = without_traceback(text);
  for (const std::string_view prefix : {"RuntimeError: ", "builtins."})
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  message = message.substr(0, message.find('\n'));
  while (!message.empty() && (message.back() == ' ' || message.back() == '.')) message.remove_suffix(1);
  return message.empty() ? "unknown error" : std::string(message);
}

}  // namespace pt2onnx::frontend
