// The language of --input:
//
//   spec   = [ path ":" ] value
//   value  = [ dtype ] "[" sizes "]" | dtype | kind "=" literal | "none"
//   sizes  = nothing, or numbers, words and "?" separated by commas
//   kind   = "int" | "float" | "bool" | "str"
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <stdexcept>

#include "diagnosis/near_names.h"
#include "pt2onnx/convert.h"

namespace pt2onnx {
namespace {

bool is_word(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

template <typename T>
std::optional<T> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class SpecParser {
 public:
  explicit SpecParser(std::string_view text) : text_(text) {}

  InputSpec parse() {
    InputSpec spec;
    std::string_view value = text_;
    // A ":" after "[" or "=" belongs to the value.
    const auto colon = text_.substr(0, text_.find_first_of("[=")).find(':');
    if (colon != std::string_view::npos) {
      spec.name = std::string(text_.substr(0, colon));
      value = text_.substr(colon + 1);
      if (spec.name.empty()) fail(text_, "the name before `:` is missing");
    }
    if (value.empty()) fail(value, "expected a shape, a dtype or a value here");

    const auto equals = value.find('=');
    const auto bracket = value.find('[');
    if (value == "none" || value == "None") {
      spec.value = InputSpec::None{};
    } else if (equals != std::string_view::npos && equals < bracket) {
      parse_literal(value.substr(0, equals), value.substr(equals + 1), spec);
    } else {
      spec.value = parse_tensor(value, bracket);
    }
    return spec;
  }

 private:
  InputSpec::TensorSpec parse_tensor(std::string_view value, std::size_t bracket) const {
    InputSpec::TensorSpec tensor;
    const std::string_view dtype = value.substr(0, bracket);
    if (!dtype.empty()) {
      tensor.dtype = dtype_from_string(dtype);
      if (!tensor.dtype) fail(dtype, unknown_dtype(dtype));
    }
    if (bracket == std::string_view::npos) return tensor;

    const auto close = value.find(']', bracket);
    if (close == std::string_view::npos) fail(value.substr(bracket), "the `[` is not closed");
    if (close + 1 != value.size())
      fail(value.substr(close + 1), "nothing can follow the shape; the dtype stands before it");
    tensor.dims.emplace();
    std::string_view rest = value.substr(bracket + 1, close - bracket - 1);
    if (trimmed(rest).empty()) return tensor;
    for (bool more = true; more;) {
      const auto comma = rest.find(',');
      more = comma != std::string_view::npos;
      tensor.dims->push_back(parse_size(trimmed(rest.substr(0, comma))));
      if (more) rest.remove_prefix(comma + 1);
    }
    return tensor;
  }

  InputSpec::TensorSpec::Size parse_size(std::string_view size) const {
    if (size == "?" || size == "*" || size == "-1") return std::string("?");
    if (const auto known = number<std::int64_t>(size)) {
      if (*known < 0) fail(size, "a size cannot be negative; a word makes the dim dynamic");
      return *known;
    }
    if (!is_word(size)) fail(size, "expected a size, a word for a dynamic dim, or `?`");
    return std::string(size);
  }

  void parse_literal(std::string_view kind, std::string_view literal, InputSpec& spec) const {
    if (kind == "int") {
      const auto value = number<std::int64_t>(literal);
      if (!value) fail(literal, "expected an integer");
      spec.value = *value;
    } else if (kind == "float") {
      const auto value = number<double>(literal);
      if (!value) fail(literal, "expected a number");
      spec.value = *value;
    } else if (kind == "bool") {
      const bool yes = literal == "true" || literal == "True" || literal == "1";
      if (!yes && literal != "false" && literal != "False" && literal != "0")
        fail(literal, "expected `true` or `false`");
      spec.value = yes;
    } else if (kind == "str") {
      spec.value = std::string(literal);
    } else {
      fail(kind, "a value is written `int=3`, `float=0.5`, `bool=true`, `str=text` or `none`");
    }
  }

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
  }

  static std::string unknown_dtype(std::string_view dtype) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(DType::Complex128); ++i)
      names.emplace_back(to_string(static_cast<DType>(i)));
    const auto near = near_names(dtype, names, 1);
    return fmt::format("no such dtype{}", near.empty() ? "; for example float32, float16, int64, bool"
                                                       : fmt::format("; `{}` is near", near.front()));
  }

  [[noreturn]] void fail(std::string_view at, std::string_view what) const {
    // `at` is always a piece of text_.
    const auto column = static_cast<std::size_t>(at.data() - text_.data());
    throw std::invalid_argument(fmt::format("--input: {}\n  {}\n  {:>{}}", what, text_, "^", column + 1));
  }

  std::string_view text_;
};

}  // namespace

InputSpec parse_input_spec(std::string_view text) { return SpecParser(text).parse(); }

}  // namespace pt2onnx
