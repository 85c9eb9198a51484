// What the guide says of every operator of the catalogue, and what the translation of a program of that one operator does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/child_process.h"
#include "driver/operator_guide.h"
#include "emitter/emitter.h"
#include "frontend/frontend.h"
#include "interpreter/interpreter.h"
#include "interpreter/operator_kind.h"
#include "registry/trial.h"

namespace pt2onnx {
namespace {

using program::Literal;

bool is_public(const std::string& name) {
  return (name.starts_with("aten::") || name.starts_with("torchvision::")) &&
         name.find("::_") == std::string::npos;
}

std::string qualified(const program::Schema& schema) {
  return schema.overload.empty() ? schema.name : schema.name + "." + schema.overload;
}

/// Tensors, alone and in lists, are inputs of the model.
InputBinding binding_of(const Literal& literal, const std::string& name) {
  if (const auto* tensor = std::get_if<Tensor>(&literal.data))
    return {InputBinding::TensorInput{name, tensor->dtype, Shape(tensor->dims.begin(), tensor->dims.end()),
                                      false}};
  const auto* list = std::get_if<std::shared_ptr<program::ListLiteral>>(&literal.data);
  if (!list || (*list)->element->kind != program::TypeKind::Tensor) return {literal};
  InputBinding::Sequence sequence;
  for (std::size_t i = 0; i < (*list)->items.size(); ++i)
    sequence.items.push_back(binding_of((*list)->items[i], fmt::format("{}_{}", name, i)));
  return {sequence};
}

/// `def forward(self, ...): return op(...)`
class OneOpProgram {
 public:
  explicit OneOpProgram(std::shared_ptr<const program::Schema> schema) {
    auto op = std::make_unique<program::Operator>();
    op->name = schema->name;
    op->schema = schema;
    program::Node node;
    node.op = op.get();
    auto forward = std::make_unique<program::Function>();
    forward->name = "__torch__.OneOp.forward";
    program::ValueId last = 0;
    forward->parameters.push_back({"self", nullptr, {}, {}});
    forward->body.parameters.push_back(last++);
    for (const auto& argument : schema->arguments) {
      forward->parameters.push_back({argument.name, argument.type, {}, {}});
      forward->body.parameters.push_back(last);
      node.inputs.push_back(last++);
    }
    for (const auto& result : schema->returns) {
      node.outputs.push_back(last);
      node.output_types.push_back(result.type);
      forward->body.results.push_back(last++);
    }
    forward->body.nodes.push_back(std::move(node));
    forward->value_names.resize(static_cast<std::size_t>(last));
    program_.root = std::make_shared<program::Object>();
    program_.root->type = "__torch__.OneOp";
    program_.root->is_module = true;
    program_.entry = forward.get();
    program_.operators.push_back(std::move(op));
    program_.functions.emplace(forward->name, std::move(forward));
  }

  std::vector<Finding> translate(const std::vector<Literal>& arguments, const OperatorGuide& guide,
                                 int opset) const {
    std::vector<InputBinding> inputs;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      inputs.push_back(binding_of(arguments[i], fmt::format("x{}", i)));
    InterpretOptions options;
    options.opset = opset;
    Model model;
    return interpret(program_, inputs, guide.registry(), onnx_catalog(), guide.folder(), options, model)
        .findings;
  }

 private:
  program::Program program_;
};

/// The first made-up call that the operator's kernel takes. Some kernels crash on nonsense: each is asked in a process of
/// its own, once.
std::optional<std::vector<Literal>> accepted_call(const program::Schema& schema, Folder& folder) {
  static std::map<std::string, std::string> known;
  const auto calls = made_up_calls(schema);
  auto [it, fresh] = known.try_emplace(schema.text);
  if (fresh)
    it->second = in_child_process([&] {
                   use_one_thread();
                   for (std::size_t i = 0; i < calls.size(); ++i)
                     if (folder.evaluate(schema, calls[i]).ok()) return std::to_string(i);
                   return std::string();
                 }).value_or("");
  if (it->second.empty()) return std::nullopt;
  return calls[std::stoul(it->second)];
}

class OneOpModels : public ::testing::TestWithParam<int> {};

TEST_P(OneOpModels, do_what_the_guide_says) {
  Options options;
  options.opset = GetParam();
  const OperatorGuide guide(options);
  std::map<OpStatus, std::size_t> asked;
  std::size_t exported = 0;
  std::vector<std::string> refused;
  for (const auto& name : guide.names()) {
    if (!is_public(name)) continue;
    for (const auto& schema : guide.folder().overloads(name)) {
      if (schema->is_variadic || !takes_tensors(*schema)) continue;
      const std::string op = qualified(*schema);
      const auto standing = guide.standing(*schema);
      const bool is_good = standing.status <= OpStatus::Decomposed;
      // Whether there is a rule shows in any call; what a rule does, only in one that libtorch takes.
      const auto accepted = is_good ? accepted_call(*schema, guide.folder()) : made_up_calls(*schema).front();
      if (!accepted) continue;
      const auto findings = OneOpProgram(schema).translate(*accepted, guide, GetParam());
      const auto of_it =
          std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.op == op; });
      const bool is_reported = of_it != findings.end();
      ++asked[standing.status];
      if (is_good) {
        // How an operator is taken apart depends on the call; a mapped one may be refused in a form, with words.
        EXPECT_FALSE(is_reported && of_it->reason.empty() && standing.status == OpStatus::Mapped) << op;
        EXPECT_LE(standing.since.value_or(0), GetParam()) << op;
        if (findings.empty())
          ++exported;
        else
          refused.push_back(fmt::format("{}: {} {}", op, findings[0].op, findings[0].reason));
        continue;
      }
      // A kernel that gives what it got (to_dense of a dense tensor) is nothing to explain.
      if (findings.empty() && guide.folder().is_composite(*schema)) continue;
      ASSERT_TRUE(is_reported) << op << " is said to be " << to_string(standing.status)
                               << (findings.empty() ? ", and exports"
                                                    : ", and instead there is " + findings[0].op + " " +
                                                          findings[0].reason);
      EXPECT_EQ(of_it->first_opset, standing.since) << op;
    }
  }
  EXPECT_GT(asked[OpStatus::Mapped], 600u);
  EXPECT_GT(asked[OpStatus::Missing], 300u);
  EXPECT_EQ(asked[OpStatus::LaterOpset] > 0, GetParam() < 19) << "deform_conv2d at least";
  EXPECT_GT(exported, refused.size() * 20) << fmt::format("{}", fmt::join(refused, "\n"));
}

INSTANTIATE_TEST_SUITE_P(opsets, OneOpModels, ::testing::Values(9, 13, 17, 20, newest_opset()));

}  // namespace
}  // namespace pt2onnx
