#include "interpreter/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "interpreter/dynamic_list.h"
#include "registry/apply.h"

namespace pt2onnx {
namespace {

using program::Literal;

constexpr int kMaxDepth = 200;  // calls; deeper is recursion
constexpr std::size_t kMaxLocations = 5;

Value replay_view(Builder& builder, const Registry& registry, const ViewStep& step, Value input) {
  const auto found = registry.find(step.schema->name, step.schema->overload, builder.opset());
  if (!found.rule) throw Rejection(fmt::format("has no mapping for the view `{}`", step.schema->name));
  auto arguments = step.arguments;
  arguments[0] = input;
  const Results results = apply(registry, *found.rule, builder, *step.schema, std::move(arguments));
  const Argument& first = results.values.at(0);
  if (const auto* list = std::get_if<Argument::List>(&first.data))
    return std::get<Value>(list->at(step.result).data);
  return std::get<Value>(first.data);
}

/// Marks the values that a node or the end of a block reads.
void mark_read(const program::Block& block, std::vector<bool>& read) {
  const auto mark = [&](const std::vector<program::ValueId>& ids) {
    for (const auto id : ids) read.at(static_cast<std::size_t>(id)) = true;
  };
  for (const program::Node& node : block.nodes) {
    mark(node.inputs);
    for (const program::Block& inner : node.blocks) mark_read(inner, read);
  }
  mark(block.results);
}

}  // namespace

Machine::Machine(const program::Program& program, const Registry& registry, const OpCatalog& catalog,
                 Folder& folder, const InterpretOptions& options, Model& model)
    : program_(program),
      registry_(registry),
      folder_(folder),
      options_(options),
      builder_(model, catalog, options.fold ? &folder : nullptr),
      tensors_(builder_, journal_, [this](const ViewStep& step, Value input) {
        return replay_view(builder_, registry_, step, input);
      }) {
  builder_.set_examples(options.example_sizes);
}

InterpretResult Machine::run(const std::vector<InputBinding>& inputs) {
  std::vector<Datum> arguments{from_literal(Literal{program_.root})};
  const Datum root = arguments.front();
  for (const InputBinding& input : inputs) arguments.push_back(bind(input));
  for (const StateBinding& state : options_.state) {
    const auto* size = std::get_if<Dim>(&state.before);
    Datum before = size ? Datum(Scalar(*size)) : bind(std::get<InputBinding>(state.before));
    state_attribute(root, state) = std::move(before);
  }
  try {
    set_outputs(call(*program_.entry, std::move(arguments)));
    for (const StateBinding& state : options_.state)
      if (!state.output.empty()) add_output(state_attribute(root, state), state.output);
  } catch (const Raised& e) {
    report("prim::RaiseException", fmt::format("the program raises: {}", e.what()),
           {"check that the inputs are what `" + options_.method +
            "` expects (--input), as the Python code would"});
  } catch (const Rejection& e) {
    report_rejection(node_ ? node_->op->name : "graph", e, {});
  }
  result_.pinned = builder_.pinned();
  warn_of_unused_keeps();
  log_.finish(result_);
  return std::move(result_);
}

std::vector<Datum> Machine::call(const program::Function& function, std::vector<Datum> arguments) {
  if (const Keep* keep = find_keep(function, arguments))
    return call_kept(*keep, function, std::move(arguments));
  return run_function(function, std::move(arguments));
}

std::vector<Datum> Machine::run_function(const program::Function& function, std::vector<Datum> arguments) {
  struct Depth {
    int& depth;
    ~Depth() { --depth; }
  } guard{++depth_};
  if (depth_ > kMaxDepth)
    raise(fmt::format("`{}` calls itself: recursion cannot become a graph", function.name));
  Frame frame;
  frame.function = &function;
  frame.module_path = module_path_;
  int layer = -1;
  if (!arguments.empty())
    if (const auto* self = arguments[0].get_if<InstanceRef>(); self && (*self)->is_module) {
      frame.module_path = (*self)->path;
      layer = log_.enter(**self);
    }
  frame.registers.resize(function.value_names.size());
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    Datum& slot = frame.registers[static_cast<std::size_t>(function.body.parameters[i])];
    if (i < arguments.size())
      slot = std::move(arguments[i]);
    else if (function.parameters[i].default_value)
      slot = from_literal(*function.parameters[i].default_value);
    else
      raise(fmt::format("`{}` is called without its argument `{}`", function.name,
                        function.parameters[i].name));
  }
  const std::string caller = module_path_;
  const program::LocationRef place = place_;
  module_path_ = frame.module_path;
  auto results = run_block(function.body, frame);
  place_ = place;
  module_path_ = caller;
  log_.leave(layer, results);
  return results;
}

std::vector<Datum> Machine::run_block(const program::Block& block, Frame& frame) {
  for (const program::Node& node : block.nodes) run_node(node, frame);
  std::vector<Datum> results;
  results.reserve(block.results.size());
  for (const auto id : block.results) results.push_back(frame.registers[static_cast<std::size_t>(id)]);
  return results;
}

void Machine::locate(const program::Node& node, const Frame& frame) {
  node_ = &node;
  function_ = frame.function;
  auto origin = std::make_shared<Origin>();
  origin->op = node.op->name;
  origin->module_path = frame.module_path;
  // Some nodes have no place of their own (a with-block's begin): that of the node before comes next to it.
  if (node.location) place_ = node.location;
  if (place_) {
    origin->file = place_->file;
    origin->line = place_->line;
  }
  builder_.set_origin(std::move(origin));
}

std::vector<bool> Machine::unused_outputs() {
  const auto [it, fresh] = read_values_.try_emplace(function_);
  if (fresh) {
    it->second.resize(function_->value_names.size());
    mark_read(function_->body, it->second);
  }
  std::vector<bool> unused;
  for (const auto id : node_->outputs) unused.push_back(!it->second.at(static_cast<std::size_t>(id)));
  return unused;
}

void Machine::show(const program::Node& node, const std::vector<Datum>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto* tensor = outputs[i].get_if<TensorRef>();
    if (tensor && !tensors_.number(*tensor)) options_.observe(node, i, tensors_.read(*tensor));
  }
}

void Machine::run_node(const program::Node& node, Frame& frame) {
  std::vector<Datum> inputs, outputs;
  inputs.reserve(node.inputs.size());
  for (const auto id : node.inputs) inputs.push_back(frame.registers[static_cast<std::size_t>(id)]);
  locate(node, frame);
  module_path_ = frame.module_path;

  reported_ = false;
  const auto checkpoint = builder_.checkpoint();
  const std::size_t journal_depth = journal_.depth();
  bool done = false;
  const auto undo = [&] {
    builder_.unwind(checkpoint.depth);
    journal_.unwind(journal_depth);
    builder_.rollback(checkpoint);
    locate(node, frame);
  };
  try {
    done = run_operator(node, frame, inputs, outputs);
  } catch (const Rejection& rejection) {
    undo();
    report_rejection(node.op->name, rejection, {});
  } catch (const std::overflow_error& error) {  // of size arithmetic, as are domain errors (dim.h)
    undo();
    report(node.op->name, error.what());
  } catch (const std::domain_error& error) {
    undo();
    report(node.op->name, error.what());
  }
  log_.step(node, frame.module_path,
            done        ? Step::State::Done
            : reported_ ? Step::State::Failed
                        : Step::State::Skipped);
  if (!done) return taint(node, frame);
  if (outputs.size() != node.outputs.size())
    throw std::logic_error(
        fmt::format("{} gives {} results, not {}", node.op->name, outputs.size(), node.outputs.size()));
  if (options_.observe) show(node, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    frame.registers[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
}

bool Machine::run_operator(const program::Node& node, Frame& frame, std::vector<Datum>& inputs,
                           std::vector<Datum>& outputs) {
  for (const Builtin builtin : find_builtins(node.op->name)) {
    if (builtin(*this, node, frame, inputs, outputs)) return true;
    outputs.clear();
  }
  return dispatch(node, inputs, outputs);
}

void Machine::taint(const program::Node& node, Frame& frame) {
  for (const auto id : node.outputs) frame.registers[static_cast<std::size_t>(id)] = Tainted{};
}

// ---- inputs and outputs ----------------------------------------------------------------------------------------------

Datum Machine::bind(const InputBinding& binding) {
  if (const auto* literal = std::get_if<Literal>(&binding.data)) return from_literal(*literal);
  if (const auto* tensor = std::get_if<InputBinding::TensorInput>(&binding.data)) {
    ValueType type;
    type.dtype = tensor->dtype;
    type.shape = tensor->shape;
    const bool complex = is_complex(tensor->dtype);
    if (complex) {
      type.dtype = real_of(tensor->dtype);
      type.shape->push_back(2);
    }
    const Value value = builder_.add_input(tensor->name, std::move(type));
    if (complex) return tensors_.make(builder_.from_pairs(value));
    if (!tensor->is_number) {
      TensorRef input = tensors_.make(value);
      input->row_major = true;  // as ONNX has it
      return input;
    }
    if (is_integral(tensor->dtype)) return Scalar(builder_.symbol_of_value(value, tensor->name));
    return Scalar(tensor->dtype == DType::Bool ? Scalar::Kind::Bool : Scalar::Kind::Float, value);
  }
  if (const auto* sequence = std::get_if<InputBinding::Sequence>(&binding.data)) {
    std::vector<Datum> items;
    for (const InputBinding& item : sequence->items) items.push_back(bind(item));
    if (!sequence->is_list) return std::make_shared<TupleState>(TupleState{sequence->type, std::move(items)});
    auto list = std::make_shared<ListState>();
    if (sequence->type && !sequence->type->elements.empty()) list->element = sequence->type->elements[0];
    list->items = std::move(items);
    return list;
  }
  const auto& dict = std::get<InputBinding::Dict>(binding.data);
  auto state = std::make_shared<DictState>();
  for (const auto& [key, item] : dict.items) state->items.emplace_back(from_literal(key), bind(item));
  return state;
}

namespace {

/// "logits.5" -> "logits"; empty for a numbered value.
std::string readable_name(const std::string& debug_name) {
  std::string name = debug_name.substr(0, debug_name.find('.'));
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return {};
  return name;
}

std::size_t count_outputs(const Datum& datum) {
  const auto sum = [](const std::vector<Datum>& items) {
    std::size_t n = 0;
    for (const Datum& item : items) n += count_outputs(item);
    return n;
  };
  if (const auto* list = datum.get_if<ListRef>()) return (*list)->dynamic ? 1 : sum((*list)->items);
  if (const auto* tuple = datum.get_if<TupleRef>()) return sum((*tuple)->items);
  if (const auto* dict = datum.get_if<DictRef>()) {
    std::size_t n = 0;
    for (const auto& [key, item] : (*dict)->items) n += count_outputs(item);
    return n;
  }
  return datum.get_if<TensorRef>() || datum.get_if<Scalar>() ? 1 : 0;
}

}  // namespace

/// Where an attribute of a module or object further down is kept.
Datum& Machine::state_attribute(const Datum& root, const StateBinding& state) {
  InstanceRef object = *root.get_if<InstanceRef>();
  for (std::size_t begin = 0; begin < state.object.size();) {
    const std::size_t end = std::min(state.object.find('.', begin), state.object.size());
    const auto* child = attribute(object, state.object.substr(begin, end - begin)).get_if<InstanceRef>();
    if (!child) throw std::logic_error(fmt::format("there is no object at `{}`", state.object));
    object = *child;
    begin = end + 1;
  }
  return attribute(object, state.attribute);
}

void Machine::note_assignment(const std::string& module_path, const std::string& attribute) {
  const bool is_state = std::any_of(options_.state.begin(), options_.state.end(), [&](const StateBinding& s) {
    return s.object == module_path && s.attribute == attribute;
  });
  if (is_state) return;
  result_.assigned.emplace(module_path, attribute);
  warn(fmt::format(
      "the module assigns to its attribute `{}`: the model starts from the value in the file at every "
      "run (--state makes it an input and an output)",
      module_path.empty() ? attribute : module_path + "." + attribute));
}

void Machine::set_outputs(const std::vector<Datum>& results) {
  builder_.set_origin(nullptr);
  std::string base = "output";
  if (results.size() == 1 && count_outputs(results[0]) == 1) {
    const auto id = program_.entry->body.results[0];
    if (const auto name = readable_name(program_.entry->value_names[static_cast<std::size_t>(id)]);
        !name.empty())
      base = name;
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    add_output(results[i], results.size() == 1 ? base : fmt::format("{}_{}", base, i));
}

/// An ONNX optional, for an Optional of which the data decides whether it is None.
Value Machine::optional_value(const MaybeNone& maybe) {
  constexpr int kSinceIf = 16;  // If gives optionals from there on
  if (builder_.opset() < kSinceIf) {
    Rejection rejection("returns an Optional of which the data decides whether it is None");
    rejection.first_opset = kSinceIf;
    throw rejection;
  }
  const auto* tensor = maybe.value->get_if<TensorRef>();
  const auto* scalar = maybe.value->get_if<Scalar>();
  if (!tensor && !scalar)
    throw Rejection(
        "returns an Optional of something else than a tensor, and the data decides whether it is None");
  const Value present = tensor ? tensors_.read(*tensor) : number_value(*scalar);
  if (is_complex(present.type()) || present.info()->quantization)
    throw Rejection(
        "returns an Optional of complex or quantized values, and the data decides whether it is None");
  const auto branch = [&](std::string_view name, std::vector<Value> inputs, Attributes attributes) {
    return builder_.subgraph(name, {}, [&](const std::vector<Value>&) {
      return std::vector{emit("Optional", inputs, attributes)};
    });
  };
  ValueType type = present.type();
  return emit("If", {maybe.present},
              {{"then_branch", branch("some", {present}, {})},
               {"else_branch", branch("none", {}, {{"type", type}})}});
}

/// Depth first, containers in order; None and strings are no outputs.
void Machine::add_output(const Datum& datum, const std::string& name) {
  if (const auto* list = datum.get_if<ListRef>(); list && !(*list)->dynamic) {
    for (std::size_t i = 0; i < (*list)->items.size(); ++i)
      add_output((*list)->items[i], fmt::format("{}_{}", name, i));
    return;
  }
  if (const auto* tuple = datum.get_if<TupleRef>()) {
    const auto& type = (*tuple)->type;
    for (std::size_t i = 0; i < (*tuple)->items.size(); ++i) {
      const bool named = type && i < type->fields.size();
      add_output((*tuple)->items[i], named ? type->fields[i] : fmt::format("{}_{}", name, i));
    }
    return;
  }
  if (const auto* dict = datum.get_if<DictRef>()) {
    for (const auto& [key, item] : (*dict)->items) {
      const auto* text = key.get_if<std::string>();
      add_output(item,
                 text ? *text : fmt::format("{}_{}", name, key.get_if<Scalar>()->integer().value_or(0)));
    }
    return;
  }
  Value value;
  if (const auto* list = datum.get_if<ListRef>())
    value = sequence_value(*this, **list, sequence_type(*this, **list));
  else if (const auto* tensor = datum.get_if<TensorRef>())
    value = tensors_.read(*tensor);
  else if (const auto* scalar = datum.get_if<Scalar>())
    value = number_value(*scalar);
  else if (const auto* maybe = datum.get_if<MaybeNone>())
    value = optional_value(*maybe);
  else
    return;  // None, strings and devices are nothing that a graph can give; a tainted value has been reported

  if (value.info()->quantization) {
    Rejection rejection("gives a quantized tensor out of the graph, which ONNX cannot");
    rejection.advice = "call dequantize() before";
    throw rejection;
  }
  if (is_complex(value.type())) value = builder_.pairs_of(value);
  result_.output_steps.push_back(value.info()->step);

  Model& model = builder_.model();
  const std::size_t index = model.graph.outputs.size();
  const bool fixed_name = index < options_.output_names.size();
  const auto& inputs = model.graph.inputs;
  const auto& outputs = model.graph.outputs;
  if (value.constant() || std::find(inputs.begin(), inputs.end(), value) != inputs.end() ||
      std::find(outputs.begin(), outputs.end(), value) != outputs.end()) {
    Value copy = emit("Identity", {value});
    if (std::find(outputs.begin(), outputs.end(), copy) != outputs.end()) copy = emit("Identity", {copy});
    value = copy;
  }
  value.info()->name = builder_.unique_name(fixed_name ? options_.output_names[index] : name);
  model.graph.outputs.push_back(value);
}

// ---- findings --------------------------------------------------------------------------------------------------------

std::string Machine::here() const {
  if (!place_) return "an unknown place";
  return fmt::format("{}:{}", place_->file, place_->line);
}

void Machine::warn(std::string message) {
  if (warned_.try_emplace(message, true).second) result_.warnings.push_back(std::move(message));
}

void Machine::assume(const std::string& op, const std::string& what) {
  if (options_.strict)
    report(op, what, {"leave out --strict if that holds for every input"});
  else
    warn(fmt::format("{}: `{}` {}", here(), op, what));
}

void Machine::report(std::string op, std::string reason, std::vector<std::string> advice,
                     std::optional<Case> which, std::optional<int> first_opset, std::string schema) {
  const auto [it, fresh] = finding_index_.try_emplace(op + "\n" + reason, result_.findings.size());
  if (fresh) {
    Finding finding;
    finding.op = std::move(op);
    finding.schema = std::move(schema);
    finding.which = which;
    finding.reason = std::move(reason);
    finding.advice = std::move(advice);
    finding.first_opset = first_opset;
    result_.findings.push_back(std::move(finding));
  }
  Finding& finding = result_.findings[it->second];
  reported_ = true;
  // A loop that is unrolled, or a branch that is walked twice, is one place all the same; the code of a class runs in
  // each of its modules.
  if (!counted_.emplace(it->second, node_, module_path_).second) return;
  ++finding.count;
  Location location;
  location.module = module_path_;
  if (place_) {
    location.file = place_->file;
    location.line = place_->line;
    location.column = place_->column;
    location.text = place_->text;
  }
  if (finding.locations.size() < kMaxLocations &&
      std::find(finding.locations.begin(), finding.locations.end(), location) == finding.locations.end())
    finding.locations.push_back(std::move(location));
}

void Machine::forget_findings_since(const Findings& before) {
  result_.findings = before.all;
  finding_index_ = before.index;
  counted_ = before.counted;
}

void Machine::report_rejection(std::string op, const Rejection& rejection, std::string schema) {
  std::vector<std::string> advice;
  if (!rejection.advice.empty()) advice.push_back(rejection.advice);
  report(std::move(op), rejection.what(), std::move(advice),
         rejection.first_opset ? std::optional(Case::OpsetTooLow) : std::nullopt, rejection.first_opset,
         std::move(schema));
}

Value Machine::emit(std::string_view op, std::vector<Value> inputs, Attributes attributes) {
  return builder_.emit("", op, 1, std::move(inputs), std::move(attributes))[0];
}

Value Machine::number_value(const Scalar& scalar) {
  if (const auto* dim = std::get_if<Dim>(&scalar.data())) return builder_.size_value(*dim);
  if (const auto* computed = std::get_if<Scalar::Computed>(&scalar.data())) return computed->value;
  if (const auto* flag = std::get_if<bool>(&scalar.data()))
    return builder_.constant(Tensor::scalar(std::int64_t{*flag}, DType::Bool));
  if (const auto number = scalar.number()) return builder_.constant(Tensor::scalar(*number, DType::Float64));
  throw Rejection("computes with a complex Python number, which ONNX does not have");
}

InterpretResult interpret(const program::Program& program, const std::vector<InputBinding>& inputs,
                          const Registry& registry, const OpCatalog& catalog, Folder& folder,
                          const InterpretOptions& options, Model& model) {
  model.opset = options.opset;
  return Machine(program, registry, catalog, folder, options, model).run(inputs);
}

}  // namespace pt2onnx
