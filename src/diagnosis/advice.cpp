#include "diagnosis/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagnosis/kernel_contract.h"
#include "diagnosis/mapping_text.h"
#include "diagnosis/signature.h"

namespace pt2onnx {
namespace {

std::string_view base_of(std::string_view name) {
  const auto at = name.find("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

std::string_view namespace_of(std::string_view name) {
  const auto at = name.find("::");
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

bool is_known(const program::Schema* schema) { return schema && !schema->is_variadic; }

/// What to write into a mapping file.
std::string mapping_advice(std::string_view when, std::string_view name, const program::Schema* schema,
                           const OnnxWord* word, const AdviceContext& context) {
  return fmt::format("{} in a file of your own, for `--map` (docs/mappings.md): `{}`", when,
                     mapping_text(name, schema, word, context));
}

/// The mapping in C++, as it would stand in a table of symbolics/.
std::string row_text(std::string_view name, const program::Schema& schema, const OnnxWord& word) {
  std::string inputs;
  for (const auto& argument : schema.arguments)
    if (holds_tensors(argument.type) && !argument.is_out)
      inputs += fmt::format("{}c.tensor(\"{}\")", inputs.empty() ? "" : ", ", argument.name);
  if (word.one_to_one && inputs == "c.tensor(\"self\")")
    return fmt::format("{{\"{}\", {}, unary<\"{}\">}}", name, word.since, word.name);
  return fmt::format("{{\"{}\", {}, [](Call& c) -> Results {{ return c.op(\"{}\", {{{}}}); }}}}", name,
                     word.since, word.name, inputs);
}

std::string custom_advice(std::string_view name, const program::Schema* schema,
                          const AdviceContext& context) {
  const std::string node = is_known(schema) ? text_of(kernel_contract(*schema, context.custom_domain))
                                            : fmt::format("{}::{}", context.custom_domain, base_of(name));
  return fmt::format(
      "pass `--unsupported custom` to export it as the node `{}`; that is the first half only: the runtime "
      "still needs "
      "a kernel for it (an ONNX Runtime custom op, a TensorRT plugin)",
      node);
}

/// Case 4 where the dictionary has a rule for later opsets.
Advice from_later_opset(int first, const AdviceContext& context) {
  Advice advice;
  advice.which = Case::OpsetTooLow;
  advice.first_opset = first;
  advice.reason =
      fmt::format("it can be expressed from opset {} on; the target is opset {}", first, context.opset);
  advice.advice.push_back(fmt::format("pass `--opset {}` (or a later one)", first));
  return advice;
}

Advice user_op(std::string_view name, const program::Schema* schema, const AdviceContext& context) {
  Advice advice;
  advice.which = Case::UserOp;
  advice.reason = is_known(schema)
                      ? "it comes from a library outside PyTorch and has no TorchScript body"
                      : "it is in none of the libraries that are loaded, and the file holds no body for it";
  if (!is_known(schema)) {
    advice.advice.push_back(
        fmt::format("tell its signature: `--op-schema '{}(Tensor x) -> Tensor'`, with the arguments of the "
                    "real one; or load the "
                    "library that registers it: `--load-library LIB.so`",
                    name));
  }
  advice.advice.push_back(mapping_advice("say what it computes", name, schema, nullptr, context));
  advice.advice.push_back(custom_advice(name, schema, context));
  advice.advice.push_back(
      "or write it in Python with operators of PyTorch (a function without torch.library, or an "
      "autograd.Function): it "
      "is then inlined");
  return advice;
}

Advice dictionary_gap(std::string_view name, const program::Schema& schema, std::vector<OnnxWord> words,
                      const AdviceContext& context) {
  const OnnxWord word = words.front();
  Advice advice;
  advice.onnx = std::move(words);
  if (word.since > context.opset) {
    advice.which = Case::OpsetTooLow;
    advice.first_opset = word.since;
    advice.reason =
        fmt::format("ONNX has `{}` from opset {} on (the target is {}), and pt2onnx has no mapping to it yet",
                    word.name, word.since, context.opset);
  } else {
    advice.which = Case::DictionaryGap;
    advice.reason =
        fmt::format("ONNX has `{}` since opset {}, but pt2onnx has no mapping to it", word.name, word.since);
  }
  advice.advice.push_back(mapping_advice("map it", name, &schema, &word, context));
  advice.advice.push_back(
      fmt::format("or add the row to a table in symbolics/ (CONTRIBUTING.md, \"add an op\"): `{}`",
                  row_text(name, schema, word)));
  if (!word.one_to_one)
    advice.advice.push_back(fmt::format(
        "the arguments do not match one to one: compare `{}` with the operator (`pt2onnx onnx-ops {}`)",
        schema.text.empty() ? std::string(name) : schema.text, word.name));
  advice.advice.push_back(custom_advice(name, &schema, context));
  return advice;
}

Advice no_such_word(std::string_view name, const program::Schema& schema, const AdviceContext& context) {
  Advice advice;
  advice.which = Case::NoSuchWord;
  advice.reason =
      fmt::format("no ONNX operator up to opset {} expresses it, and pt2onnx has no composition for it",
                  context.catalog.newest_opset());
  advice.advice.push_back(
      mapping_advice("if it can be composed of ONNX operators, write that", name, &schema, nullptr, context));
  advice.advice.push_back(custom_advice(name, &schema, context));
  return advice;
}

}  // namespace

bool is_torch_namespace(std::string_view name) {
  constexpr std::array<std::string_view, 27> kNamespaces{"aten",
                                                         "prim",
                                                         "prims",
                                                         "quantized",
                                                         "quantized_decomposed",
                                                         "sparse",
                                                         "mkldnn",
                                                         "mkldnn_prepacked",
                                                         "prepacked",
                                                         "xnnpack",
                                                         "profiler",
                                                         "torchvision",
                                                         "torchaudio",
                                                         "_c10d_functional",
                                                         "_c10d_functional_autograd",
                                                         "_dtensor",
                                                         "_quantized",
                                                         "_test",
                                                         "c10d",
                                                         "inductor",
                                                         "inductor_prims",
                                                         "mkl",
                                                         "onednn",
                                                         "onnx",
                                                         "quantization",
                                                         "static_runtime",
                                                         "symm_mem"};
  return std::find(kNamespaces.begin(), kNamespaces.end(), name) != kNamespaces.end();
}

Advice advise_unmapped(std::string_view name, std::string_view overload, const program::Schema* schema,
                       const AdviceContext& context) {
  const auto found = context.registry.find(name, overload, context.opset);
  if (!found.rule && found.later) return from_later_opset(*found.later, context);
  if (!is_torch_namespace(namespace_of(name)) || !is_known(schema)) return user_op(name, schema, context);
  if (auto words = onnx_words_for(name, *schema, context.catalog); !words.empty())
    return dictionary_gap(name, *schema, std::move(words), context);
  return no_such_word(name, *schema, context);
}

Finding unmapped_finding(std::string_view name, std::string_view overload, const program::Schema* schema,
                         const AdviceContext& context) {
  Advice advice = advise_unmapped(name, overload, schema, context);
  Finding finding;
  finding.op = std::string(name);
  if (!overload.empty()) finding.op += "." + std::string(overload);
  if (schema) finding.schema = schema->text;
  finding.which = advice.which;
  finding.reason = std::move(advice.reason);
  finding.advice = std::move(advice.advice);
  finding.first_opset = advice.first_opset;
  return finding;
}

}  // namespace pt2onnx
