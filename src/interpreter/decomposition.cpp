#include "interpreter/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/literal.h"
#include "interpreter/operator_kind.h"
#include "interpreter/sample_arguments.h"

namespace pt2onnx {
namespace {

using program::Function;
using program::Literal;
using program::Node;
using Program = program::Program;

constexpr int kTurns = 3;  // two give a line, the third tells whether it is one
using Numbers = std::array<std::int64_t, kTurns>;

/// The dims of the arguments, tensor by tensor; a number counts as a tensor of one dim.
void collect_shapes(const Argument& argument, std::vector<Shape>& shapes) {
  if (const auto* v = std::get_if<Value>(&argument.data); v && *v && v->shape()) {
    shapes.push_back(*v->shape());
  } else if (const auto* scalar = std::get_if<Scalar>(&argument.data)) {
    if (const auto* dim = std::get_if<Dim>(&scalar->data())) shapes.push_back({*dim});
  } else if (const auto* list = std::get_if<Argument::List>(&argument.data)) {
    for (const Argument& item : *list) collect_shapes(item, shapes);
  }
}

/// Which dynamic sizes are taken to be equal: a kernel that wants them so refuses others.
enum class Equalities { None, OfAlignedAxes, OfExamples };

/// Nullopt where two sizes of one tensor would be the same: then a number could mean either.
std::optional<SampleArguments::Leaders> leaders_of(const std::vector<Shape>& shapes, Equalities equalities,
                                                   const SampleArguments& examples) {
  SampleArguments::Leaders leaders;
  if (equalities == Equalities::None) return leaders;
  std::map<std::pair<std::int64_t, std::size_t>, std::string> first;  // by example and, if it counts, axis
  for (const Shape& shape : shapes) {
    std::set<std::string> in_tensor;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto symbol = shape[axis].symbol_name();
      if (!symbol) continue;
      const std::size_t from_right = equalities == Equalities::OfAlignedAxes ? shape.size() - axis : 0;
      const auto [leader, fresh] = first.try_emplace({examples.example_of(*symbol), from_right}, *symbol);
      const std::string& name = leaders.try_emplace(*symbol, leader->second).first->second;
      if (!in_tensor.insert(name).second && *symbol != name) return std::nullopt;
    }
  }
  return leaders;
}

/// "takes M as equal to N"; empty where nothing is equal.
std::string text_of(const SampleArguments::Leaders& leaders) {
  std::vector<std::string> equal;
  for (const auto& [symbol, leader] : leaders)
    if (symbol != leader) equal.push_back(fmt::format("{} as equal to {}", symbol, leader));
  return equal.empty() ? std::string() : fmt::format("takes the size {}", fmt::join(equal, ", "));
}

/// Asks the kernel at several sizes and finds what the numbers in its calls stand for.
class Sizes {
 public:
  Sizes(const std::vector<Shape>& shapes, const std::map<std::string, std::int64_t>& example_sizes,
        SampleArguments::Elements elements, const SampleArguments::Leaders& leaders) {
    for (int turn = 0; turn < kTurns; ++turn) samples_.emplace_back(example_sizes, turn, elements, leaders);
    for (const Shape& shape : shapes)
      for (const Dim& dim : shape)
        if (!dim.is_static()) dims_.push_back(dim);
  }

  bool any_dynamic() const { return !dims_.empty(); }
  SampleArguments& sample(std::size_t turn) { return samples_[turn]; }

  /// The expression that has these values: the size of some argument, or else a + b * such a size, if there is only one.
  std::optional<Dim> expression(const Numbers& numbers) {
    std::optional<Dim> found;
    for (const Dim& dim : dims_) {
      const auto sizes = sizes_of(dim);
      if (!sizes) continue;
      if (*sizes == numbers) return dim;
      const std::int64_t run = (*sizes)[1] - (*sizes)[0], rise = numbers[1] - numbers[0];
      if (run == 0 || rise % run != 0) continue;
      const std::int64_t slope = rise / run, offset = numbers[0] - slope * (*sizes)[0];
      if (numbers[2] != slope * (*sizes)[2] + offset) continue;
      const Dim line = Dim(slope) * dim + Dim(offset);
      if (found && !(*found == line)) return std::nullopt;
      found = line;
    }
    return found;
  }

 private:
  std::optional<Numbers> sizes_of(const Dim& dim) {
    Numbers sizes{};
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      const auto size = sample(turn).size_of(dim);
      if (!size) return std::nullopt;
      sizes[turn] = *size;
    }
    return sizes;
  }

  std::vector<SampleArguments> samples_;
  std::vector<Dim> dims_;
};

/// Null, and why, where the kernel refuses.
std::shared_ptr<const Program> steps_at(Folder& folder, const program::Schema& schema,
                                        const Call::Arguments& arguments, SampleArguments& sample,
                                        std::string& why_not) {
  std::vector<Literal> literals;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto literal = sample.literal(arguments[i]);
    if (!literal) {
      why_not = fmt::format("nothing can stand for its argument `{}`",
                            i < schema.arguments.size() ? schema.arguments[i].name : "...");
      return nullptr;
    }
    literals.push_back(std::move(*literal));
  }
  auto decomposition = folder.decompose(schema, literals);
  why_not = std::move(decomposition.error);
  return decomposition.steps;
}

bool same_call(const Node& a, const Node& b) {
  return a.op->name == b.op->name && a.op->schema == b.op->schema && a.inputs == b.inputs &&
         a.outputs == b.outputs && a.blocks.empty() && b.blocks.empty() && a.name == b.name;
}

std::optional<std::int64_t> integer_of(const Node& node) {
  const auto* number = std::get_if<std::int64_t>(&node.constant.data);
  return number ? std::optional(*number) : std::nullopt;
}

[[noreturn]] void reject_for_example() {
  Rejection rejection(
      "is computed by other operators, but which ones depends on a size that is dynamic here, or on "
      "elements");
  rejection.advice = "static dims for its inputs may help";
  throw rejection;
}

/// The steps with each number that depends on the sizes as a parameter instead.
void open_sizes(Decomposition& result, const std::array<std::shared_ptr<const Program>, kTurns>& turns,
                Sizes& sizes) {
  std::array<const program::Block*, kTurns> bodies{};
  for (std::size_t t = 0; t < kTurns; ++t) bodies[t] = &turns[t]->entry->body;
  for (std::size_t t = 1; t < kTurns; ++t)
    if (bodies[t]->nodes.size() != bodies[0]->nodes.size() || bodies[t]->results != bodies[0]->results)
      reject_for_example();

  std::vector<Node> nodes;
  for (std::size_t i = 0; i < bodies[0]->nodes.size(); ++i) {
    const Node& node = bodies[0]->nodes[i];
    Numbers numbers{};
    bool equal = true;
    for (std::size_t t = 0; t < kTurns; ++t) {
      const Node& other = bodies[t]->nodes[i];
      if (!same_call(node, other)) reject_for_example();
      equal &= same_value(node.constant, other.constant);
      numbers[t] = integer_of(other).value_or(0);
    }
    if (equal) {
      nodes.push_back(node);
      continue;
    }
    const auto size = integer_of(node) ? sizes.expression(numbers) : std::nullopt;
    if (!size) reject_for_example();
    program::Parameter parameter;
    parameter.type = node.output_types.at(0);
    result.steps.parameters.push_back(parameter);
    result.steps.body.parameters.push_back(node.outputs.at(0));
    result.steps.body.parameter_types.push_back(parameter.type);
    result.sizes.push_back(*size);
  }
  result.steps.body.nodes = std::move(nodes);
}

/// Memory that the kernel asks for and that no step writes to: it fills it by other means, which are not recorded.
void check_all_written(const program::Function& steps) {
  std::set<program::ValueId> unset;
  const auto reject_if_unset = [&](program::ValueId id) {
    if (unset.contains(id))
      throw Rejection("is computed by other operators and by memory that it writes itself");
  };
  for (const Node& node : steps.body.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& schema = node.op->schema;
      if (schema && i < schema->arguments.size() && schema->arguments[i].alias &&
          schema->arguments[i].alias->is_write)
        unset.erase(node.inputs[i]);
      else
        reject_if_unset(node.inputs[i]);
    }
    if (leaves_unset(node.op->name)) unset.insert(node.outputs.begin(), node.outputs.end());
  }
  std::for_each(steps.body.results.begin(), steps.body.results.end(), reject_if_unset);
}

}  // namespace

bool is_step_parameter(const Argument& argument) {
  if (const auto* v = std::get_if<Value>(&argument.data)) return static_cast<bool>(*v);
  const auto* list = std::get_if<Argument::List>(&argument.data);
  return list && !list->empty() && std::holds_alternative<Value>(list->front().data);
}

std::shared_ptr<const Decomposition> decompose(Folder& folder, const program::Schema& schema,
                                               const Call::Arguments& arguments,
                                               const std::map<std::string, std::int64_t>& example_sizes) {
  using Elements = SampleArguments::Elements;
  std::vector<Shape> shapes;
  for (const Argument& argument : arguments) collect_shapes(argument, shapes);
  std::string why_not;
  // Not every kernel runs without elements; where they are made up, what is the same for others of them is believed.
  for (const auto elements : {Elements::None, Elements::Varied}) {
    for (const auto equalities : {Equalities::None, Equalities::OfAlignedAxes, Equalities::OfExamples}) {
      const auto leaders = leaders_of(shapes, equalities, SampleArguments(example_sizes, 0, elements));
      if (!leaders) continue;
      Sizes sizes(shapes, example_sizes, elements, *leaders);
      if (!sizes.any_dynamic() && equalities != Equalities::None) break;
      std::array<std::shared_ptr<const Program>, kTurns> turns;
      const std::size_t asked = sizes.any_dynamic() || elements == Elements::Varied ? kTurns : 1;
      std::size_t known = 0;
      while (known < asked &&
             (turns[known] = steps_at(folder, schema, arguments, sizes.sample(known), why_not)))
        ++known;
      if (known < asked) continue;
      auto result = std::make_shared<Decomposition>();
      result->owner = turns[0];
      result->steps = *turns[0]->entry;
      check_all_written(result->steps);
      if (asked > 1) open_sizes(*result, turns, sizes);
      result->assumption = text_of(*leaders);
      return result;
    }
  }
  throw Rejection(fmt::format("is computed by other operators, but not for such arguments: {}", why_not));
}

}  // namespace pt2onnx
