#include "frontend/folder.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/InferenceMode.h>

#include "frontend/decompose.h"
#include "frontend/frontend.h"
#include "frontend/process.h"
#include "frontend/stand_ins.h"

namespace pt2onnx::frontend {

using program::Literal;

namespace {

/// Of the literals and, past their end, the schema's defaults.
torch::jit::Stack make_stack(const c10::FunctionSchema& schema, std::span<const Literal> literals,
                             TensorMode mode) {
  torch::jit::Stack stack;
  const auto& formals = schema.arguments();
  if (literals.size() > formals.size() && !schema.is_vararg())
    throw std::invalid_argument("more arguments than the schema has");
  stack.reserve(std::max(literals.size(), formals.size()));
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const bool formal = i < formals.size();
    stack.push_back(to_ivalue(literals[i], formal ? formals[i].type() : nullptr, mode,
                              formal ? formals[i].N() : std::nullopt));
  }
  for (std::size_t i = literals.size(); i < formals.size(); ++i) {
    if (!formals[i].default_value())
      throw std::invalid_argument("argument `" + formals[i].name() + "` is missing");
    stack.push_back(*formals[i].default_value());
  }
  if (schema.is_vararg()) stack.push_back(static_cast<std::int64_t>(literals.size()));  // how many there are
  if (mode != TensorMode::Meta) return stack;
  // Factory functions make their result where the device argument says; None would be the CPU.
  for (std::size_t i = 0; i < formals.size(); ++i)
    if (formals[i].name() == "device" && (stack[i].isNone() || stack[i].isDevice()))
      stack[i] = c10::Device(at::kMeta);
  return stack;
}

/// Normalisations in training mode update their running statistics, and their schemas do not say so.
bool writes_silently(std::string_view name) {
  return name.ends_with("batch_norm") || name.ends_with("instance_norm") ||
         name == "aten::_batch_norm_impl_index" || name == "aten::rrelu_with_noise";
}

}  // namespace

Folder::Result TorchFolder::call(const program::Schema& schema, std::span<const Literal> arguments,
                                 TensorMode mode) {
  TorchOperator* op = operators_.find(schema.name, schema.overload);
  if (!op) return {{}, "libtorch has no operator of that name and overload"};
  if (op->writes) return {{}, "an operator that writes into its arguments is not evaluated"};
  if (!op->run) return {{}, "an operator that needs its place in the program is not evaluated"};
  try {
    const c10::InferenceMode guard;
    torch::jit::Stack stack = make_stack(*op->schema, arguments, mode);
    if (writes_silently(schema.name))
      for (at::IValue& value : stack)
        if (value.isTensor() && value.toTensor().defined()) value = value.toTensor().clone();
    op->run(stack);
    Result result;
    LiteralReader reader(types_);
    result.values.reserve(stack.size());
    for (const at::IValue& value : stack) result.values.push_back(reader.read(value));
    return result;
  } catch (const std::exception& e) {
    return {{}, short_message(e)};
  }
}

Folder::Result TorchFolder::evaluate(const program::Schema& schema, std::span<const Literal> arguments) {
  return call(schema, arguments, TensorMode::Data);
}

Folder::Result TorchFolder::evaluate_types(const program::Schema& schema,
                                           std::span<const Literal> arguments) {
  return call(schema, arguments, TensorMode::Meta);
}

torch::jit::Stack TorchFolder::stack_of(const program::Schema& schema, std::span<const Literal> arguments,
                                        TensorMode mode) {
  const TorchOperator* op = operators_.find(schema.name, schema.overload);
  if (!op) throw std::invalid_argument("libtorch has no operator of that name and overload");
  return make_stack(*op->schema, arguments, mode);
}

bool TorchFolder::is_composite(const program::Schema& schema) { return frontend::is_composite(schema); }

Folder::Decomposition TorchFolder::decompose(const program::Schema& schema,
                                             std::span<const Literal> arguments) {
  try {
    return {std::make_shared<program::Program>(record_calls(schema, arguments, *this)), {}};
  } catch (const std::exception& e) {
    const std::string words = short_message(e);
    // The tracer's own defects, for calls that TorchScript has no word for.
    if (words.find("INTERNAL ASSERT") != std::string::npos)
      return {nullptr, "TorchScript cannot record what it calls"};
    return {nullptr, words.substr(0, words.find(". "))};
  }
}

std::shared_ptr<const program::Schema> TorchFolder::schema(std::string_view name, std::string_view overload) {
  if (const TorchOperator* op = operators_.find(name, overload)) return op->described;
  if (!overload.empty()) return nullptr;
  const auto all = operators_.overloads(name);
  return all.empty() ? nullptr : all.front()->described;
}

bool TorchFolder::exists(std::string_view name, std::string_view overload) {
  return operators_.find(name, overload) != nullptr;
}

std::vector<std::shared_ptr<const program::Schema>> TorchFolder::overloads(std::string_view name) {
  std::vector<std::shared_ptr<const program::Schema>> out;
  for (const TorchOperator* op : operators_.overloads(name)) out.push_back(op->described);
  return out;
}

}  // namespace pt2onnx::frontend

namespace pt2onnx {

std::unique_ptr<Folder> torch_folder(const LoadOptions& options) {
  frontend::keep_torch_quiet();
  frontend::load_libraries(options.libraries);
  frontend::register_schemas(options.op_schemas);
  frontend::register_stand_ins({});  // torchvision's operators are part of the catalogue
  return std::make_unique<frontend::TorchFolder>();
}

}  // namespace pt2onnx
