#include "frontend/stand_ins.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/custom_class_detail.h>

#include <map>
#include <mutex>

#include "core/child_process.h"
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
    // A bare name would be looked for in the system's folders only.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
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

std::vector<std::string> register_schemas(const std::vector<std::string>& schemas) {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> warnings;
  for (const std::string& text : schemas) {
    try {
      c10::FunctionSchema schema = torch::jit::parseSchema(text);
      const std::string name = schema.name();
      if (name.find("::") == std::string::npos) throw std::invalid_argument("the name has no namespace");
      const auto known = registry().operators.find(name);
      if (known != registry().operators.end() && !known->second.has_kernel) registry().operators.erase(known);
      if (is_known_operator(name))
        warnings.push_back("--op-schema for `" + name + "` is ignored: libtorch knows that operator");
      else
        register_without_kernel(std::move(schema));
    } catch (const std::exception& e) {
      throw UsageError("--op-schema `" + text +
                       "` is no operator schema (`ns::op(Tensor x, int k) -> Tensor`): " + short_message(e));
    }
  }
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
