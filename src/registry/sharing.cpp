#include "registry/sharing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace pt2onnx {
namespace {

constexpr std::array<std::string_view, 7> kRandom{
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
    "Multinomial",  "Bernoulli",        "Dropout"};

}  // namespace

std::optional<std::string> sharing_key(std::string_view domain, std::string_view op, std::size_t outputs,
                                       const std::vector<Value>& inputs, const Attributes& attributes) {
  if (!domain.empty() || std::find(kRandom.begin(), kRandom.end(), op) != kRandom.end()) return std::nullopt;
  std::string key = fmt::format("{}/{}", op, outputs);
  for (const Value& input : inputs)
    fmt::format_to(std::back_inserter(key), "|{}", static_cast<const void*>(input.info()));
  for (const auto& [name, attribute] : attributes) {
    if (std::holds_alternative<Tensor>(attribute) ||
        std::holds_alternative<std::shared_ptr<Graph>>(attribute) ||
        std::holds_alternative<ValueType>(attribute))
      return std::nullopt;
    fmt::format_to(std::back_inserter(key), "|{}={}:", name, attribute.index());
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, double>)
            fmt::format_to(std::back_inserter(key), "{:a}", v);
          else if constexpr (std::is_same_v<T, std::vector<double>>)
            fmt::format_to(std::back_inserter(key), "{:a}", fmt::join(v, ","));
          else if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::string>)
            fmt::format_to(std::back_inserter(key), "{}", v);
          else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                             std::is_same_v<T, std::vector<std::string>>)
            fmt::format_to(std::back_inserter(key), "{}", fmt::join(v, ","));
        },
        attribute);
  }
  return key;
}

}  // namespace pt2onnx
