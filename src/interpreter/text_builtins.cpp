// Text of which the graph decides a part: f-strings over sizes and tensors, as messages and as keys of caches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "interpreter/machine.h"

namespace pt2onnx {
namespace {

using program::Node;
using Data = std::vector<Datum>;

/// Writes values as Python would; a part that the graph decides as its expression in braces. The same expression stands
/// for the same part; what has none gets a name that is never given again.
class TextWriter {
 public:
  explicit TextWriter(Machine& machine) : machine_(machine) {}

  void append(std::string_view text) { text_ += text; }

  void write(const Datum& datum, bool inside = false) {
    if (const auto* text = datum.get_if<std::string>()) {
      text_ += inside ? fmt::format("'{}'", *text) : *text;
    } else if (const auto* open = datum.get_if<OpenText>()) {
      text_ += open->text;
    } else if (const auto* scalar = datum.get_if<Scalar>()) {
      write_scalar(*scalar);
    } else if (const auto* list = datum.get_if<ListRef>(); list && !(*list)->dynamic) {
      write_items('[', (*list)->items, ']');
    } else if (const auto* tuple = datum.get_if<TupleRef>()) {
      write_items('(', (*tuple)->items, ')');
    } else if (datum.is_none()) {
      text_ += "None";
    } else {
      write_unknown();
    }
  }

  Datum take() { return OpenText{std::move(text_)}; }

 private:
  void write_scalar(const Scalar& scalar) {
    if (const auto* dim = std::get_if<Dim>(&scalar.data()); dim && !dim->known())
      text_ += fmt::format("{{{}}}", dim->str());
    else if (scalar.kind() == Scalar::Kind::Bool && scalar.integer())
      text_ += *scalar.integer() != 0 ? "True" : "False";
    else if (scalar.integer())
      text_ += std::to_string(*scalar.integer());
    else if (scalar.number())
      text_ += fmt::format("{}", *scalar.number());
    else
      write_unknown();
  }

  void write_items(char open, const Data& items, char close) {
    text_ += open;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      write(items[i], true);
    }
    text_ += close;
  }

  void write_unknown() { text_ += fmt::format("{{{}}}", machine_.builder().unique_name("text")); }

  Machine& machine_;
  std::string text_;
};

/// Whether libtorch can do it: nothing is open.
bool all_known(Machine& m, const Data& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const Datum& d) { return m.to_literal(d).has_value(); });
}

bool to_text(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  if (inputs.size() != 1 || all_known(m, inputs)) return false;
  TextWriter writer(m);
  writer.write(inputs[0]);
  outputs.push_back(writer.take());
  return true;
}

/// The pattern with its places filled in order; `place` gives the length of the place at the front of the rest, or 0.
template <typename Place>
bool fill(Machine& m, const Data& inputs, Data& outputs, const Place& place) {
  const auto* pattern = inputs.empty() ? nullptr : inputs[0].get_if<std::string>();
  if (!pattern || all_known(m, inputs)) return false;
  TextWriter writer(m);
  std::size_t next = 1;
  for (std::string_view rest = *pattern; !rest.empty();) {
    const std::size_t length = next < inputs.size() ? place(rest) : 0;
    if (length > 0)
      writer.write(inputs[next++]);
    else
      writer.append(rest.substr(0, 1));
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  outputs.push_back(writer.take());
  return true;
}

bool format(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  return fill(m, inputs, outputs, [](std::string_view rest) { return rest.starts_with("{}") ? 2u : 0u; });
}

bool percent_format(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  return fill(m, inputs, outputs, [](std::string_view rest) {
    return rest.size() > 1 && rest[0] == '%' && std::isalpha(static_cast<unsigned char>(rest[1])) ? 2u : 0u;
  });
}

bool concatenate(Machine& m, const Node&, Frame&, Data& inputs, Data& outputs) {
  const bool any =
      std::any_of(inputs.begin(), inputs.end(), [](const Datum& d) { return d.get_if<OpenText>(); });
  if (!any) return false;
  TextWriter writer(m);
  for (const Datum& input : inputs) writer.write(input);
  outputs.push_back(writer.take());
  return true;
}

constexpr BuiltinEntry kTable[] = {
    {"aten::add", concatenate},
    {"aten::format", format},
    {"aten::percentFormat", percent_format},
    {"aten::str", to_text},
};

}  // namespace

std::span<const BuiltinEntry> text_builtins() { return kTable; }

}  // namespace pt2onnx
