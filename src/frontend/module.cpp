// Loading a TorchScript file: from its path to a program and a module that runs.
#include <ATen/Context.h>
#include <ATen/core/class_type.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <future>

#include "frontend/code_scan.h"
#include "frontend/deferred_weights.h"
#include "frontend/file_kind.h"
#include "frontend/folder.h"
#include "frontend/frontend.h"
#include "frontend/lower.h"
#include "frontend/module_state.h"
#include "frontend/process.h"
#include "frontend/stand_ins.h"
#include "frontend/traced_inputs.h"

namespace pt2onnx {

namespace jit = torch::jit;

namespace {

using program::Literal;

/// Those that a user could have called: Python's own (__getstate__, __setstate__) are left out.
std::vector<std::string> methods_of(const jit::Module& module) {
  std::vector<std::string> names;
  for (const jit::Method& method : module.get_methods())
    if (!method.name().starts_with("__")) names.push_back(method.name());
  std::sort(names.begin(), names.end());
  return names;
}

/// Torch's exceptions come out with the part of their text that says what is wrong.
template <typename Work>
auto in_torch(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw std::runtime_error(frontend::short_message(e));
  }
}

class LoadedModule final : public TorchModule {
 public:
  LoadedModule(const frontend::Archive& archive, jit::Module module, std::string method,
               std::vector<std::string> warnings, std::vector<std::string> unknown)
      : module_(std::move(module)),
        method_(std::move(method)),
        bytes_(archive.bytes),
        warnings_(std::move(warnings)),
        unknown_(std::move(unknown)),
        program_(frontend::lower(module_, method_, archive, folder_, constants_)) {
    frontend::apply_traced_inputs(archive.path, method_, *program_.functions.at(program_.entry->name),
                                  folder_.types());
  }

  const program::Program& program() const override { return program_; }
  Folder& folder() override { return folder_; }
  const std::vector<std::string>& warnings() const override { return warnings_; }
  const std::vector<std::string>& unknown_operators() const override { return unknown_; }
  std::size_t file_bytes() const override { return bytes_; }

  std::vector<std::string> methods() const override { return methods_of(module_); }

  Literal run(std::span<const Literal> inputs) override {
    return in_torch([&] { return run_method(fresh_copy(module_), inputs); });
  }

  std::vector<Literal> run_calls(Calls calls) override {
    std::vector<Literal> results;
    in_torch([&] { run_all(calls, &results); });
    return results;
  }

  program::ObjectRef state_after(Calls calls) override {
    return in_torch([&] { return state_of(run_all(calls, nullptr)); });
  }

  void advance(Calls calls) override {
    in_torch([&] {
      module_ = run_all(calls, nullptr);
      program_.root = state_of(module_);
    });
  }

 private:
  jit::Module fresh_copy(const jit::Module& module) {
    at::manual_seed(0);  // random numbers are the same at each run as well
    restore_constants();
    return frontend::copy_state(module);
  }

  /// The module as loaded, after these calls.
  jit::Module run_all(Calls calls, std::vector<Literal>* results) {
    jit::Module copy = fresh_copy(loaded_);
    for (const auto& inputs : calls) {
      Literal result = run_method(copy, inputs);
      if (results) results->push_back(std::move(result));
    }
    return copy;
  }

  program::ObjectRef state_of(const jit::Module& module) {
    return std::get<program::ObjectRef>(
        frontend::LiteralReader(folder_.types()).read_named(module._ivalue()).data);
  }

  Literal run_method(const jit::Module& module, std::span<const Literal> inputs) {
    const at::NoGradGuard no_grad;
    // Nodes run one by one as they are written: the program that was translated, not an optimised one.
    const jit::GraphOptimizerEnabledGuard no_optimizer(false);
    const jit::Method method = module.get_method(method_);
    const auto& formals = method.function().getSchema().arguments();
    if (inputs.size() >= formals.size())
      throw std::invalid_argument("more inputs than `" + method_ + "` has");
    std::vector<at::IValue> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      // A copy, since a program may write into its inputs, and these are the caller's. The first formal is self.
      arguments.push_back(frontend::to_ivalue(inputs[i], formals[i + 1].type()).deepcopy());
    return frontend::LiteralReader(folder_.types()).read(method(std::move(arguments)));
  }

  /// A program may write into a constant of its graph; the copy of the module's state does not cover those.
  void restore_constants() {
    for (const auto& [tensor, original] : constants_)
      if (tensor.has_storage() && tensor.storage().data() != original.storage().data())
        tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(frontend::copy_on_write(original).storage());
  }

  frontend::TorchFolder folder_;
  jit::Module module_;
  jit::Module loaded_ = module_;  // as in the file; module_ may have gone on
  std::string method_;
  std::size_t bytes_;
  std::vector<std::string> warnings_, unknown_;
  std::vector<frontend::GraphConstant> constants_;
  program::Program program_;
};

// ---- loading -------------------------------------------------------------------------------------------------

/// Drops what torch would print on stderr: it speaks of its own Python API.
class QuietHandler final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

jit::Module import(const std::string& path, frontend::DeferredWeights* deferred) {
  QuietHandler handler;
  const c10::WarningUtils::WarningHandlerGuard quiet(&handler);
  const auto unit = [] { return std::make_shared<jit::CompilationUnit>(); };
  const c10::Device device(at::kCPU);
  constexpr bool kLoadDebugFiles = false;  // LocationTable reads them
  if (deferred) {
    jit::ExtraFilesMap no_files;
    jit::Module module = jit::import_ir_module(unit(), deferred->reader(), device, no_files, kLoadDebugFiles);
    if (deferred->attach(module)) return module;
  }
  return jit::import_ir_module(unit(), path, device, kLoadDebugFiles);
}

/// What torch says to an archive that it does not take.
LoadError refusal(const std::string& path, const std::exception& e, const std::vector<std::string>& unknown) {
  if (dynamic_cast<const std::bad_alloc*>(&e))
    return LoadError("`" + path + "` needs more memory than there is");
  std::string advice;
  if (!unknown.empty())
    advice =
        "; `" + unknown.front() +
        "` is no operator of libtorch: give its true schema (--op-schema) or its library (--load-library)";
  return LoadError("`" + path + "` is a TorchScript archive that libtorch " + torch_version() +
                   " cannot load: " + frontend::short_message(e) + advice);
}

/// The operator that torch's importer stumbled over, if that is what its message says.
std::optional<std::string> unknown_builtin(const std::string& message) {
  constexpr std::string_view kMark = "Unknown builtin op: ";
  const auto at = message.find(kMark);
  if (at == std::string::npos) return std::nullopt;
  std::string name = message.substr(at + kMark.size());
  name.resize(std::min(name.find_first_of(" .,\n"), name.size()));
  if (name.find("::") == std::string::npos) return std::nullopt;
  return name;
}

/// Imports; an operator that the scan of the code did not see (an aten operator newer than this libtorch) gets its
/// stand-in when the importer names it.
jit::Module import_with_stand_ins(const std::string& path, frontend::DeferredWeights* deferred,
                                  std::vector<std::string>& unknown) {
  constexpr int kLimit = 256;
  std::string last;
  for (int attempt = 0;; ++attempt) {
    try {
      return import(path, deferred);
    } catch (const std::exception& e) {
      const auto name = unknown_builtin(e.what());
      if (!name || *name == last || attempt == kLimit) throw refusal(path, e, unknown);
      last = *name;
      for (std::string& added : frontend::register_stand_ins({{*name, 1}}))
        unknown.push_back(std::move(added));
    }
  }
}

void check_classes(const std::string& path, const std::set<std::string>& classes) {
  for (const std::string& name : classes)
    if (!frontend::is_known_class(name))
      throw LoadError("`" + path + "` holds an object of the custom class `torch.classes." + name +
                      "`, which libtorch does not know: load the library that registers it (--load-library)");
}

bool any_training(const jit::Module& module) {
  for (const jit::Module& part : module.modules())
    if (part.hasattr("training") && part.attr("training").isBool() && part.attr("training").toBool())
      return true;
  return false;
}

void set_mode(jit::Module& module, const std::string& code, const LoadOptions& options,
              std::vector<std::string>& warnings) {
  // Code that never asks is the same in both modes (a traced module's always is).
  if (!any_training(module) || code.find(".training") == std::string::npos) return;
  if (options.keep_training) {
    warnings.emplace_back(
        "the module is in training mode and is kept so: dropout and batch norm act as in training");
    return;
  }
  module.eval();
  warnings.emplace_back("the module was saved in training mode; it is exported in eval mode");
}

void check_method(const jit::Module& module, const std::string& method) {
  if (module.find_method(method)) return;
  std::string names;
  for (const std::string& name : methods_of(module)) names += (names.empty() ? "`" : ", `") + name + "`";
  throw UsageError("the module has no method `" + method + "`; it has " + (names.empty() ? "none" : names));
}

}  // namespace

std::unique_ptr<TorchModule> load_torchscript(const std::string& path, const LoadOptions& options) {
  frontend::keep_torch_quiet();
  const frontend::Archive archive = frontend::open_torchscript(path);
  std::optional<frontend::DeferredWeights> deferred;
  if (options.defer_weights) deferred.emplace(archive);
  // Torch reads past damage without a word. The checksums of the weights take a moment: beside the import.
  std::future<void> weights_are_sound = std::async(std::launch::async, [&] {
    archive.check_weights([&](const auto& entry) { return !deferred || !deferred->waits(entry); });
  });

  frontend::load_libraries(options.libraries);
  std::vector<std::string> warnings = frontend::register_schemas(options.op_schemas);
  check_classes(path, frontend::custom_classes_in(archive.code));
  const auto uses = frontend::operators_in(archive.code);
  const auto unused = frontend::unused_schemas(options.op_schemas, uses);
  warnings.insert(warnings.end(), unused.begin(), unused.end());
  std::vector<std::string> unknown = frontend::register_stand_ins(uses);

  jit::Module module = import_with_stand_ins(path, deferred ? &*deferred : nullptr, unknown);
  weights_are_sound.get();
  set_mode(module, archive.code, options, warnings);
  check_method(module, options.method);
  try {
    return std::make_unique<LoadedModule>(archive, std::move(module), options.method, std::move(warnings),
                                          unknown);
  } catch (const std::logic_error&) {
    throw;  // a defect of the front end
  } catch (const std::exception& e) {
    throw refusal(path, e, unknown);  // torch compiles a method's code when it is first asked for
  }
}

}  // namespace pt2onnx
