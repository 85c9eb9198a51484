// What a program asks of a tensor without computing with it: sizes, types, devices; and the way between tensors and
// Python numbers. Sizes stay symbolic, so nothing of this reaches the graph unless a size is needed as data.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interpreter/machine.h"
#include "interpreter/scalar_math.h"
#include "registry/literal.h"
#include "registry/scalar_type.h"

namespace pt2onnx {
namespace {

using program::Node;
using Data = std::vector<Datum>;

const TensorRef* tensor_in(const Data& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i].get_if<TensorRef>() : nullptr;
}

void refuse(Machine& m, const Node& node, std::string why, Data& outputs) {
  m.report(node.op->name, std::move(why));
  outputs.assign(node.outputs.size(), Datum(Tainted{}));
}

/// Rank of a tensor, reporting an unknown one.
std::optional<std::size_t> known_rank(Machine& m, const Node& node, Value v, Data& outputs) {
  if (v.rank()) return v.rank();
  refuse(m, node, "asks for the sizes of a tensor whose rank is not known", outputs);
  return std::nullopt;
}

// ---- sizes -----------------------------------------------------------------------------------------------------------

bool size(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const Value v = m.tensors().read(*tensor);
  const auto rank = known_rank(m, node, v, outputs);
  if (!rank) return true;
  if (inputs.size() == 1) {
    auto list = std::make_shared<ListState>();
    for (std::size_t i = 0; i < *rank; ++i)
      list->items.emplace_back(Scalar(m.builder().size_of(v, static_cast<std::int64_t>(i))));
    outputs.emplace_back(std::move(list));
    return true;
  }
  const auto dim = int_in(inputs, 1);
  if (!dim) return false;
  const std::int64_t n = static_cast<std::int64_t>(*rank);
  if (*dim < -n || *dim >= n)
    m.raise(fmt::format("dimension {} is out of range for a tensor of rank {}", *dim, n));
  outputs.emplace_back(Scalar(m.builder().size_of(v, *dim < 0 ? *dim + n : *dim)));
  return true;
}

bool rank(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  if (const auto known = known_rank(m, node, m.tensors().read(*tensor), outputs))
    outputs.emplace_back(Scalar(static_cast<std::int64_t>(*known)));
  return true;
}

bool element_count(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const Value v = m.tensors().read(*tensor);
  if (known_rank(m, node, v, outputs)) outputs.emplace_back(Scalar(product(*v.shape())));
  return true;
}

bool length(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const Value v = m.tensors().read(*tensor);
  const auto known = known_rank(m, node, v, outputs);
  if (!known) return true;
  if (*known == 0) m.raise("len() of a 0-d tensor");
  outputs.emplace_back(Scalar(m.builder().size_of(v, 0)));
  return true;
}

/// Strides as if the tensor were contiguous; anything else is a matter of memory that ONNX does not have.
bool stride(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const Value v = m.tensors().read(*tensor);
  const auto rank = known_rank(m, node, v, outputs);
  if (!rank) return true;
  if (!(*tensor)->contiguous) {
    refuse(m, node, "asks for the strides of a tensor that is not contiguous", outputs);
    return true;
  }
  std::vector<Datum> strides(*rank);
  Dim step = 1;
  for (std::size_t i = *rank; i-- > 0;) {
    strides[i] = Scalar(step);
    step = step * (*v.shape())[i];
  }
  if (inputs.size() == 1) {
    outputs.emplace_back(make_list(std::move(strides)));
    return true;
  }
  const auto dim = int_in(inputs, 1);
  if (!dim || strides.empty()) return false;
  outputs.push_back(
      strides[static_cast<std::size_t>(*dim < 0 ? *dim + static_cast<std::int64_t>(*rank) : *dim)]);
  return true;
}

// ---- types and devices -----------------------------------------------------------------------------------------------

std::optional<DType> dtype_of(Machine& m, const TensorRef& tensor) {
  return m.tensors().read(tensor).dtype();
}

bool dtype(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  if (const auto known = dtype_of(m, *tensor))
    outputs.emplace_back(Scalar(scalar_type_of(*known)));
  else
    refuse(m, node, "asks for the element type of a tensor for which it is not known", outputs);
  return true;
}

bool has_kind(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const auto known = dtype_of(m, *tensor);
  if (!known) {
    refuse(m, node, "asks for the element type of a tensor for which it is not known", outputs);
    return true;
  }
  const std::string& op = node.op->name;
  bool answer = false;
  if (op == "aten::is_floating_point") answer = is_floating(*known);
  if (op == "aten::is_complex") answer = is_complex(*known);
  if (op == "aten::is_signed") answer = !is_unsigned(*known) && *known != DType::Bool;
  if (op == "prim::is_quantized") answer = is_quantized(*known);
  outputs.emplace_back(Scalar(answer));
  return true;
}

bool device(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (!tensor_in(inputs, 0)) return false;
  outputs.emplace_back(program::DeviceLiteral{"cpu"});
  return true;
}

/// Properties that no tensor of an exported graph has: CUDA, sparse, nested, gradients ...
bool never(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (!inputs.empty() && !tensor_in(inputs, 0)) return false;
  outputs.emplace_back(Scalar(false));
  return true;
}

bool always(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (!inputs.empty() && !tensor_in(inputs, 0)) return false;
  outputs.emplace_back(Scalar(true));
  return true;
}

bool zero(Machine&, const Node&, Frame&, Data&, Data& outputs) {
  outputs.emplace_back(Scalar(0));
  return true;
}

bool is_contiguous(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  outputs.emplace_back(Scalar((*tensor)->contiguous));
  return true;
}

bool same_tensor(Machine&, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (!tensor_in(inputs, 0)) return false;
  outputs.push_back(inputs[0]);
  return true;
}

// ---- between tensors and numbers -------------------------------------------------------------------------------------

bool number_to_tensor(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const auto* scalar = inputs[0].get_if<Scalar>();
  if (!scalar || scalar->kind() == Scalar::Kind::Complex) return false;
  if (scalar->kind() == Scalar::Kind::Float && !scalar->is_known()) {
    outputs.emplace_back(m.tensors().make(m.builder().cast(m.number_value(*scalar), DType::Float32)));
    return true;
  }
  outputs.emplace_back(m.tensors().make_number(*scalar));
  return true;
}

/// A tensor of one element as a Python number: known, a size, or a number that the graph computes.
std::optional<Scalar> item_of(Machine& m, const TensorRef& tensor) {
  if (auto number = m.tensors().number(tensor)) return number;
  Value v = m.tensors().read(tensor);
  if (!v.dtype() || is_complex(*v.dtype())) return std::nullopt;
  if (const Tensor* known = v.constant()) {
    if (known->numel() != 1) return std::nullopt;
    if (known->dtype == DType::Bool) return Scalar(known->to_ints()[0] != 0);
    return is_floating(known->dtype) ? Scalar(known->to_doubles()[0]) : Scalar(known->to_ints()[0]);
  }
  if (v.rank() != std::size_t{0}) {
    const Value scalar_shape = m.builder().constant(Tensor::of_ints({}, {0}));
    v = m.emit("Reshape", {v, scalar_shape});
  }
  if (*v.dtype() == DType::Bool) return Scalar(Scalar::Kind::Bool, v);
  if (is_floating(*v.dtype())) return Scalar(Scalar::Kind::Float, v);
  return Scalar(m.builder().symbol_of_value(m.builder().cast(v, DType::Int64), "item"));
}

bool item(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const TensorRef* tensor = tensor_in(inputs, 0);
  if (!tensor) return false;
  const auto number = item_of(m, *tensor);
  if (!number) return false;
  const std::string& op = node.op->name;
  if (op == "aten::item" || op == "aten::ScalarImplicit" || op == "aten::_local_scalar_dense") {
    outputs.emplace_back(*number);
    return true;
  }
  const std::string_view to = op.ends_with("IntImplicit") || op == "aten::Int"       ? "Int"
                              : op.ends_with("FloatImplicit") || op == "aten::Float" ? "Float"
                                                                                     : "Bool";
  if (number->is_known()) {
    const double v = *number->number();
    if (to == "Bool") outputs.emplace_back(Scalar(v != 0));
    if (to == "Float") outputs.emplace_back(Scalar(v));
    if (to == "Int")
      outputs.emplace_back(number->integer() ? Scalar(*number->integer())
                                             : Scalar(static_cast<std::int64_t>(v)));
    return true;
  }
  const std::array args{*number};
  auto result = symbolic_math(m, to, args);
  if (!result) return false;
  outputs.emplace_back(std::move(*result));
  return true;
}

/// Shape arithmetic of traced models: 0-d integer tensors that came from sizes stay numbers.
bool number_math(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const std::string& op = node.op->name;
  std::vector<Scalar> args;
  bool symbolic = false;
  std::string_view name = std::string_view(op).substr(op.rfind(':') + 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& parameter = node.op->schema->arguments[i].name;
    if (parameter == "alpha") {
      if (int_in(inputs, i) != 1) return false;
      continue;
    }
    if (parameter == "rounding_mode") {
      const auto* mode = inputs[i].get_if<std::string>();
      if (!mode || *mode != "floor") return false;
      name = "floordiv";
      continue;
    }
    std::optional<Scalar> number;
    if (const auto* scalar = inputs[i].get_if<Scalar>())
      number = *scalar;
    else if (const TensorRef* tensor = tensor_in(inputs, i))
      number = m.tensors().number(*tensor);
    if (!number || number->kind() != Scalar::Kind::Int) return false;
    symbolic |= !number->is_known();
    args.push_back(std::move(*number));
  }
  if (!symbolic || (name == "div" && op == "aten::div")) return false;
  if (name == "floor_divide") name = "floordiv";
  auto result = symbolic_math(m, name, args);
  if (!result || result->kind() != Scalar::Kind::Int) return false;
  outputs.emplace_back(m.tensors().make_number(std::move(*result)));
  return true;
}

/// torch.tensor(data): numbers, and nested lists of them.
bool make_tensor(Machine& m, const Node& node, Frame&, Data& inputs, Data& outputs) {
  const auto& schema = *node.op->schema;
  std::optional<DType> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (schema.arguments[i].name == "dtype")
      if (const auto code = int_in(inputs, i)) wanted = dtype_of_scalar_type(*code);

  if (const auto* scalar = inputs[0].get_if<Scalar>()) {
    if (scalar->is_known()) return false;
    const DType natural = default_dtype(scalar->kind());
    if (wanted.value_or(natural) == natural && natural == DType::Int64)
      outputs.emplace_back(m.tensors().make_number(*scalar));
    else
      outputs.emplace_back(
          m.tensors().make(m.builder().cast(m.number_value(*scalar), wanted.value_or(natural))));
    return true;
  }
  if (const TensorRef* tensor = tensor_in(inputs, 0)) {  // as_tensor, or tensor of a tensor: a copy
    const Value v = m.tensors().read(*tensor);
    outputs.emplace_back(m.tensors().make(wanted ? m.builder().cast(v, *wanted) : v));
    return true;
  }
  const auto* list = inputs[0].get_if<ListRef>();
  if (!list) return false;
  std::vector<Value> parts;
  std::optional<DType> natural;
  for (const Datum& item : (*list)->items) {
    Value part;
    if (const auto* scalar = item.get_if<Scalar>()) {
      natural = default_dtype(scalar->kind());
      part = m.number_value(*scalar);
    } else if (const auto* tensor = item.get_if<TensorRef>()) {
      part = m.tensors().read(*tensor);
      natural = part.dtype();
    } else {
      return false;
    }
    const DType target = wanted.value_or(natural.value_or(DType::Float32));
    part = m.builder().cast(part, target);
    if (part.rank() != std::size_t{0}) return false;
    parts.push_back(m.emit(
        "Reshape", {part, m.builder().constant(Tensor::of_ints(std::array<std::int64_t, 1>{1}, {1}))}));
  }
  if (parts.empty()) return false;
  outputs.emplace_back(
      m.tensors().make(parts.size() == 1 ? parts[0] : m.emit("Concat", parts, {{"axis", 0}})));
  return true;
}

/// as_strided looks at memory, and its symbolic function sees the elements of a tensor row by row: they have to be the same.
bool check_memory(Machine& m, const program::Node&, Frame&, std::vector<Datum>& inputs, std::vector<Datum>&) {
  const auto* tensor = inputs[0].get_if<TensorRef>();
  if (!tensor) return false;
  const auto& views = (*tensor)->views;
  const auto rank = m.tensors().read(*tensor).shape() ? m.tensors().read(*tensor).shape()->size() : 2;
  Rejection rejection("looks at memory, and nothing tells how the elements of its input lie there");
  rejection.advice = "call contiguous() on its input before";
  if (!(*tensor)->row_major && (rank > 1 || !views.empty())) throw rejection;
  const auto moves_the_beginning = [](const ViewStep& step) {
    return step.schema->name == "aten::select" || step.schema->name == "aten::slice" ||
           step.schema->name == "aten::narrow";
  };
  if (!inputs.back().is_none() && std::any_of(views.begin(), views.end(), moves_the_beginning))
    throw Rejection("counts from the beginning of the memory that its input is a part of");
  return false;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::Bool", item},
    {"aten::Float", item},
    {"aten::FloatImplicit", item},
    {"aten::Int", item},
    {"aten::IntImplicit", item},
    {"aten::ScalarImplicit", item},
    {"aten::_local_scalar_dense", item},
    {"aten::add", number_math},
    {"aten::as_strided", check_memory},
    {"aten::as_strided_copy", check_memory},
    {"aten::as_strided_scatter", check_memory},
    {"aten::as_tensor", make_tensor},
    {"aten::dim", rank},
    {"aten::div", number_math},
    {"aten::floor_divide", number_math},
    {"aten::is_autocast_cpu_enabled", never},
    {"aten::is_autocast_enabled", never},
    {"aten::is_complex", has_kind},
    {"aten::is_contiguous", is_contiguous},
    {"aten::is_floating_point", has_kind},
    {"aten::is_grad_enabled", never},
    {"aten::is_leaf", always},
    {"aten::is_nonzero", item},
    {"aten::is_scripting", always},
    {"aten::is_signed", has_kind},
    {"aten::item", item},
    {"aten::len", length},
    {"aten::mul", number_math},
    {"aten::neg", number_math},
    {"aten::numel", element_count},
    {"aten::remainder", number_math},
    {"aten::requires_grad_", same_tensor},
    {"aten::rsub", number_math},
    {"aten::size", size},
    {"aten::storage_offset", zero},
    {"aten::stride", stride},
    {"aten::sub", number_math},
    {"aten::tensor", make_tensor},
    {"prim::NumToTensor", number_to_tensor},
    {"prim::device", device},
    {"prim::dtype", dtype},
    {"prim::is_cpu", always},
    {"prim::is_cuda", never},
    {"prim::is_mkldnn", never},
    {"prim::is_mps", never},
    {"prim::is_nested", never},
    {"prim::is_quantized", has_kind},
    {"prim::is_sparse", never},
    {"prim::is_sparse_csr", never},
    {"prim::is_vulkan", never},
    {"prim::is_xla", never},
    {"prim::is_xpu", never},
    {"prim::is_meta", never},
    {"prim::layout", zero},
    {"prim::requires_grad", never},
    {"prim::shape", size},
};

}  // namespace

std::span<const BuiltinEntry> tensor_builtins() { return kTable; }

}  // namespace pt2onnx
