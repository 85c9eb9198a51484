#include "frontend/lower.h"

#include <ATen/core/class_type.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "frontend/locations.h"
#include "frontend/module_state.h"

namespace pt2onnx::frontend {

using program::Literal;
using program::Program;
using program::ValueId;

namespace jit = torch::jit;

namespace {

bool is_vararg_stub(const c10::FunctionSchema& schema) { return schema.is_vararg() && schema.is_varret(); }

class Lowering {
 public:
  Lowering(const Archive& archive, TorchFolder& folder, std::vector<GraphConstant>& constants)
      : folder_(folder), literals_(folder.types()), constants_(constants), locations_(archive) {}

  Program run(const jit::Graph& graph, const std::string& name) {
    program_.entry = &lower_graph(graph, name);
    return std::move(program_);
  }

  Program run(const jit::Module& module, const std::string& method) {
    program_.root = std::get<program::ObjectRef>(literals_.read_named(module._ivalue()).data);
    add_classes_read();
    jit::Function& entry = module.type()->getMethod(method);
    add_method(module.type(), method);
    work_off();
    program_.entry = program_.functions.at(entry.qualname().qualifiedName()).get();
    return std::move(program_);
  }

 private:
  // ---- what is reached -----------------------------------------------------------------------------------------

  void work_off() {
    while (!worklist_.empty()) {
      jit::Function* function = worklist_.front();
      worklist_.pop_front();
      lower_function(*function);
    }
  }

  std::string add_function(jit::Function& function) {
    std::string key = function.qualname().qualifiedName();
    // A function without a graph is built in; its calls say so by their name.
    if (jit::tryToGraphFunction(function) && program_.functions.try_emplace(key).second)
      worklist_.push_back(&function);
    return key;
  }

  void add_method(const c10::ClassTypePtr& type, const std::string& name) {
    jit::Function* method = type->findMethod(name);
    if (!method) return;
    add_class(type);
    // Not through a reference: adding the function may add classes.
    std::string key = add_function(*method);
    program_.classes.at(type->name()->qualifiedName()).methods[name] = std::move(key);
  }

  void add_class(const c10::ClassTypePtr& type) {
    auto [it, is_new] = program_.classes.try_emplace(type->name()->qualifiedName());
    if (!is_new) return;
    program::ClassInfo& info = it->second;
    info.name = it->first;
    info.is_module = type->is_module();
    for (const c10::ClassAttribute& attribute : type->getAttributes())
      info.attributes.emplace_back(attribute.getName(), folder_.types().of(attribute.getType()));
    classes_.push_back(type);
    for (std::size_t i = 0; i < interface_calls_.size(); ++i) add_implementation(type, interface_calls_[i]);
  }

  /// The classes of the objects that literals_ has met since the last call.
  void add_classes_read() {
    while (classes_done_ < literals_.classes().size()) add_class(literals_.classes()[classes_done_++]);
  }

  struct InterfaceCall {
    c10::TypePtr interface;
    std::string method;
  };

  void add_implementation(const c10::ClassTypePtr& type, const InterfaceCall& call) {
    if (type->isSubtypeOf(call.interface)) add_method(type, call.method);
  }

  /// Which class the receiver has is known only when the program runs: every class that fits is lowered.
  void add_interface_call(const c10::TypePtr& interface, const std::string& method) {
    for (const InterfaceCall& known : interface_calls_)
      if (known.method == method && *known.interface == *interface) return;
    interface_calls_.push_back({interface, method});
    for (std::size_t i = 0; i < classes_.size(); ++i)
      add_implementation(classes_[i], InterfaceCall{interface, method});
  }

  void add_call(const c10::TypePtr& receiver, const std::string& method) {
    if (const auto type = receiver->cast<c10::ClassType>())
      add_method(type, method);
    else
      add_interface_call(receiver, method);
  }

  // ---- functions -----------------------------------------------------------------------------------------------

  void lower_function(jit::Function& function) {
    jit::GraphFunction& graph_function = jit::toGraphFunction(function);
    graph_function.ensure_defined();  // bodies are compiled when first asked for
    program::Function& out = lower_graph(*graph_function.graph(), function.qualname().qualifiedName());
    const auto& formals = function.getSchema().arguments();
    for (std::size_t i = 0; i < out.parameters.size() && i < formals.size(); ++i) {
      out.parameters[i].name = formals[i].name();
      if (formals[i].default_value())
        out.parameters[i].default_value = literals_.read(*formals[i].default_value());
    }
    out.returns.clear();
    for (const c10::Argument& result : function.getSchema().returns())
      out.returns.push_back(folder_.types().of(result.type()));
  }

  program::Function& lower_graph(const jit::Graph& graph, const std::string& name) {
    auto out = std::make_unique<program::Function>();
    out->name = name;
    current_ = out.get();
    ids_.clear();
    for (const jit::Value* input : graph.inputs()) {
      program::Parameter parameter;
      parameter.type = folder_.types().of(input->type());
      out->parameters.push_back(std::move(parameter));
    }
    for (const jit::Value* result : graph.outputs())
      out->returns.push_back(folder_.types().of(result->type()));
    out->body = lower_block(*graph.block());
    auto& slot = program_.functions[name];
    slot = std::move(out);
    return *slot;
  }

  ValueId define(const jit::Value* value) {
    const auto id = static_cast<ValueId>(current_->value_names.size());
    current_->value_names.push_back(value->hasDebugName() ? value->debugName() : std::string());
    ids_.emplace(value, id);
    return id;
  }

  program::Block lower_block(const jit::Block& block) {
    program::Block out;
    for (const jit::Value* input : block.inputs()) {
      out.parameters.push_back(define(input));
      out.parameter_types.push_back(folder_.types().of(input->type()));
    }
    for (jit::Node* node : const_cast<jit::Block&>(block).nodes())  // NOLINT: iteration only
      out.nodes.push_back(lower_node(node));
    for (const jit::Value* result : block.outputs()) out.results.push_back(ids_.at(result));
    return out;
  }

  program::Node lower_node(jit::Node* node) {
    program::Node out;
    out.op = operator_of(node);
    out.location = locations_.of(node->sourceRange());
    for (const jit::Value* input : node->inputs()) out.inputs.push_back(ids_.at(input));
    for (const jit::Block* block : node->blocks()) out.blocks.push_back(lower_block(*block));
    // prim::fork and its like hold a graph of their own; its inputs are the node's inputs.
    if (node->hasAttribute(c10::attr::Subgraph))
      out.blocks.push_back(lower_block(*node->g(c10::attr::Subgraph)->block()));
    for (const jit::Value* output : node->outputs()) {
      out.outputs.push_back(define(output));
      out.output_types.push_back(folder_.types().of(output->type()));
    }
    lower_specifics(node, out);
    return out;
  }

  /// What the node says beside its operator and values.
  void lower_specifics(jit::Node* node, program::Node& out) {
    switch (node->kind()) {
      case c10::prim::Constant: out.constant = lower_constant(node); break;
      case c10::prim::GetAttr:
      case c10::prim::SetAttr: out.name = node->s(c10::attr::name); break;
      case c10::prim::CallMethod:
        out.name = node->s(c10::attr::name);
        add_call(node->input(0)->type(), out.name);
        break;
      case c10::prim::Enter:  // `with`: calls of these methods
      case c10::prim::Exit:
        out.name = node->kind() == c10::prim::Enter ? "__enter__" : "__exit__";
        add_call(node->input(0)->type(), out.name);
        break;
      case c10::prim::CreateObject:
        if (const auto type = node->output()->type()->cast<c10::ClassType>()) add_class(type);
        break;
      case c10::prim::isinstance:
        for (const c10::TypePtr& type : node->tys(c10::attr::types))
          out.types.push_back(folder_.types().of(type));
        break;
      default: break;
    }
  }

  Literal lower_constant(jit::Node* node) {
    const c10::TypePtr& type = node->output()->type();
    if (const auto function = type->cast<c10::FunctionType>())
      return {program::FunctionLiteral{add_function(*function->function())}};
    const auto value = jit::toIValue(node->output());
    if (!value) return {program::OpaqueLiteral{type->annotation_str(), nullptr}};
    if (value->isDevice()) node->s_(c10::attr::value, device_here(value->toDevice()).str());
    if (value->isTensor() && value->toTensor().defined()) {
      constants_.push_back({value->toTensor(), copy_on_write(value->toTensor())});
      return literals_.read(constants_.back().original);
    }
    Literal literal = literals_.read(*value);
    add_classes_read();
    return literal;
  }

  // ---- operators -----------------------------------------------------------------------------------------------

  const program::Operator* operator_of(const jit::Node* node) {
    const jit::Operator* op = node->maybeOperator();
    if (op && is_vararg_stub(op->schema())) op = nullptr;  // prim::ListConstruct and its like take anything
    // Nodes share an operator by its schema; those without one by their kind.
    const void* key = op;
    program::Operator*& known = op ? by_schema_[key] : by_kind_[node->kind()];
    if (known) return known;
    auto made = std::make_unique<program::Operator>();
    made->name = node->kind().toQualString();
    if (op) made->schema = folder_.operators().of(*op).described;
    made->id = program_.operators.size();
    known = made.get();
    program_.operators.push_back(std::move(made));
    return known;
  }

  TorchFolder& folder_;
  LiteralReader literals_;
  std::vector<GraphConstant>& constants_;
  LocationTable locations_;
  Program program_;

  std::deque<jit::Function*> worklist_;
  std::vector<c10::ClassTypePtr> classes_;
  std::size_t classes_done_ = 0;
  std::vector<InterfaceCall> interface_calls_;

  program::Function* current_ = nullptr;
  std::unordered_map<const jit::Value*, ValueId> ids_;

  std::unordered_map<const void*, program::Operator*> by_schema_;
  std::unordered_map<c10::Symbol, program::Operator*> by_kind_;
};

}  // namespace

Program lower(const jit::Module& module, const std::string& method, const Archive& archive,
              TorchFolder& folder, std::vector<GraphConstant>& constants) {
  const at::NoGradGuard no_grad;  // else a reordered copy of a weight would keep the weight
  return Lowering(archive, folder, constants).run(module, method);
}

Program lower(const jit::Graph& graph, const std::string& name, TorchFolder& folder) {
  const Archive no_archive;
  std::vector<GraphConstant> constants;
  return Lowering(no_archive, folder, constants).run(graph, name);
}

}  // namespace pt2onnx::frontend
