#include "frontend/decompose.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "frontend/lower.h"

namespace pt2onnx::frontend {

namespace jit = torch::jit;

namespace {

constexpr auto kComposite = c10::DispatchKey::CompositeImplicitAutograd;

/// The operator, if its kernel for every device is made of calls of other operators.
std::optional<c10::OperatorHandle> find_composite(const program::Schema& schema) {
  // Kernels of gradients trust their arguments: one crashes where an optional tensor is None.
  if (schema.name.ends_with("_backward")) return std::nullopt;
  auto handle = c10::Dispatcher::singleton().findSchema({schema.name, schema.overload});
  if (handle && !handle->hasKernelForDispatchKey(kComposite)) handle.reset();
  return handle;
}

bool is_traced(const at::IValue& value) {
  return (value.isTensor() && value.toTensor().defined()) ||
         (value.isTensorList() && !value.toTensorVector().empty());
}

/// While it lives, notes whether an operator is called whose result depends on elements where a recording cannot: `item`,
/// `equal`, `nonzero`.
class ElementWatch {
 public:
  ElementWatch()
      : callback_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(&ElementWatch::observe).scopes({at::RecordScope::FUNCTION}))) {
    offender.clear();
  }
  ~ElementWatch() { at::removeCallback(callback_); }
  ElementWatch(const ElementWatch&) = delete;
  ElementWatch& operator=(const ElementWatch&) = delete;

  /// Its name; empty while there is none.
  static const std::string& found() { return offender; }

 private:
  static std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& call) {
    const auto name = call.operator_name();
    const auto op = name ? c10::Dispatcher::singleton().findOp(*name) : std::nullopt;
    if (op && (op->hasTag(at::Tag::data_dependent_output) || op->hasTag(at::Tag::dynamic_output_shape)))
      offender = name->name;
    return nullptr;
  }

  // A callback is a plain function: what it finds has to be kept outside.
  static thread_local std::string offender;
  at::CallbackHandle callback_;
};
thread_local std::string ElementWatch::offender;

/// Tensors that come from nowhere have no elements on the meta device.
void check_constants(const jit::Graph& graph) {
  for (const jit::Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant) continue;
    const auto value = jit::toIValue(node->output());
    if (value && value->isTensor() && value->toTensor().defined() && value->toTensor().is_meta())
      throw std::invalid_argument("it makes a tensor in a way that cannot be followed");
  }
}

bool has_elements(const program::Literal& literal) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data))
    return !tensor->bytes.empty() || tensor->numel() == 0;
  if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data))
    return std::all_of((*list)->items.begin(), (*list)->items.end(), has_elements);
  return true;
}

/// The kernel may write to its arguments, whose memory is the program's.
at::IValue copied(const at::IValue& value) {
  if (value.isTensor()) return value.toTensor().clone();
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : value.toTensorVector()) copies.push_back(tensor.clone());
  return copies;
}

}  // namespace

bool is_composite(const program::Schema& schema) { return find_composite(schema).has_value(); }

program::Program record_calls(const program::Schema& schema, std::span<const program::Literal> arguments,
                              TorchFolder& folder) {
  const auto composite = find_composite(schema);
  if (!composite) throw std::invalid_argument("libtorch does not compute it by other operators");
  const bool known = std::all_of(arguments.begin(), arguments.end(), has_elements);
  jit::Stack stack = folder.stack_of(schema, arguments, known ? TensorMode::Data : TensorMode::Meta);
  const bool writes = folder.operators().find(schema.name, schema.overload)->writes;
  jit::Stack inputs;
  for (const at::IValue& value : stack)
    if (is_traced(value)) inputs.push_back(known && writes ? copied(value) : value);

  const auto call = [&](jit::Stack traced) {
    std::size_t next = 0;
    for (at::IValue& value : stack)
      if (is_traced(value)) value.swap(traced.at(next++));
    composite->callBoxedForDispatchKey(kComposite, stack);
    return stack;
  };
  const at::NoGradGuard no_grad;
  const ElementWatch watch;
  const auto [state, outputs] =
      jit::tracer::trace(std::move(inputs), call, [](const at::Tensor&) { return std::string(); }, false);
  if (!ElementWatch::found().empty())
    throw std::invalid_argument("what it calls depends on elements, by `" + ElementWatch::found() + "`");
  check_constants(*state->graph);
  return lower(*state->graph, schema.name, folder);
}

}  // namespace pt2onnx::frontend
