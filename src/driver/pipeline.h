// The stages of a conversion, one member function each; convert.cpp strings them together.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "driver/bind_inputs.h"
#include "driver/module_state.h"
#include "driver/reference.h"
#include "driver/user_entries.h"
#include "emitter/emitter.h"
#include "frontend/frontend.h"
#include "interpreter/interpreter.h"
#include "pt2onnx/convert.h"
#include "pt2onnx/graph.h"
#include "pt2onnx/registry.h"
#include "verify/runtime.h"

namespace pt2onnx {

/// Ends a run early; the report says why.
struct Halt {
  Status status;
};

class Pipeline {
 public:
  Pipeline(std::string path, const Options& options);

  /// With deferred weights only those are read that the answer needs.
  void load(bool defer_weights = false);
  void bind();
  void translate(int opset);
  void check();
  void write(const std::string& output);
  void verify_output();
  /// The model as the bytes of a file, instead of write() and verify_output().
  std::string serialize();
  void verify_bytes(const std::string& model);
  void verify_file(const std::string& onnx_path);

  /// Runs the stages; whatever they throw ends up as status and error of the outcome.
  template <typename Stages>
  Outcome run(const Stages& stages) {
    Status status = Status::Ok;
    try {
      stages();
    } catch (const Halt& halt) {
      status = halt.status;
    } catch (const std::bad_alloc&) {
      status = fail(Status::Defect, "out of memory");
    } catch (const std::exception& e) {
      status = fail(Status::Defect, e.what());
    }
    return {status, report_};
  }

  /// Forgets the last translation, for another one at another opset.
  void forget_translation();

 private:
  void begin(std::string_view stage, StageStatus Report::* status);
  void done();
  Status fail(Status status, std::string why);
  [[noreturn]] void halt(Status status, std::string why);
  void find_state();
  InterpretResult interpret_program();
  void compare_with(Session& session);
  void verify_session(const std::function<std::unique_ptr<Session>()>& open);
  void complete_output_types();
  void describe_model();
  InterpretOptions interpretation() const;
  void trace_difference(const ReferenceRun& run);
  void finish_verification();

  std::string path_;
  const Options& options_;
  UserEntries entries_;
  std::vector<Keep> keeps_;
  Registry registry_;
  std::unique_ptr<TorchModule> module_;
  BoundInputs bound_;
  std::optional<StateFinder> state_finder_;  // with --state
  ModuleState state_;
  std::unique_ptr<Model> model_;
  Report report_;
  StageStatus Report::* stage_ = nullptr;
};

}  // namespace pt2onnx
