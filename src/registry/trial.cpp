#include "registry/trial.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/names.h"
#include "registry/apply.h"
#include "registry/builder.h"
#include "registry/literal.h"

namespace pt2onnx {
namespace {

using program::Literal;
using program::TypeKind;

/// A way to make up arguments.
struct Guess {
  std::size_t rank = 4;
  DType dtype = DType::Float32;
  bool vectors = false;           // tensors behind the first one have one axis
  bool indices = false;           // the second one is int64
  bool optionals = false;         // arguments that may be None are given
  std::int64_t first_number = 1;  // ints without a default count up from here
  enum class Lists { Ones, Reversed, Twos, Size } lists = Lists::Ones;
};

constexpr std::int64_t kSize = 4;      // of every axis
constexpr std::size_t kOrdinary = 40;  // guesses that are made when one answer is enough

/// Ordinary calls first.
const std::vector<Guess>& guesses() {
  static const std::vector<Guess> all = [] {
    std::vector<Guess> list;
    const auto add = [&](Guess guess) {
      for (const std::int64_t first : {1, 0})
        for (const auto lists :
             {Guess::Lists::Ones, Guess::Lists::Size, Guess::Lists::Reversed, Guess::Lists::Twos})
          for (const std::size_t rank : {4, 3, 2, 5, 1}) {
            guess.rank = rank;
            guess.first_number = first;
            guess.lists = lists;
            list.push_back(guess);
          }
    };
    add({});
    add({.vectors = true});
    add({.indices = true});
    add({.vectors = true, .indices = true});
    add({.vectors = true, .optionals = true});
    add({.dtype = DType::Int64});
    add({.dtype = DType::Bool});
    return list;
  }();
  return all;
}

/// Makes the arguments of one call.
class Maker {
 public:
  explicit Maker(const Guess& guess) : guess_(guess) {}

  Literal make(const program::SchemaArgument& parameter) {
    const bool optional = parameter.type->kind == TypeKind::Optional;
    if (parameter.default_value && !(guess_.optionals && optional)) return *parameter.default_value;
    if (optional && (!guess_.optionals || parameter.type->elements.empty())) return {};
    optional_ = optional;
    return make(optional ? parameter.type->elements.front() : parameter.type);
  }

 private:
  Literal make(const program::TypeRef& type) {
    switch (type->kind) {
      case TypeKind::Tensor: return {tensor()};
      case TypeKind::Bool: return {false};
      case TypeKind::Int: return {next_++};
      case TypeKind::Float:
      case TypeKind::Number: return {0.5};
      case TypeKind::String: return {std::string("none")};
      case TypeKind::List: return {list(type->elements.front())};
      default: return {};
    }
  }

  Tensor tensor() {
    const bool vector = made_ > 0 && (guess_.vectors || optional_);
    const DType dtype = made_ == 1 && guess_.indices ? DType::Int64 : guess_.dtype;
    ++made_;
    const std::vector<std::int64_t> dims(vector ? 1 : guess_.rank, kSize);
    const auto count = static_cast<std::size_t>(
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
    return Tensor::of_doubles(std::vector<double>(count, dtype == DType::Float32 ? 0.5 : 0), dims, dtype);
  }

  std::shared_ptr<program::ListLiteral> list(const program::TypeRef& element) {
    auto list = std::make_shared<program::ListLiteral>();
    list->element = element;
    auto& items = list->items;
    const auto rank = static_cast<std::int64_t>(guess_.rank);
    if (element->kind == TypeKind::Tensor) {
      for (int i = 0; i < 2; ++i) items.push_back(make(element));
    } else if (element->kind != TypeKind::Int || guess_.lists == Guess::Lists::Ones) {
      items.push_back(element->kind == TypeKind::Int ? Literal{std::int64_t{1}} : make(element));
    } else if (guess_.lists == Guess::Lists::Size) {
      items.push_back({kSize});
    } else if (guess_.lists == Guess::Lists::Twos) {
      items.assign(static_cast<std::size_t>(std::max<std::int64_t>(rank - 2, 1)), Literal{std::int64_t{2}});
    } else {
      for (std::int64_t i = rank; i-- > 0;) items.push_back({i});
    }
    return list;
  }

  const Guess& guess_;
  std::int64_t next_ = guess_.first_number;
  bool optional_ = false;
  int made_ = 0;
};

/// Tensors become inputs of the graph.
Argument symbolic(Builder& builder, const Literal& literal, std::vector<Value>& tensors) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data)) {
    ValueType type;
    type.dtype = tensor->dtype;
    type.shape = Shape(tensor->dims.begin(), tensor->dims.end());
    tensors.push_back(builder.add_input("x", std::move(type)));
    return tensors.back();
  }
  if (const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data)) {
    Argument::List items;
    for (const Literal& item : (*list)->items) items.push_back(symbolic(builder, item, tensors));
    return items;
  }
  return argument_from(builder, literal).value_or(Argument());
}

bool takes_exactly(const Node& node, const std::vector<Value>& tensors) {
  std::vector<Value> inputs;
  for (const Value& input : node.inputs)
    if (input) inputs.push_back(input);
  return inputs == tensors;
}

Trial outcome(const Graph& graph, const std::vector<Value>& tensors) {
  Trial trial;
  for (const auto& node : graph.nodes) {
    const std::string name = qualified_name(*node);
    if (std::find(trial.operators.begin(), trial.operators.end(), name) == trial.operators.end())
      trial.operators.push_back(name);
  }
  trial.is_one_word = graph.nodes.size() == 1 && takes_exactly(*graph.nodes.front(), tensors);
  return trial;
}

}  // namespace

std::vector<Trial> try_rule(const Registry& registry, const Rule& rule, const program::Schema& schema,
                            const OpCatalog& catalog, Folder& folder, int opset, bool every_call) {
  std::vector<Trial> trials;
  const std::size_t count = every_call ? guesses().size() : kOrdinary;
  for (const Guess& guess : std::span(guesses()).first(count)) {
    Maker maker(guess);
    std::vector<Literal> literals;
    for (const auto& parameter : schema.arguments) literals.push_back(maker.make(parameter));
    // What libtorch itself refuses is no call.
    if (!folder.evaluate(schema, literals).ok()) continue;

    Model model;
    model.opset = opset;
    Builder builder(model, catalog, &folder);
    try {
      std::vector<Value> tensors;
      Call::Arguments arguments;
      for (const Literal& literal : literals) arguments.push_back(symbolic(builder, literal, tensors));
      apply(registry, rule, builder, schema, arguments);
      Trial trial = outcome(model.graph, tensors);
      const auto same = [&](const Trial& t) {
        return t.operators == trial.operators && t.is_one_word == trial.is_one_word;
      };
      if (std::none_of(trials.begin(), trials.end(), same)) trials.push_back(std::move(trial));
      if (!every_call) break;
    } catch (const std::exception&) {
      // This form is not taken: the next one.
    }
  }
  return trials;
}

namespace {

/// The same dtype and dims, no elements.
Literal without_elements(const Literal& literal) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data)) {
    Tensor type;
    type.dtype = tensor->dtype;
    type.dims = tensor->dims;
    return {type};
  }
  const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data);
  if (!list) return literal;
  auto copy = std::make_shared<program::ListLiteral>(**list);
  for (Literal& item : copy->items) item = without_elements(item);
  return {copy};
}

}  // namespace

std::vector<std::vector<Literal>> made_up_calls(const program::Schema& schema) {
  std::vector<std::vector<Literal>> calls;
  for (const Guess& guess : std::span(guesses()).first(kOrdinary)) {
    Maker maker(guess);
    calls.emplace_back();
    for (const auto& parameter : schema.arguments) calls.back().push_back(maker.make(parameter));
  }
  return calls;
}

std::vector<std::string> try_steps(const program::Schema& schema, Folder& folder) {
  for (const std::vector<Literal>& literals : made_up_calls(schema)) {
    std::vector<Literal> types;
    for (const Literal& literal : literals) types.push_back(without_elements(literal));
    auto decomposition = folder.decompose(schema, types);
    if (!decomposition.steps) decomposition = folder.decompose(schema, literals);
    if (!decomposition.steps) continue;
    std::vector<std::string> names;
    for (const auto& op : decomposition.steps->operators)
      if (op->schema && !op->name.starts_with("prim::")) names.push_back(qualified_name(*op->schema));
    if (!names.empty()) return names;
  }
  return {};
}

}  // namespace pt2onnx
