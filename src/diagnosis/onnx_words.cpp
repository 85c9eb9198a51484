// Which ONNX operators could a torch operator be called by? Names are compared as lists of words, in every reading that
// the vocabulary has for torch's; what the names suggest counts only when the signature fits too.
#include <algorithm>

#include "diagnosis/advice.h"
#include "diagnosis/near_names.h"
#include "diagnosis/signature.h"
#include "diagnosis/vocabulary.h"

namespace pt2onnx {
namespace {

using Words = std::vector<std::string>;

std::string fused(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// "NonMaxSuppression" -> "nms"
std::string initials(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word.front();
  return text;
}

/// Several words, each the first letter and some more of the other's: group_norm and GroupNormalization, avg_pool2d and
/// AveragePool.
bool abbreviates(const Words& mine, const Words& theirs) {
  if (mine.size() < 2 || mine.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].size() < 3 || mine[i].front() != theirs[i].front()) return false;
    std::size_t at = 0;
    for (const char c : theirs[i]) at += at < mine[i].size() && mine[i][at] == c;
    if (at != mine[i].size()) return false;
  }
  return true;
}

constexpr int kWeak = 2;  // from this distance on, names say little

/// 0 for the same name, 1 for another reading of it; nullopt when the names have nothing to do with each other.
std::optional<int> distance_of_names(const std::vector<Words>& readings, const Words& theirs) {
  const std::string their_name = fused(theirs);
  std::optional<int> best;
  const auto take = [&](int distance) {
    if (!best || distance < *best) best = distance;
  };
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const Words& mine = readings[i];
    const std::string my_name = fused(mine);
    if (my_name == their_name) take(i == 0 ? 0 : 1);
    if (abbreviates(mine, theirs)) take(1);
    if (i > 0) continue;  // weaker signs count for the literal name only
    if (my_name.size() >= 7 && edit_distance(my_name, their_name) <= 1) take(kWeak);
    if (my_name.size() >= 3 && theirs.size() > 1 && initials(theirs) == my_name) take(kWeak);
    if (mine.size() > 1 && their_name.size() >= 8 && mine.back() == their_name) take(kWeak + 1);
  }
  return best;
}

struct Fit {
  bool possible = false;
  bool has_required = false;  // something to take each required attribute from
  bool one_to_one = false;
};

/// ONNX takes elements of any type, text too, and yet floats beside them: it computes nothing with the elements, but with
/// where they come from (Resize).
bool resamples(const OpSignature& op) {
  if (op.inputs.empty() ||
      std::ranges::find(op.inputs.front().dtypes, DType::String) == op.inputs.front().dtypes.end())
    return false;
  if (op.outputs.empty() || op.outputs.front().type_variable != op.inputs.front().type_variable) return false;
  const auto takes_floats = [](const OpParameter& input) {
    return !input.dtypes.empty() && std::ranges::all_of(input.dtypes, is_floating);
  };
  return std::ranges::any_of(op.inputs, takes_floats) ||
         std::ranges::any_of(op.attributes, [](const auto& a) {
           return a.kind == OpAttribute::Kind::Float || a.kind == OpAttribute::Kind::Floats;
         });
}

/// Whether it is told more than sizes: a factor, a mode, places. `aten::resize(self, size)` is not; it changes how much
/// memory a tensor has.
bool tells_how(const program::Schema& schema) {
  std::size_t tensors = 0;
  return std::ranges::any_of(schema.arguments, [&](const program::SchemaArgument& a) {
    if (a.is_out || !a.type) return false;
    if (holds_tensors(a.type)) return ++tensors > 1;
    return mentions(a.type, {program::TypeKind::Float, program::TypeKind::Number, program::TypeKind::String});
  });
}

Fit fit(const program::Schema& schema, const OpSignature& op) {
  std::size_t tensors = 0, required = 0, arguments = 0;
  bool plain = true, plenty = false;  // plenty: more than one thing to make inputs of
  if (resamples(op) && !tells_how(schema)) return {};
  // Sum and Max of several tensors, or of one and a number; not of the elements of one.
  std::size_t operands = 0;
  for (const auto& argument : schema.arguments) {
    if (argument.is_out) continue;
    operands += holds_tensors(argument.type) ? (is_tensor(argument.type) ? 1 : 2)
                                             : mentions(argument.type, {program::TypeKind::Number});
    plenty = plenty || ++arguments > 1 || mentions(argument.type, {program::TypeKind::List});
    if (holds_tensors(argument.type)) {
      plain = plain && is_tensor(argument.type);
      ++tensors;
      if (argument.type->kind != program::TypeKind::Optional && !argument.default_value) ++required;
    } else if (!argument.default_value) {
      plain = plain && std::any_of(op.attributes.begin(), op.attributes.end(),
                                   [&](const OpAttribute& a) { return a.name == argument.name; });
    }
  }
  const bool variadic = !op.inputs.empty() && op.inputs.back().variadic;
  if (op.inputs.size() == 1 && variadic && operands < 2) return {};
  const auto least = static_cast<std::size_t>(std::count_if(
      op.inputs.begin(), op.inputs.end(), [](const auto& p) { return !p.optional && !p.variadic; }));
  const auto results = static_cast<std::size_t>(std::count_if(
      schema.returns.begin(), schema.returns.end(), [](const auto& r) { return holds_tensors(r.type); }));
  const bool results_fit =
      results <= op.outputs.size() || (!op.outputs.empty() && op.outputs.back().variadic);

  Fit result;
  // ONNX often takes as an input what torch takes as a number (the k of topk), so more inputs than tensors are fine.
  result.possible = (variadic || required <= op.inputs.size()) && (least < 2 || plenty) && results_fit &&
                    results > 0 && (tensors > 0 || op.inputs.empty());
  result.has_required = std::ranges::all_of(op.attributes, [&](const OpAttribute& a) {
    return !a.required || std::ranges::any_of(schema.arguments, [&](const program::SchemaArgument& argument) {
      return !holds_tensors(argument.type) && !mentions(argument.type, {program::TypeKind::Bool});
    });
  });
  result.one_to_one =
      result.possible && plain && tensors >= least && (variadic || tensors <= op.inputs.size()) &&
      std::none_of(op.attributes.begin(), op.attributes.end(), [](const auto& a) { return a.required; });
  return result;
}

}  // namespace

std::vector<OnnxWord> onnx_words_for(std::string_view name, const program::Schema& schema,
                                     const OpCatalog& catalog) {
  const auto mine = readings(name, schema);
  std::vector<std::pair<int, OnnxWord>> words;
  for (const std::string& candidate : catalog.names()) {
    const auto distance = distance_of_names(mine, words_of_camel_case(candidate));
    if (!distance) continue;
    const OpSignature* newest = catalog.find("", candidate, catalog.newest_opset());
    const auto since = catalog.since(candidate);
    if (!newest || !since) continue;
    const Fit found = fit(schema, *newest);
    if (!found.possible || (*distance >= kWeak && !found.has_required)) continue;
    words.emplace_back(*distance, OnnxWord{"", candidate, *since, found.one_to_one && *distance <= 1});
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // The best match, and the synonyms that fit as well.
  std::vector<OnnxWord> result;
  for (auto& [distance, word] : words)
    if (distance <= std::max(words.front().first, 1)) result.push_back(std::move(word));
  return result;
}

}  // namespace pt2onnx
