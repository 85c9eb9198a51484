#include "registry/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "registry/legalize.h"
#include "registry/literal.h"
#include "registry/scalar_type.h"
#include "registry/sharing.h"

namespace pt2onnx {
namespace {

constexpr std::size_t kShareBytes = 256;                  // constants up to this size are compared by content
constexpr std::size_t kFoldBytes = std::size_t{1} << 20;  // folding may always make a constant of this size

std::size_t hash_of(const Tensor& tensor) {
  const std::hash<std::string_view> hash;
  std::size_t h = static_cast<std::size_t>(tensor.dtype) * 31 + tensor.dims.size();
  if (tensor.bytes.size() <= kShareBytes)
    return h ^ hash({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
  return h ^ std::hash<const void*>()(tensor.bytes.data());
}

bool same_constant(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return false;
  if (a.bytes.data() == b.bytes.data() && a.bytes.size() == b.bytes.size()) return true;
  return a.bytes.size() <= kShareBytes && a.name == b.name && identical(a, b);
}

}  // namespace

Builder::Builder(Model& model, const OpCatalog& catalog, Folder* folder)
    : model_(model), catalog_(catalog), folder_(folder) {
  scopes_.push_back(Scope{nullptr, &model.graph, 0, {}});
}

std::string Builder::unique_name(std::string base) {
  for (;;) {
    const auto [it, fresh] = used_names_.try_emplace(base, 0);
    if (fresh) return base;
    std::string candidate = fmt::format("{}_{}", base, ++it->second);
    if (used_names_.try_emplace(candidate, 0).second) return candidate;
  }
}

std::string Builder::scoped_name(std::string_view op) {
  if (!origin_ || origin_->module_path.empty()) return fmt::format("/{}", op);
  std::string path = origin_->module_path;
  std::replace(path.begin(), path.end(), '.', '/');
  return fmt::format("/{}/{}", path, op);
}

Value Builder::new_value(std::string name, ValueType type) {
  model_.values.push_back(ValueInfo{std::move(name), std::move(type), std::nullopt, scopes_.back().id});
  return Value(&model_.values.back());
}

Value Builder::add_input(std::string name, ValueType type) {
  Value input = new_value(unique_name(std::move(name)), std::move(type));
  model_.graph.inputs.push_back(input);
  if (const auto& shape = input.shape()) {
    for (std::size_t i = 0; i < shape->size(); ++i)
      if (const auto symbol = (*shape)[i].symbol_name())
        set_source(*symbol, Source{input, static_cast<std::int64_t>(i)});
  }
  return input;
}

const std::vector<Value>* Builder::find_shared(const std::string& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto it = scope->shared.find(key); it != scope->shared.end()) return &it->second;
  return nullptr;
}

std::vector<Value> Builder::emit(std::string_view domain, std::string_view op, std::size_t outputs,
                                 std::vector<Value> inputs, Attributes attributes,
                                 std::optional<std::vector<ValueType>> types) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  for (const Value& input : inputs)
    if (input && input.info()->quantization)
      throw Rejection(
          "computes with quantized values in a form that pt2onnx does not express by QuantizeLinear");
    else if (input && is_complex(input.type()))
      throw Rejection("computes with complex values in a form that pt2onnx does not express by real ones");

  std::vector<std::optional<DType>> restore(outputs);
  const OpSignature* signature = catalog_.find(domain, op, opset());
  if (signature) {
    auto legal =
        legalize(*signature, std::move(inputs), outputs, [this](Value v, DType to) { return cast(v, to); });
    inputs = std::move(legal.inputs);
    restore = std::move(legal.restore);
  } else if (domain.empty()) {
    const auto since = catalog_.since(op);
    if (!since)
      throw std::logic_error(fmt::format("the dictionary emits `{}`, which ONNX does not have", op));
    Rejection rejection(fmt::format("needs ONNX `{}`, which opset {} does not have", op, opset()));
    if (*since > opset()) rejection.first_opset = since;
    throw rejection;
  } else {
    model_.domains.try_emplace(std::string(domain), 1);
  }

  const auto key = sharing_key(domain, op, outputs, inputs, attributes);
  std::vector<Value> results;
  if (const auto* shared = key ? find_shared(*key) : nullptr) {
    results = *shared;
  } else {
    auto node = std::make_unique<Node>();
    node->domain = domain;
    node->op = op;
    node->inputs = std::move(inputs);
    node->attributes = std::move(attributes);
    node->origin = origin_;
    node->kept = kept_;
    node->name = unique_name(scoped_name(op));
    for (std::size_t i = 0; i < outputs; ++i)
      node->outputs.push_back(new_value(unique_name(fmt::format("{}_output_{}", node->name, i)), {}));
    set_output_types(*node, types);
    results = node->outputs;
    scopes_.back().graph->nodes.push_back(std::move(node));
    if (key) {
      scopes_.back().shared.emplace(*key, results);
      journal_.push_back([this, key = *key, depth = scopes_.size()] {
        if (depth <= scopes_.size()) scopes_[depth - 1].shared.erase(key);
      });
    }
  }
  for (std::size_t i = 0; i < outputs; ++i)
    if (restore[i]) results[i] = cast(results[i], *restore[i]);
  return results;
}

void Builder::set_output_types(Node& node, const std::optional<std::vector<ValueType>>& types) {
  if (types) {
    for (std::size_t i = 0; i < node.outputs.size() && i < types->size(); ++i)
      node.outputs[i].info()->type = (*types)[i];
    return;
  }
  std::vector<OpCatalog::Inferred> inferred;
  try {
    inferred = catalog_.infer(node, opset());
  } catch (const std::invalid_argument& e) {
    throw Rejection(fmt::format("ONNX `{}` refuses this form: {}", node.op, e.what()));
  }
  for (std::size_t i = 0; i < node.outputs.size() && i < inferred.size(); ++i) {
    ValueType& type = node.outputs[i].info()->type;
    type.kind = inferred[i].kind;
    type.dtype = inferred[i].dtype;
    if (!inferred[i].dims) continue;
    type.shape.emplace();
    const bool tensor = type.kind == ValueType::Kind::Tensor;
    for (std::size_t axis = 0; axis < inferred[i].dims->size(); ++axis) {
      const auto& dim = (*inferred[i].dims)[axis];
      // A size that inference leaves open, or knows only as one of a sequence's items, is a symbol of its own, which the
      // graph can read when it is needed.
      if (dim && (!tensor || visible(*dim)))
        type.shape->push_back(*dim);
      else if (tensor)
        type.shape->push_back(symbol_of_axis(node.outputs[i], static_cast<std::int64_t>(axis),
                                             fmt::format("{}_{}", node.op, axis), 0));
      else
        type.shape->push_back(fresh_dim("item"));
    }
  }
}

Value Builder::constant(Tensor tensor) {
  const std::size_t hash = hash_of(tensor);
  const auto [begin, end] = constants_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (same_constant(*it->second.constant(), tensor)) return it->second;

  ValueType type;
  type.dtype = tensor.dtype;
  type.shape.emplace(tensor.dims.begin(), tensor.dims.end());
  Value value = new_value(unique_name(tensor.name.empty() ? "const" : tensor.name), std::move(type));
  value.info()->constant = std::move(tensor);
  value.info()->scope = 0;
  constants_.emplace(hash, value);  // belongs to no graph, so it outlives a rollback
  return value;
}

Value Builder::cast(Value v, DType to) {
  if (v.dtype() == to) return v;
  if (const auto folded = fold("aten::to.dtype", {v, Scalar(scalar_type_of(to))})) return *folded;
  if (is_complex(to) || is_complex(v.type())) return cast_complex(v, to);
  return emit("", "Cast", 1, {v}, {{"to", to}})[0];
}

std::optional<Value> Builder::fold(std::string_view torch_op, const std::vector<Argument>& arguments) {
  if (!folder_) return std::nullopt;
  std::vector<program::Literal> literals;
  std::size_t input_bytes = 0;
  std::string name;
  for (const Argument& argument : arguments) {
    auto literal = literal_from(argument);
    if (!literal) return std::nullopt;
    input_bytes += tensor_bytes(*literal);
    if (const auto* tensor = std::get_if<Tensor>(&literal->data); tensor && name.empty()) name = tensor->name;
    literals.push_back(std::move(*literal));
  }
  const auto dot = torch_op.find('.');
  const auto base = torch_op.substr(0, dot);
  const auto overload = dot == std::string_view::npos ? std::string_view() : torch_op.substr(dot + 1);
  const auto schema = folder_->schema(base, overload);
  if (!schema)
    throw std::logic_error(fmt::format("the dictionary folds `{}`, which libtorch does not have", torch_op));

  const auto result = folder_->evaluate(*schema, literals);
  if (!result.ok() || result.values.size() != 1) return std::nullopt;
  const auto* tensor = std::get_if<Tensor>(&result.values[0].data);
  if (!tensor || tensor->bytes.size() > std::max(kFoldBytes, 2 * input_bytes)) return std::nullopt;
  Tensor named = *tensor;
  if (!name.empty()) named.name = fmt::format("{}.{}", name, base.substr(base.rfind(':') + 1));
  return constant(std::move(named));
}

// ---- rollback --------------------------------------------------------------------------------------------------------

Builder::Checkpoint Builder::checkpoint() const {
  return {scopes_.back().graph->nodes.size(), journal_.size(), scopes_.size()};
}

void Builder::rollback(const Checkpoint& to) {
  if (scopes_.size() != to.depth) throw std::logic_error("rollback across the border of a subgraph");
  while (journal_.size() > to.journal) {
    journal_.back()();
    journal_.pop_back();
  }
  // The values of these nodes stay in the arena, unused, so that no handle ever dangles.
  scopes_.back().graph->nodes.resize(to.nodes);
}

// ---- calls that are kept whole ---------------------------------------------------------------------------------------

void Builder::begin_kept(std::shared_ptr<const KeptCall> call) {
  kept_ = std::move(call);
  for (Scope& scope : scopes_) set_aside_.push_back(std::exchange(scope.shared, {}));
  for (const Value argument : kept_->arguments) {
    if (!argument.shape() || argument.constant()) continue;
    for (std::size_t axis = 0; axis < argument.shape()->size(); ++axis) {
      const auto symbol = (*argument.shape())[axis].symbol_name();
      const auto source = symbol ? sources_.find(*symbol) : sources_.end();
      if (source == sources_.end()) continue;
      sources_before_.emplace_back(*symbol, source->second);
      source->second = Source{argument, static_cast<std::int64_t>(axis)};
    }
  }
}

void Builder::end_kept() {
  // An exception may have left more scopes than there were; they are dropped by whoever catches it.
  for (std::size_t i = 0; i < set_aside_.size() && i < scopes_.size(); ++i)
    scopes_[i].shared = std::move(set_aside_[i]);
  set_aside_.clear();
  for (auto before = sources_before_.rbegin(); before != sources_before_.rend(); ++before)
    sources_.insert_or_assign(before->first, before->second);
  sources_before_.clear();
  kept_.reset();
}

// ---- subgraphs -------------------------------------------------------------------------------------------------------

std::shared_ptr<Graph> Builder::subgraph(std::string_view name, const NamedTypes& inputs,
                                         const std::function<std::vector<Value>(std::vector<Value>)>& body) {
  const std::size_t outside = depth();
  const std::vector<Value> parameters = open(name, inputs);
  try {
    return close(body(parameters));
  } catch (...) {
    unwind(outside);
    throw;
  }
}

const std::vector<Value>& Builder::open(std::string_view name, const NamedTypes& inputs) {
  auto graph = std::make_shared<Graph>();
  graph->name = unique_name(std::string(name));
  Graph* const raw = graph.get();
  scopes_.push_back(Scope{std::move(graph), raw, ++last_scope_, {}});
  for (const auto& [input_name, type] : inputs) {
    const Value input = new_value(unique_name(input_name), type);
    raw->inputs.push_back(input);
    if (!type.shape || type.kind != ValueType::Kind::Tensor)
      continue;  // what a sequence holds has no size to read
    for (std::size_t i = 0; i < type.shape->size(); ++i)
      if (const auto symbol = (*type.shape)[i].symbol_name())
        set_source(*symbol, Source{input, static_cast<std::int64_t>(i)});
  }
  return raw->inputs;
}

Builder::Scope Builder::suspend() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  return scope;
}

void Builder::resume(Scope scope) { scopes_.push_back(std::move(scope)); }

std::shared_ptr<Graph> Builder::close(const std::vector<Value>& outputs) {
  Graph& graph = *scopes_.back().graph;
  const int id = scopes_.back().id;
  // An output of a subgraph must be made inside it by a node, and be named only once.
  for (const Value& output : outputs) {
    const auto among = [&](const std::vector<Value>& values) {
      return std::find(values.begin(), values.end(), output) != values.end();
    };
    const bool own = !output.constant() && output.info()->scope == id && !among(graph.inputs);
    if (own && !among(graph.outputs)) {
      graph.outputs.push_back(output);
      continue;
    }
    if (output.type().kind == ValueType::Kind::Sequence && opset() < 14) {
      Rejection rejection("passes a list on unchanged, for which ONNX `Identity` takes sequences");
      rejection.first_opset = 14;
      throw rejection;
    }
    graph.outputs.push_back(emit_unshared("Identity", output));
  }
  return suspend().owned;
}

void Builder::unwind(std::size_t depth) { scopes_.resize(depth); }

bool Builder::visible(Value v) const {
  return std::any_of(scopes_.begin(), scopes_.end(),
                     [&](const Scope& scope) { return scope.id == v.info()->scope; });
}

bool Builder::visible(const Dim& dim) const {
  const auto symbols = dim.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
    const auto source = sources_.find(symbol);
    return source != sources_.end() && visible(source->second.value);
  });
}

/// An Identity of its own, even if there is one already.
Value Builder::emit_unshared(std::string_view op, Value input) {
  auto node = std::make_unique<Node>();
  node->op = op;
  node->inputs = {input};
  node->origin = origin_;
  node->kept = kept_;
  node->name = unique_name(scoped_name(op));
  const Value output = new_value(unique_name(node->name + "_output_0"), input.type());
  node->outputs = {output};
  scopes_.back().graph->nodes.push_back(std::move(node));
  return output;
}

}  // namespace pt2onnx
