// Which ONNX operators could a torch operator be called by? Names are compared after both are reduced to their letters;
// what the names suggest counts only when the signature fits too.
#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "diagnosis/advice.h"
#include "diagnosis/near_names.h"
#include "diagnosis/signature.h"

namespace pt2onnx {
namespace {

/// Small letters and digits only.
std::string reduced(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The name as ONNX would have it: no namespace, no family prefix, no in-place mark, no number of spatial dims.
std::string essence(std::string_view torch_name) {
  if (const auto at = torch_name.find("::"); at != std::string_view::npos) torch_name.remove_prefix(at + 2);
  for (const std::string_view family : {"linalg_", "special_", "fft_", "_"})
    if (torch_name.starts_with(family)) torch_name.remove_prefix(family.size());
  std::string text = reduced(torch_name);
  for (const std::string_view dims : {"1d", "2d", "3d", "nd"})
    if (text.size() > dims.size() + 2 && text.ends_with(dims)) text.resize(text.size() - dims.size());
  return text;
}

/// "NonMaxSuppression" -> "nms"
std::string initials(std::string_view onnx_name) {
  std::string text;
  for (const char c : onnx_name)
    if (std::isupper(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The last word of a torch name: "attention" of "scaled_dot_product_attention".
std::string last_word(std::string_view torch_name) {
  const auto at = torch_name.rfind('_');
  return at == std::string_view::npos ? std::string() : reduced(torch_name.substr(at + 1));
}

std::vector<std::string> words_of(std::string_view torch_name) {
  std::vector<std::string> words(1);
  for (const char c :
       torch_name.substr(torch_name.find("::") == std::string_view::npos ? 0 : torch_name.find("::") + 2)) {
    if (c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::string& last = words.back();
  if (last.size() > 2 && last.ends_with('d') &&
      std::isdigit(static_cast<unsigned char>(last[last.size() - 2])))
    last.resize(last.size() - 2);  // 1d, 2d, 3d
  return words;
}

/// "RMSNormalization" -> rms, normalization
std::vector<std::string> words_of_camel_case(std::string_view name) {
  const auto upper = [&](std::size_t i) {
    return i < name.size() && std::isupper(static_cast<unsigned char>(name[i]));
  };
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts = upper(i) && (i == 0 || !upper(i - 1) || (i + 1 < name.size() && !upper(i + 1)));
    if (starts || words.empty()) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return words;
}

/// Several words, each the first letter and some more of the other's: group_norm and GroupNormalization, avg_pool2d and
/// AveragePool.
bool abbreviates(std::string_view torch_name, std::string_view onnx_name) {
  const auto mine = words_of(torch_name), theirs = words_of_camel_case(onnx_name);
  if (mine.size() < 2 || mine.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].size() < 3 || mine[i].front() != theirs[i].front()) return false;
    std::size_t at = 0;
    for (const char c : theirs[i]) at += at < mine[i].size() && mine[i][at] == c;
    if (at != mine[i].size()) return false;
  }
  return true;
}

/// 0 for the same name; nullopt when the names have nothing to do with each other.
std::optional<int> distance_of_names(std::string_view torch_name, std::string_view onnx_name) {
  const std::string mine = essence(torch_name), theirs = reduced(onnx_name);
  if (mine == theirs) return 0;
  if (abbreviates(torch_name, onnx_name)) return 1;
  if (mine.size() >= 7 && edit_distance(mine, theirs) <= 1) return 1;  // grid_sampler, GridSample
  if (mine.size() >= 3 && initials(onnx_name) == mine) return 2;
  if (theirs.size() >= 5 && last_word(torch_name) == theirs) return 3;
  return std::nullopt;
}

struct Fit {
  bool possible = false;
  bool one_to_one = false;
};

Fit fit(const program::Schema& schema, const OpSignature& op) {
  std::size_t tensors = 0, required = 0;
  bool plain = true;
  for (const auto& argument : schema.arguments) {
    if (argument.is_out) continue;
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
  const auto least = static_cast<std::size_t>(std::count_if(
      op.inputs.begin(), op.inputs.end(), [](const auto& p) { return !p.optional && !p.variadic; }));
  const auto results = static_cast<std::size_t>(std::count_if(
      schema.returns.begin(), schema.returns.end(), [](const auto& r) { return holds_tensors(r.type); }));
  const bool results_fit =
      results <= op.outputs.size() || (!op.outputs.empty() && op.outputs.back().variadic);

  Fit result;
  // ONNX often takes as an input what torch takes as a number (the k of topk), so more inputs than tensors are fine.
  result.possible = (variadic || required <= op.inputs.size()) && results_fit && results > 0 && tensors > 0;
  result.one_to_one =
      result.possible && plain && tensors >= least && (variadic || tensors <= op.inputs.size()) &&
      std::none_of(op.attributes.begin(), op.attributes.end(), [](const auto& a) { return a.required; });
  return result;
}

}  // namespace

std::vector<OnnxWord> onnx_words_for(std::string_view name, const program::Schema& schema,
                                     const OpCatalog& catalog) {
  std::vector<std::pair<int, OnnxWord>> words;
  for (const std::string& candidate : catalog.names()) {
    const auto distance = distance_of_names(name, candidate);
    if (!distance) continue;
    const OpSignature* newest = catalog.find("", candidate, catalog.newest_opset());
    const auto since = catalog.since(candidate);
    if (!newest || !since) continue;
    const Fit found = fit(schema, *newest);
    if (!found.possible) continue;
    words.emplace_back(*distance, OnnxWord{"", candidate, *since, found.one_to_one && *distance <= 1});
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<OnnxWord> result;
  for (auto& [distance, word] : words)
    if (distance == words.front().first) result.push_back(std::move(word));
  return result;
}

}  // namespace pt2onnx
