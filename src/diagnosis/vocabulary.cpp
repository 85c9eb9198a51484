#include "diagnosis/vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "core/names.h"

namespace pt2onnx {
namespace {

using namespace std::string_view_literals;

struct Synonym {
  std::string_view torch;  // words joined by "_"
  std::string_view onnx;   // small words
};

// Several readings of a phrase stand in several rows.
constexpr std::array kSynonyms{
    // arithmetic and comparison
    Synonym{"absolute", "abs"}, Synonym{"divide", "div"}, Synonym{"multiply", "mul"},
    Synonym{"subtract", "sub"}, Synonym{"negative", "neg"}, Synonym{"maximum", "max"},
    Synonym{"minimum", "min"}, Synonym{"fmax", "max"}, Synonym{"fmin", "min"}, Synonym{"fmod", "mod"},
    Synonym{"remainder", "mod"}, Synonym{"rsub", "sub"}, Synonym{"power", "pow"}, Synonym{"sgn", "sign"},
    Synonym{"eq", "equal"}, Synonym{"gt", "greater"}, Synonym{"lt", "less"},
    Synonym{"ge", "greater or equal"}, Synonym{"le", "less or equal"},
    Synonym{"greater_equal", "greater or equal"}, Synonym{"less_equal", "less or equal"},
    Synonym{"logical_and", "and"}, Synonym{"logical_or", "or"}, Synonym{"logical_xor", "xor"},
    Synonym{"logical_not", "not"}, Synonym{"isneginf", "is inf"}, Synonym{"isposinf", "is inf"},
    Synonym{"left_shift", "bit shift"}, Synonym{"right_shift", "bit shift"},
    Synonym{"bitwise_left_shift", "bit shift"}, Synonym{"bitwise_right_shift", "bit shift"},
    // activations and limits
    Synonym{"clamp", "clip"}, Synonym{"clamp", "min"}, Synonym{"clamp", "max"}, Synonym{"hardtanh", "clip"},
    Synonym{"relu6", "clip"}, Synonym{"expit", "sigmoid"}, Synonym{"silu", "swish"},
    Synonym{"threshold", "thresholded relu"}, Synonym{"rrelu", "leaky relu"}, Synonym{"hardshrink", "shrink"},
    Synonym{"softshrink", "shrink"},
    // products of matrices
    Synonym{"mm", "mat mul"}, Synonym{"bmm", "mat mul"}, Synonym{"mv", "mat mul"}, Synonym{"dot", "mat mul"},
    Synonym{"vdot", "mat mul"}, Synonym{"multi_dot", "mat mul"}, Synonym{"chain_matmul", "mat mul"},
    Synonym{"linear", "gemm"}, Synonym{"linear", "mat mul"}, Synonym{"addmm", "gemm"},
    // reductions
    Synonym{"sum", "reduce sum"}, Synonym{"nansum", "reduce sum"}, Synonym{"mean", "reduce mean"},
    Synonym{"prod", "reduce prod"}, Synonym{"max", "reduce max"}, Synonym{"min", "reduce min"},
    Synonym{"amax", "reduce max"}, Synonym{"amin", "reduce min"}, Synonym{"all", "reduce min"},
    Synonym{"any", "reduce max"}, Synonym{"logsumexp", "reduce log sum exp"}, Synonym{"norm", "reduce l2"},
    Synonym{"vector_norm", "reduce l2"}, Synonym{"matrix_norm", "reduce l2"},
    Synonym{"frobenius_norm", "reduce l2"},
    // pieces, order and places
    Synonym{"cat", "concat"}, Synonym{"concatenate", "concat"}, Synonym{"stack", "concat"},
    Synonym{"hstack", "concat"}, Synonym{"vstack", "concat"}, Synonym{"dstack", "concat"},
    Synonym{"row_stack", "concat"}, Synonym{"column_stack", "concat"}, Synonym{"narrow", "slice"},
    Synonym{"split", "slice"}, Synonym{"tensor_split", "slice"}, Synonym{"hsplit", "slice"},
    Synonym{"vsplit", "slice"}, Synonym{"dsplit", "slice"}, Synonym{"chunk", "split"},
    Synonym{"split_sizes", "split"}, Synonym{"permute", "transpose"}, Synonym{"adjoint", "transpose"},
    Synonym{"t", "transpose"}, Synonym{"mt", "transpose"}, Synonym{"mh", "transpose"},
    Synonym{"h", "transpose"}, Synonym{"matrix_h", "transpose"}, Synonym{"movedim", "transpose"},
    Synonym{"moveaxis", "transpose"}, Synonym{"swapdims", "transpose"}, Synonym{"swapaxes", "transpose"},
    Synonym{"view", "reshape"}, Synonym{"repeat", "tile"}, Synonym{"index_select", "gather"},
    Synonym{"embedding", "gather"}, Synonym{"take", "gather"}, Synonym{"take_along", "gather"},
    Synonym{"take_along", "gather elements"}, Synonym{"gather", "gather elements"},
    Synonym{"scatter", "scatter elements"}, Synonym{"scatter_add", "scatter elements"},
    Synonym{"put", "scatter elements"}, Synonym{"index_copy", "scatter elements"},
    Synonym{"index_copy", "scatter"}, Synonym{"masked_select", "compress"}, Synonym{"masked_fill", "where"},
    Synonym{"index_put", "scatter nd"}, Synonym{"select", "gather"}, Synonym{"tril", "trilu"},
    Synonym{"triu", "trilu"}, Synonym{"broadcast_to", "expand"}, Synonym{"expand_as", "expand"},
    Synonym{"view_as", "reshape"}, Synonym{"reshape_as", "reshape"}, Synonym{"ravel", "reshape"},
    Synonym{"unflatten", "reshape"}, Synonym{"type_as", "cast like"}, Synonym{"clone", "identity"},
    Synonym{"alias", "identity"}, Synonym{"detach", "identity"}, Synonym{"contiguous", "identity"},
    Synonym{"positive", "identity"}, Synonym{"pixel_shuffle", "depth to space"},
    Synonym{"pixel_unshuffle", "space to depth"},
    // convolutions, pools, sizes of images, transforms
    Synonym{"convolution", "conv"}, Synonym{"convolution_transpose", "conv transpose"},
    Synonym{"reflection_pad", "pad"}, Synonym{"replication_pad", "pad"}, Synonym{"constant_pad", "pad"},
    Synonym{"adaptive_avg_pool", "average pool"}, Synonym{"adaptive_avg_pool", "global average pool"},
    Synonym{"adaptive_max_pool", "max pool"}, Synonym{"interpolate", "resize"}, Synonym{"upsample", "resize"},
    Synonym{"upsample_nearest", "resize"}, Synonym{"upsample_nearest_exact", "resize"},
    Synonym{"upsample_linear", "resize"}, Synonym{"upsample_bilinear", "resize"},
    Synonym{"upsample_bicubic", "resize"}, Synonym{"upsample_trilinear", "resize"},
    Synonym{"grid_sampler", "grid sample"}, Synonym{"affine_grid_generator", "affine grid"},
    Synonym{"rnn_tanh", "rnn"}, Synonym{"rnn_relu", "rnn"}, Synonym{"fft", "dft"}, Synonym{"ifft", "dft"},
    Synonym{"rfft", "dft"}, Synonym{"irfft", "dft"},
    // losses, normalisation, chance, integer codes
    Synonym{"quantize_per_tensor", "quantize linear"}, Synonym{"quantize_per_channel", "quantize linear"},
    Synonym{"quantize_per_tensor_dynamic", "dynamic quantize linear"},
    Synonym{"dequantize", "dequantize linear"}, Synonym{"cross_entropy_loss", "softmax cross entropy loss"},
    Synonym{"nll_loss", "negative log likelihood loss"}, Synonym{"rand", "random uniform"},
    Synonym{"randn", "random normal"}, Synonym{"normal", "random normal"},
    Synonym{"uniform", "random uniform"}, Synonym{"rand_like", "random uniform like"},
    Synonym{"randn_like", "random normal like"}, Synonym{"normal", "random normal like"},
    Synonym{"uniform", "random uniform like"}};

// They say where or how something is computed, or what is made of the result; not what it is.
constexpr std::array kQualifiers{"copy"sv,  "unsafe"sv, "native"sv, "safe"sv,   "slow"sv,   "thnn"sv,
                                 "numpy"sv, "cudnn"sv,  "mkldnn"sv, "miopen"sv, "mps"sv,    "true"sv,
                                 "nd"sv,    "1d"sv,     "2d"sv,     "3d"sv,     "linalg"sv, "special"sv};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == separator)
      words.emplace_back();
    else
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::erase(words, std::string());
  return words;
}

/// "pool2d" -> "pool"
std::string without_dims(std::string word) {
  for (const std::string_view dims : {"1d", "2d", "3d"})
    if (word.size() > dims.size() + 1 && word.ends_with(dims)) word.resize(word.size() - dims.size());
  return word;
}

/// arccos is acos.
std::string without_arc(std::string word) {
  return word.size() > 5 && word.starts_with("arc") ? "a" + word.substr(3) : word;
}

std::vector<std::string> plain_words(std::string_view name) {
  if (const auto at = name.find("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  if (name.starts_with("fft_")) name.remove_prefix(4);  // fft_fft
  std::vector<std::string> words;
  for (std::string& word : split(name, '_')) {
    if (word == "with") break;  // what else it gives or takes: max_pool2d_with_indices, split_with_sizes
    words.push_back(without_arc(without_dims(std::move(word))));
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i == begin ? "" : "_") + words[i];
  return text;
}

/// Every way to read the words from `at` on.
void read_from(const std::vector<std::string>& words, std::size_t at, std::vector<std::string>& so_far,
               std::vector<std::vector<std::string>>& all) {
  constexpr std::size_t kMost = 48;
  if (all.size() >= kMost) return;
  if (at == words.size()) {
    all.push_back(so_far);
    return;
  }
  const std::size_t before = so_far.size();
  so_far.push_back(words[at]);  // literally
  read_from(words, at + 1, so_far, all);
  so_far.resize(before);
  for (std::size_t end = words.size(); end > at; --end) {
    const std::string phrase = joined(words, at, end);
    for (const Synonym& synonym : kSynonyms) {
      if (synonym.torch != phrase) continue;
      for (std::string& word : split(synonym.onnx, ' ')) so_far.push_back(std::move(word));
      read_from(words, end, so_far, all);
      so_far.resize(before);
    }
  }
}

}  // namespace

std::vector<std::vector<std::string>> readings(std::string_view torch_name, const program::Schema& schema) {
  const auto words = plain_words(torch_name);
  auto essential = words;
  std::erase_if(essential, [](const std::string& word) { return contains(kQualifiers, word); });
  auto bare = essential;  // clamp_max(self, max), unique_dim(self, dim)
  std::erase_if(bare, [&](const std::string& word) {
    return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                       [&](const auto& a) { return a.name == word; });
  });
  std::vector<std::vector<std::string>> all;
  for (const auto& variant : {essential, words, bare}) {
    std::vector<std::string> so_far;
    std::vector<std::vector<std::string>> read;
    if (!variant.empty()) read_from(variant, 0, so_far, read);
    // A reading that goes on where the name ends is what the name means: gather is GatherElements, not Gather.
    const auto goes_on = [&](const std::vector<std::string>& reading) {
      return reading.size() > variant.size() && std::equal(variant.begin(), variant.end(), reading.begin());
    };
    if (std::any_of(read.begin(), read.end(), goes_on))
      std::erase_if(read, [&](const auto& reading) { return !goes_on(reading); });
    all.insert(all.end(), read.begin(), read.end());
  }
  return all;
}

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

}  // namespace pt2onnx
