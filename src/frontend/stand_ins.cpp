#include "frontend/stand_ins.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/custom_class_detail.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/child_process.h"
#include "core/library_path.h"
#include "frontend/frontend.h"
#include "frontend/values.h"
#include "frontend/vision_kernels.h"

namespace pt2onnx::frontend {

namespace {

void no_kernel(const c10::OperatorHandle& op, torch::jit::Stack*) {
  throw std::runtime_error("`" + op.operator_name().name +
                           "` has no kernel here: it comes from a library that is not " +
                           "loaded (--load-library)");
}

constexpr unsigned kSecondsToLoad = 60;

/// What was registered here, with the handles that keep it registered. Process-wide, as torch's own registry is.
struct Registered {
  std::vector<c10::RegistrationHandleRAII> handles;
  bool has_kernel = false;
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Registered> operators;
};

Registry& registry() {
  static auto* const kRegistry = new Registry;  // never destroyed: torch's registry may be gone first
  return *kRegistry;
}

void register_operator(c10::FunctionSchema schema, c10::DispatchKey key, c10::KernelFunction kernel,
                       bool has_kernel) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const c10::OperatorName name = schema.operator_name();
  Registered& entry = registry().operators[name.name];
  entry.has_kernel = has_kernel;
  entry.handles.push_back(dispatcher.registerDef(std::move(schema), "pt2onnx"));
  entry.handles.push_back(
      dispatcher.registerImpl(name, key, std::move(kernel), std::nullopt, nullptr, "pt2onnx"));
}

void register_without_kernel(c10::FunctionSchema schema) {
  // For every device: it only says why it cannot run.
  register_operator(std::move(schema), c10::DispatchKey::CompositeExplicitAutograd,
                    c10::KernelFunction::makeFromBoxedFunction<&no_kernel>(), false);
}

void register_vision_operators() {
  for (VisionOperator& op : vision_operators()) {
    auto schema = torch::jit::parseSchema(op.schema);
    if (!is_known_operator(schema.name()))
      register_operator(std::move(schema), c10::DispatchKey::CPU, std::move(op.kernel), true);
  }
}

std::string stand_in_schema(const OperatorUse& use) {
  if (use.results == 1) return use.name + "(...) -> Tensor";
  std::string results = "Tensor";
  for (int i = 1; i < use.results; ++i) results += ", Tensor";
  return use.name + "(...) -> (" + results + ")";
}

c10::FunctionSchema parsed_schema(const std::string& text) {
  try {
    c10::FunctionSchema schema = torch::jit::parseSchema(text);
    if (schema.name().find("::") == std::string::npos)
      throw std::invalid_argument("the name has no namespace");
    return schema;
  } catch (const std::exception& e) {
    throw UsageError("--op-schema `" + text +
                     "` is no operator schema (`ns::op(Tensor x, int k) -> Tensor`): " + short_message(e));
  }
}

/// Each schema once. Two of one operator would let the order of the options decide what is exported.
std::vector<c10::FunctionSchema> parsed_schemas(const std::vector<std::string>& texts,
                                                std::vector<std::string>& warnings) {
  std::vector<c10::FunctionSchema> schemas;
  for (const std::string& text : texts) {
    c10::FunctionSchema schema = parsed_schema(text);
    const auto same = std::ranges::find(schemas, schema.operator_name(), &c10::FunctionSchema::operator_name);
    if (same == schemas.end())
      schemas.push_back(std::move(schema));
    else if (*same == schema)
      warnings.push_back("--op-schema for `" + schema.name() + "` is given twice");
    else
      throw UsageError("--op-schema `" + text + "` contradicts `" + c10::toString(*same) +
                       "`: give one of them, or each an overload name (`ns::op.name(...)`)");
  }
  return schemas;
}

}  // namespace

bool is_known_operator(const std::string& name) {
  return !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

bool is_known_class(const std::string& name) {
  return torch::getCustomClass("__torch__.torch.classes." + name) != nullptr;
}

void load_libraries(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  const std::lock_guard lock(registry().mutex);
  // A library that registers what we registered already would end the process from a static initialiser.
  registry().operators.clear();
  for (const std::string& path : paths) {
    const std::string file = library_path(path);
    // An error thrown while a library registers itself ends the process.
    if (!in_child_process([&] { return dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) ? "loaded" : "refused"; },
                          kSecondsToLoad))
      throw UsageError(
          "the library `" + path +
          "` ends the process that loads it: its operators may be registered already, or it throws");
    if (!dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
      const char* const reason = dlerror();
      throw UsageError("the library `" + path + "` does not load: " + (reason ? reason : "no reason given"));
    }
  }
}

std::vector<std::string> register_schemas(const std::vector<std::string>& texts) {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> warnings;
  const auto schemas = parsed_schemas(texts, warnings);
  // All go before any comes: one name may have several overloads.
  for (const auto& schema : schemas) {
    const auto ours = registry().operators.find(schema.name());
    if (ours != registry().operators.end() && !ours->second.has_kernel) registry().operators.erase(ours);
  }
  std::vector<c10::FunctionSchema> added;
  for (const auto& schema : schemas) {
    if (is_known_operator(schema.name()))
      warnings.push_back("--op-schema for `" + schema.name() + "` is ignored: libtorch knows that operator");
    else
      added.push_back(schema);
  }
  for (auto& schema : added) register_without_kernel(std::move(schema));
  return warnings;
}

std::vector<std::string> unused_schemas(const std::vector<std::string>& texts,
                                        const std::vector<OperatorUse>& uses) {
  std::vector<std::string> warnings;
  std::vector<std::string> ignored;  // what is given twice is told by register_schemas()
  for (const auto& schema : parsed_schemas(texts, ignored))
    if (std::ranges::find(uses, schema.name(), &OperatorUse::name) == uses.end() &&
        registry().operators.contains(schema.name()))
      warnings.push_back("--op-schema for `" + schema.name() +
                         "` was not used: the file calls no such operator");
  return warnings;
}

std::vector<std::string> register_stand_ins(const std::vector<OperatorUse>& uses) {
  const std::lock_guard lock(registry().mutex);
  register_vision_operators();
  std::vector<std::string> unknown;
  for (const OperatorUse& use : uses) {
    if (!is_known_operator(use.name)) register_without_kernel(torch::jit::parseSchema(stand_in_schema(use)));
    const auto ours = registry().operators.find(use.name);
    if (ours != registry().operators.end() && !ours->second.has_kernel) unknown.push_back(use.name);
  }
  return unknown;
}

}  // namespace pt2onnx::frontend
