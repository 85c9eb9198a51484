#include "driver/infer_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace pt2onnx {
namespace {

using program::Literal;

/// The argument or an element of it, perhaps with some axes taken out by select().
struct Input {
  std::string place;                // "", ".0"
  std::vector<std::int64_t> taken;  // axes, in the order in which they went
};

/// What the walk knows of a value: a constant, the input (unchanged in its other sizes), a list of such, or nothing.
struct Known {
  std::optional<Literal> literal;
  std::optional<Input> input;
  std::vector<Known> items;
};

/// Operators after which sizes are as before, so that a weight further on still tells about the input.
constexpr std::array<std::string_view, 21> kKeepsShape{
    "aten::to",      "aten::contiguous", "aten::clone",
    "aten::detach",  "aten::dropout",    "aten::feature_dropout",
    "aten::relu",    "aten::add",        "aten::sub",
    "aten::mul",     "aten::div",        "aten::float",
    "aten::half",    "aten::double",     "aten::clamp",
    "aten::sigmoid", "aten::tanh",       "aten::log",
    "aten::exp",     "aten::slice",      "aten::type_as"};

bool keeps_shape(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::find(kKeepsShape.begin(), kKeepsShape.end(), name) != kKeepsShape.end();
}

std::string dims_text(const std::vector<std::int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ","));
}

class Walk {
 public:
  explicit Walk(const program::Program& program) : program_(program) {}

  std::map<std::string, InferredInput> start(std::size_t parameter) {
    std::vector<Known> arguments(program_.entry->parameters.size());
    if (!arguments.empty()) arguments.front().literal = Literal{program_.root};
    arguments.at(parameter).input.emplace();
    run(*program_.entry, std::move(arguments));
    return std::move(found_);
  }

 private:
  using Scope = std::unordered_map<program::ValueId, Known>;

  std::vector<Known> run(const program::Function& function, std::vector<Known> arguments) {
    constexpr int kDeepest = 64;
    if (depth_ == kDeepest) return {};
    ++depth_;
    Scope scope;
    auto results = run(function.body, scope, std::move(arguments));
    --depth_;
    return results;
  }

  std::vector<Known> run(const program::Block& block, Scope& scope, std::vector<Known> arguments) {
    for (std::size_t i = 0; i < block.parameters.size() && i < arguments.size(); ++i)
      scope[block.parameters[i]] = std::move(arguments[i]);
    for (const program::Node& node : block.nodes) {
      if (found_.contains("") || --budget_ < 0) return {};  // a tensor has no elements to look for
      auto results = visit(node, scope);
      for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
        scope[node.outputs[i]] = std::move(results[i]);
    }
    return values(block.results, scope);
  }

  static std::vector<Known> values(const std::vector<program::ValueId>& ids, Scope& scope) {
    std::vector<Known> result;
    for (const program::ValueId id : ids) result.push_back(scope[id]);
    return result;
  }

  std::vector<Known> visit(const program::Node& node, Scope& scope) {
    const std::string& name = node.op->name;
    std::vector<Known> inputs = values(node.inputs, scope);
    if (name == "prim::Constant") return {Known{node.constant, {}, {}}};
    if (name == "prim::GetAttr") return {attribute(inputs, node.name)};
    if (name == "prim::CallMethod") return call_method(node, std::move(inputs));
    if (name == "prim::CallFunction") return call_function(std::move(inputs));
    if (name == "prim::If") return branch(node, inputs, scope);
    if (name == "prim::Loop") return loop(node, std::move(inputs), scope);
    if (name == "prim::ListConstruct" || name == "prim::TupleConstruct")
      return {Known{{}, {}, std::move(inputs)}};
    if (name == "prim::TupleUnpack" || name == "prim::ListUnpack")
      return elements(inputs, node.outputs.size());
    if (name == "prim::TupleIndex" || name == "aten::__getitem__") return {element(inputs)};
    if (name == "prim::unchecked_cast" || name == "aten::_unwrap_optional" ||
        name == "prim::unchecked_unwrap_optional")
      return inputs;
    const auto tracked =
        std::find_if(inputs.begin(), inputs.end(), [](const Known& k) { return k.input.has_value(); });
    if (tracked == inputs.end()) return {};
    const Input& input = *tracked->input;
    if (auto guess = consumed(node, inputs))
      found_.try_emplace(input.place, put_back(std::move(*guess), input.taken));
    if (keeps_shape(name)) return {Known{{}, input, {}}};
    const auto* axis = name == "aten::select" && inputs.size() > 1 && inputs[1].literal
                           ? std::get_if<std::int64_t>(&inputs[1].literal->data)
                           : nullptr;
    if (!axis || *axis < 0) return {};
    Input rest = input;
    rest.taken.push_back(*axis);
    return {Known{{}, std::move(rest), {}}};
  }

  /// A shape with the axes that were taken out before the consumer saw it.
  static InferredInput put_back(InferredInput guess, const std::vector<std::int64_t>& taken) {
    constexpr std::int64_t kSize = 8;
    for (auto& shape : guess.shapes)
      for (auto axis = taken.rbegin(); axis != taken.rend(); ++axis)
        shape.insert(shape.begin() + std::min<std::int64_t>(*axis, std::ssize(shape)), kSize);
    return guess;
  }

  static Known element_of(const Known& container, std::size_t index) {
    if (index < container.items.size()) return container.items[index];
    if (!container.input) return {};
    return {{}, Input{fmt::format("{}.{}", container.input->place, index), {}}, {}};
  }

  static std::vector<Known> elements(const std::vector<Known>& inputs, std::size_t count) {
    std::vector<Known> result;
    for (std::size_t i = 0; i < count && !inputs.empty(); ++i)
      result.push_back(element_of(inputs.front(), i));
    return result;
  }

  static Known element(const std::vector<Known>& inputs) {
    const auto* index = inputs.size() == 2 && inputs[1].literal
                            ? std::get_if<std::int64_t>(&inputs[1].literal->data)
                            : nullptr;
    return index && *index >= 0 ? element_of(inputs[0], static_cast<std::size_t>(*index)) : Known{};
  }

  static Known attribute(const std::vector<Known>& inputs, const std::string& name) {
    if (inputs.empty() || !inputs.front().literal) return {};
    const auto* object = std::get_if<program::ObjectRef>(&inputs.front().literal->data);
    if (!object || !*object) return {};
    for (const auto& [key, value] : (*object)->attributes)
      if (key == name) return Known{value, {}, {}};
    return {};
  }

  std::vector<Known> call_method(const program::Node& node, std::vector<Known> inputs) {
    if (inputs.empty() || !inputs.front().literal) return {};
    const auto* object = std::get_if<program::ObjectRef>(&inputs.front().literal->data);
    if (!object || !*object) return {};
    const auto type = program_.classes.find((*object)->type);
    if (type == program_.classes.end()) return {};
    const auto method = type->second.methods.find(node.name);
    return method == type->second.methods.end() ? std::vector<Known>{}
                                                : call(method->second, std::move(inputs));
  }

  std::vector<Known> call_function(std::vector<Known> inputs) {
    if (inputs.empty() || !inputs.front().literal) return {};
    const auto* function = std::get_if<program::FunctionLiteral>(&inputs.front().literal->data);
    if (!function) return {};
    const std::string name = function->name;
    inputs.erase(inputs.begin());
    return call(name, std::move(inputs));
  }

  std::vector<Known> call(const std::string& name, std::vector<Known> arguments) {
    const auto function = program_.functions.find(name);
    return function == program_.functions.end() ? std::vector<Known>{}
                                                : run(*function->second, std::move(arguments));
  }

  std::vector<Known> branch(const program::Node& node, const std::vector<Known>& inputs, Scope& scope) {
    const bool* condition = !inputs.empty() && inputs.front().literal
                                ? std::get_if<bool>(&inputs.front().literal->data)
                                : nullptr;
    if (node.blocks.size() != 2) return {};
    if (condition) return run(node.blocks[*condition ? 0 : 1], scope, {});
    auto results = run(node.blocks[0], scope, {});
    const auto others = run(node.blocks[1], scope, {});
    for (std::size_t i = 0; i < results.size() && i < others.size(); ++i) {
      if (others[i].input) results[i] = others[i];
      if (!results[i].input) results[i] = {};
    }
    return results;
  }

  std::vector<Known> loop(const program::Node& node, std::vector<Known> inputs, Scope& scope) {
    if (node.blocks.size() != 1 || inputs.size() < 2) return {};
    inputs.erase(
        inputs.begin());  // the trip count; in place of the condition the body sees the number of the trip
    inputs.front() = Known{};
    auto results = run(node.blocks.front(), scope, std::move(inputs));
    if (!results.empty()) results.erase(results.begin());  // whether to go on
    return results;
  }

  // ---- consumers --------------------------------------------------------------------------------------------------

  /// The arguments of a node by the names of its schema.
  struct Arguments {
    const program::Node& node;
    const std::vector<Known>& inputs;

    const Known* find(std::string_view name) const {
      if (!node.op->schema) return nullptr;
      const auto& names = node.op->schema->arguments;
      for (std::size_t i = 0; i < names.size() && i < inputs.size(); ++i)
        if (names[i].name == name) return &inputs[i];
      return nullptr;
    }
    bool is_input(std::string_view name) const {
      const Known* known = find(name);
      return known && known->input;
    }
    const Tensor* tensor(std::string_view name) const { return tensor_of(find(name)); }
    static const Tensor* tensor_of(const Known* known) {
      return known && known->literal ? std::get_if<Tensor>(&known->literal->data) : nullptr;
    }
    std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
      const Known* known = find(name);
      const auto* value =
          known && known->literal ? std::get_if<std::int64_t>(&known->literal->data) : nullptr;
      return value ? *value : otherwise;
    }
    bool flag(std::string_view name) const {
      const Known* known = find(name);
      const auto* value = known && known->literal ? std::get_if<bool>(&known->literal->data) : nullptr;
      return value && *value;
    }
  };

  std::optional<InferredInput> consumed(const program::Node& node, const std::vector<Known>& inputs) const {
    const Arguments arguments{node, inputs};
    const std::string& name = node.op->name;
    if (name == "aten::embedding" && arguments.is_input("indices")) {
      if (const Tensor* weight = arguments.tensor("weight")) {
        InferredInput guess = guess_from(name, *weight, {{1, 8}, {8}});
        guess.dtype = DType::Int64;
        return guess;
      }
    }
    const Tensor* weight = arguments.tensor("weight");
    if (weight && arguments.is_input("input")) {
      if (name.find("conv") != std::string::npos) return convolution(name, arguments, *weight);
      if (name == "aten::linear" && weight->dims.size() == 2) {
        const std::int64_t features = weight->dims[1];
        return guess_from(name, *weight, {{1, features}, {1, 8, features}, {8, 1, features}});
      }
      if (name == "aten::layer_norm" && weight->dims.size() == 1)
        return guess_from(name, *weight, {{1, 8, weight->dims[0]}, {1, weight->dims[0]}});
      if (name == "aten::batch_norm" && weight->dims.size() == 1)
        return guess_from(name, *weight,
                          {{1, weight->dims[0], 64, 64}, {2, weight->dims[0]}, {1, weight->dims[0], 64}});
    }
    if (!arguments.is_input("input")) return std::nullopt;
    if (const Tensor* cell = arguments.tensor("w_ih");
        cell && cell->dims.size() == 2)  // gru_cell and the like
      return guess_from(name, *cell, {{1, cell->dims[1]}});
    return recurrent(name, arguments);
  }

  static std::optional<InferredInput> convolution(const std::string& name, const Arguments& arguments,
                                                  const Tensor& weight) {
    if (weight.dims.size() < 3 || weight.dims.size() > 5) return std::nullopt;
    const std::size_t spatial = weight.dims.size() - 2;
    const bool transposed = name.find("transpose") != std::string::npos || arguments.flag("transposed");
    const std::int64_t channels =
        transposed ? weight.dims[0] : weight.dims[1] * arguments.integer("groups", 1);
    std::vector<std::vector<std::int64_t>> shapes;
    const std::vector<std::int64_t> sizes = spatial == 1   ? std::vector<std::int64_t>{64, 512, 16000}
                                            : spatial == 2 ? std::vector<std::int64_t>{64, 224, 32, 299}
                                                           : std::vector<std::int64_t>{16, 64};
    for (const std::int64_t size : sizes) {
      std::vector<std::int64_t> shape{1, channels};
      shape.insert(shape.end(), spatial, size);
      shapes.push_back(std::move(shape));
    }
    return guess_from(name, weight, std::move(shapes));
  }

  static std::optional<InferredInput> recurrent(const std::string& name, const Arguments& arguments) {
    const Known* params = arguments.find("params");
    if (!params) return std::nullopt;
    const Tensor* weight = params->items.empty() ? nullptr : Arguments::tensor_of(&params->items.front());
    if (!weight && params->literal) {
      const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&params->literal->data);
      if (list && *list && !(*list)->items.empty())
        weight = std::get_if<Tensor>(&(*list)->items.front().data);
    }
    if (!weight || weight->dims.size() != 2) return std::nullopt;
    const std::int64_t features = weight->dims[1];
    return guess_from(name, *weight,
                      arguments.flag("batch_first")
                          ? std::vector<std::vector<std::int64_t>>{{1, 8, features}}
                          : std::vector<std::vector<std::int64_t>>{{8, 1, features}});
  }

  static InferredInput guess_from(const std::string& name, const Tensor& weight,
                                  std::vector<std::vector<std::int64_t>> shapes) {
    return {weight.dtype, std::move(shapes),
            fmt::format("its consumer, `{}` with a weight of {}", name, dims_text(weight.dims))};
  }

  const program::Program& program_;
  std::map<std::string, InferredInput> found_;
  int depth_ = 0;
  std::int64_t budget_ = 200'000;  // nodes; enough for any real model up to its first layer
};

}  // namespace

std::map<std::string, InferredInput> infer_input(const program::Program& program, std::size_t parameter) {
  return Walk(program).start(parameter);
}

}  // namespace pt2onnx
