#include "case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace pt2onnx::testing {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::size_t indentation(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Reads one file; `at_` is the line that an error names.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
  }

  std::vector<Case> read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      const auto line = trimmed(lines_[at_]);
      if (line.empty() || line[0] == '#') continue;
      const auto space = std::min(line.find(' '), line.size());
      keyword(line.substr(0, space), trimmed(line.substr(space)));
    }
    for (auto& c : cases_) {
      if (c.source.empty()) fail("case `" + c.name + "` has no `forward`");
      if (c.opsets.empty()) c.opsets = {9, 13, 18, 20, 23};
      if (c.all_dynamic) name_dims(c, *c.all_dynamic);
    }
    return std::move(cases_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", path_, at_ + 1, why));
  }

  void keyword(const std::string& word, const std::string& rest) {
    if (word == "case") {
      Case c;
      c.file = std::filesystem::path(path_).stem();
      c.line = static_cast<int>(at_) + 1;
      c.name = rest;
      cases_.push_back(c);
      return;
    }
    if (cases_.empty()) fail("`" + word + "` before the first `case`");
    Case& c = cases_.back();
    if (word == "opset") {
      for (const auto& number : words(rest)) c.opsets.push_back(std::stoi(number));
    } else if (word == "input") {
      tensors(rest, c.inputs);
    } else if (word == "also") {
      tensors(rest, c.also.emplace_back());
    } else if (word == "param") {
      tensors(rest, c.parameters);
    } else if (word == "buffer") {
      tensors(rest, c.buffers);
    } else if (word == "forward") {
      c.source = rest.empty() ? method(c, body()) : method(c, "    return " + rest + "\n");
    } else if (word == "emits") {
      nodes(rest, c.nodes);
    } else if (word == "rejects") {
      c.rejection = rejection(rest);
    } else if (word == "dynamic") {
      if (rest == "only") {
        c.only_dynamic = true;
      } else if (rest == "yes" || rest == "no") {
        c.all_dynamic = rest == "yes";
      } else {
        fail("`dynamic` takes yes, no or only; name dims to have some dynamic");
      }
    } else if (word == "atol") {
      c.atol = std::stod(rest);
    } else if (word == "rtol") {
      c.rtol = std::stod(rest);
    } else if (word == "exact") {
      c.exact = true;
    } else if (word == "random") {
      c.random = true;
    } else if (word == "skip") {
      c.skip = rest;
      if (rest.empty()) fail("`skip` needs a reason");
    } else {
      fail("unknown keyword `" + word + "`");
    }
  }

  /// `dynamic yes`: every dim above 1 gets a name, equal sizes the same; `dynamic no`: none has one.
  static void name_dims(Case& c, bool dynamic) {
    for (auto& input : c.inputs)
      for (auto& dim : input.dims) {
        if (!dynamic) dim.name.clear();
        if (dynamic && dim.name.empty() && dim.size > 1) dim.name = "d" + std::to_string(dim.size);
      }
  }

  /// The lines below that are indented deeper than this one, indented by at least four.
  std::string body() {
    const auto own = indentation(lines_[at_]);
    std::string text;
    std::optional<std::size_t> first;
    while (at_ + 1 < lines_.size()) {
      const auto& next = lines_[at_ + 1];
      if (!trimmed(next).empty() && indentation(next) <= own) break;
      ++at_;
      if (trimmed(next).empty()) continue;
      if (!first) first = indentation(next);
      text += "    " + next.substr(std::min(*first, indentation(next))) + "\n";
    }
    return text;
  }

  static std::string without_indentation(const std::string& body) {
    std::string text;
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) text += line.substr(4) + "\n";
    return text;
  }

  static std::string method(const Case& c, const std::string& body) {
    if (body.starts_with("    def forward(")) return without_indentation(body);
    std::string head = "def forward(self";
    for (const auto& input : c.inputs) head += ", " + input.name;
    return head + "):\n" + body;
  }

  // ---- tensors ----

  void tensors(const std::string& text, std::vector<CaseTensor>& into) {
    std::size_t at = 0;
    const auto until = [&](const char* stop) {
      const auto end = text.find_first_of(stop, at);
      if (end == std::string::npos) fail(fmt::format("expected one of `{}` in `{}`", stop, text.substr(at)));
      const auto part = trimmed(text.substr(at, end - at));
      at = end + 1;
      return part;
    };
    while (at < text.size() && !trimmed(text.substr(at)).empty()) {
      at = text.find_first_not_of(" \t", at);
      CaseTensor tensor;
      tensor.name = until(" ");
      const auto type = until("[");
      const auto dtype = dtype_from_string(type);
      if (!dtype) fail("unknown element type `" + type + "`");
      tensor.dtype = *dtype;
      std::istringstream dims(until("]"));
      for (std::string dim; std::getline(dims, dim, ',');) tensor.dims.push_back(dimension(trimmed(dim)));
      if (at < text.size() && text[at] == '<') {
        ++at;
        const auto low = number(until(","));
        tensor.range = {low, number(until(">"))};
      } else if (at < text.size() && text[at] == '{') {
        ++at;
        std::istringstream values(until("}"));
        for (std::string value; std::getline(values, value, ',');)
          tensor.values.push_back(number(trimmed(value)));
      }
      into.push_back(tensor);
    }
  }

  CaseDim dimension(const std::string& text) const {
    CaseDim dim;
    const auto equals = text.find('=');
    const auto sizes = equals == std::string::npos ? text : text.substr(equals + 1);
    const auto slash = sizes.find('/');
    dim.size = static_cast<std::int64_t>(number(sizes.substr(0, slash)));
    if (equals != std::string::npos) dim.name = text.substr(0, equals);
    dim.other = slash == std::string::npos ? dim.size + 1
                                           : static_cast<std::int64_t>(number(sizes.substr(slash + 1)));
    return dim;
  }

  double number(const std::string& text) const {
    if (text == "true") return 1;
    if (text == "false") return 0;
    try {
      std::size_t used = 0;
      const double value = std::stod(text, &used);
      if (used == text.size()) return value;
    } catch (const std::exception&) {
    }
    fail("`" + text + "` is no number");
  }

  // ---- expectations ----

  /// `Conv{group=2,strides=[1,1]} !Shape Relu`
  void nodes(const std::string& text, std::vector<ExpectedNode>& into) const {
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t", at)) != std::string::npos) {
      ExpectedNode node;
      if (text[at] == '!') {
        node.absent = true;
        ++at;
      }
      const auto end = std::min(text.find_first_of(" {", at), text.size());
      node.op = text.substr(at, end - at);
      at = end;
      if (at < text.size() && text[at] == '{') {
        const auto close = text.find('}', at);
        if (close == std::string::npos) fail("`{` without `}`");
        attributes(text.substr(at + 1, close - at - 1), node);
        at = close + 1;
      }
      into.push_back(node);
    }
  }

  void attributes(const std::string& text, ExpectedNode& node) const {
    int depth = 0;
    std::string item;
    for (const char letter : text + ",") {
      depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
      if (letter != ',' || depth > 0) {
        if (letter != ' ') item += letter;
        continue;
      }
      const auto equals = item.find('=');
      if (equals == std::string::npos) fail("`" + item + "` is no NAME=VALUE");
      node.attributes.emplace_back(item.substr(0, equals), item.substr(equals + 1));
      item.clear();
    }
  }

  ExpectedRejection rejection(const std::string& text) const {
    ExpectedRejection expected;
    if (text.starts_with("case-")) expected.which = text.at(5) - '0';
    const auto open = text.find('"');
    const auto close = text.rfind('"');
    if (open != std::string::npos && close > open) expected.words = text.substr(open + 1, close - open - 1);
    if (!expected.which && expected.words.empty()) fail("`rejects` takes case-N, words in quotes, or both");
    return expected;
  }

  std::string path_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<CaseTensor> Case::inputs_with(const std::vector<CaseTensor>& others) const {
  std::vector<CaseTensor> all = inputs;
  for (const CaseTensor& other : others) {
    const auto mine = std::ranges::find(all, other.name, &CaseTensor::name);
    if (mine == all.end() || mine->dims.size() != other.dims.size())
      throw std::runtime_error(file + ", " + name + ": `also " + other.name + "` is no input of that rank");
    std::vector<CaseDim> dims = mine->dims;
    *mine = other;
    for (std::size_t i = 0; i < dims.size(); ++i) mine->dims[i].name = dims[i].name;
  }
  return all;
}

bool Case::has_dynamic_dims() const {
  return std::ranges::any_of(inputs, [](const CaseTensor& t) {
    return std::ranges::any_of(t.dims, [](const CaseDim& d) { return !d.name.empty(); });
  });
}

std::vector<Case> read_cases(const std::string& path) { return Reader(path).read(); }

std::vector<Case> read_all_cases(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Case> all;
  for (const auto& path : paths) {
    auto cases = read_cases(path);
    all.insert(all.end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
  }
  return all;
}

Tensor make_tensor(const CaseTensor& spec, bool other_sizes, std::uint64_t seed) {
  std::vector<std::int64_t> dims;
  std::int64_t count = 1;
  for (const auto& dim : spec.dims) {
    dims.push_back(other_sizes && !dim.name.empty() ? dim.other : dim.size);
    count *= dims.back();
  }
  const bool complex = is_complex(spec.dtype);
  if (complex) count *= 2;  // listed and random values are real and imaginary parts in turn
  std::mt19937_64 random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!spec.values.empty()) {
      values.push_back(spec.values[static_cast<std::size_t>(i) % spec.values.size()]);
    } else if (is_floating(real_of(spec.dtype))) {
      values.push_back(spec.range
                           ? std::uniform_real_distribution(spec.range->first, spec.range->second)(random)
                           : std::normal_distribution()(random));
    } else {
      const auto lowest = is_unsigned(spec.dtype) || spec.dtype == DType::Bool ? 0.0 : -5.0;
      const auto range = spec.range.value_or(std::pair{lowest, spec.dtype == DType::Bool ? 1.0 : 5.0});
      values.push_back(static_cast<double>(std::uniform_int_distribution(
          static_cast<std::int64_t>(range.first), static_cast<std::int64_t>(range.second))(random)));
    }
  }
  if (complex) {
    dims.push_back(2);
    Tensor tensor = Tensor::of_doubles(values, dims, real_of(spec.dtype));
    tensor.dims.pop_back();
    tensor.dtype = spec.dtype;
    return tensor;
  }
  if (is_floating(spec.dtype)) return Tensor::of_doubles(values, dims, spec.dtype);
  return Tensor::of_ints(std::vector<std::int64_t>(values.begin(), values.end()), dims, spec.dtype);
}

}  // namespace pt2onnx::testing
