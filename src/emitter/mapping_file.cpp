#include "emitter/mapping_file.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "emitter/emitter.h"
#include "emitter/proto.h"
#include "onnx/defs/parser.h"

namespace pt2onnx {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

// onnx's parser calls itself for nested graphs and types: deeper text than this could exhaust the stack.
constexpr int kMaxNesting = 64;

/// Positions in the text as lines and columns.
class Text {
 public:
  Text(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  MappingPlace place(std::size_t at) const {
    at = std::min(at, text_.size());
    const std::string_view before = text_.substr(0, at);
    const auto line_start = before.rfind('\n');
    const std::size_t column = line_start == std::string_view::npos ? at : at - line_start - 1;
    return {file_, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(column) + 1};
  }

  [[noreturn]] void fail(std::size_t at, const std::string& why) const { fail(place(at), why); }
  [[noreturn]] static void fail(const MappingPlace& place, const std::string& why) {
    throw MappingError(place.str() + ": " + why);
  }

  std::string_view text() const { return text_; }

  /// The position after white space and comments.
  std::size_t skip(std::size_t at) const {
    while (at < text_.size()) {
      if (text_[at] == '#')
        at = std::min(text_.find('\n', at), text_.size());
      else if (std::isspace(static_cast<unsigned char>(text_[at])) != 0)
        ++at;
      else
        break;
    }
    return at;
  }

  /// Calls `visit(position)` for each character that is not inside a string or comment.
  template <typename Visit>
  void for_each_mark(std::size_t from, std::size_t to, const Visit& visit) const {
    for (std::size_t at = from; at < to && at < text_.size(); ++at) {
      if (text_[at] == '#') {
        at = std::min(text_.find('\n', at), text_.size());
      } else if (text_[at] == '"') {
        for (++at; at < text_.size() && text_[at] != '"'; ++at)
          if (text_[at] == '\\') ++at;
      } else {
        visit(at);
      }
    }
  }

  void check_nesting() const {
    int depth = 0;
    for_each_mark(0, text_.size(), [&](std::size_t at) {
      const char c = text_[at];
      if (c == '(' || c == '{' || c == '[') {
        if (++depth > kMaxNesting) fail(at, "brackets are nested too deeply");
      } else if (c == ')' || c == '}' || c == ']') {
        --depth;
      }
    });
  }

  /// Where the operators of a function's own nodes begin: what follows each `=` directly inside its body.
  std::vector<std::size_t> operators(std::size_t from, std::size_t to) const {
    std::vector<std::size_t> found;
    int braces = 0, others = 0;
    for_each_mark(from, to, [&](std::size_t at) {
      const char c = text_[at];
      const bool arrow = c == '>' && at > 0 && text_[at - 1] == '=';
      if (c == '{') ++braces;
      if (c == '}') --braces;
      if (c == '(' || c == '[' || c == '<') ++others;
      if ((c == ')' || c == ']' || c == '>') && !arrow) --others;
      if (c == '=' && braces == 1 && others == 0) found.push_back(skip(at + 1));
    });
    return found;
  }

 private:
  std::string_view text_;
  std::string file_;
};

/// onnx's parser, which tells where it is.
class Parser : public onnx::OnnxParser {
 public:
  using onnx::OnnxParser::OnnxParser;
  std::size_t position() const { return pos_; }
  void seek(std::size_t position) { pos_ = position; }
};

/// The sentence of a parser's error: its first lines tell the place in onnx's own form.
std::string sentence(const std::string& message) {
  const auto last = message.rfind('\n');
  std::string words = last == std::string::npos ? message : message.substr(last + 1);
  if (words.ends_with('.')) words.pop_back();
  return "syntax error: " + words;
}

/// onnx's parser passes over mistakes in the attributes of a function (1.23.2 drops the status): this reads them again.
void check_function_attributes(const Text& text, std::size_t from, std::size_t to) {
  int depth = 0;
  bool inputs = false;   // the list of inputs has begun
  std::size_t list = 0;  // the `<` of the attributes, if there are any; one at `from` begins the head
  text.for_each_mark(from, to, [&](std::size_t at) {
    const char c = text.text()[at];
    if (inputs) return;
    if (c == '(' && depth == 0) inputs = true;
    if (c == '<' && depth++ == 0 && at != from) list = at;
    if (c == '>') --depth;
  });
  if (list == 0) return;
  Parser parser(text.text());
  parser.seek(list + 1);
  do {
    const std::size_t start = text.skip(parser.position());
    parser.seek(start);
    std::string name;
    if (!parser.ParseQuotableIdentifier(name).IsOK())
      return;  // the parser itself has said what there is to say
    if (const int next = parser.NextChar(); next != ':' && next != '=') continue;
    AttributeProto attribute;
    if (const auto status = parser.Parse(attribute, name); !status.IsOK())
      text.fail(parser.position(), sentence(status.ErrorMessage()));
  } while (parser.Matches(','));
}

OpAttribute::Kind kind_of(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::INT: return OpAttribute::Kind::Int;
    case AttributeProto::FLOAT: return OpAttribute::Kind::Float;
    case AttributeProto::STRING: return OpAttribute::Kind::String;
    case AttributeProto::INTS: return OpAttribute::Kind::Ints;
    case AttributeProto::FLOATS: return OpAttribute::Kind::Floats;
    case AttributeProto::STRINGS: return OpAttribute::Kind::Strings;
    case AttributeProto::TENSOR: return OpAttribute::Kind::Tensor;
    case AttributeProto::GRAPH: return OpAttribute::Kind::Graph;
    default: return OpAttribute::Kind::Other;
  }
}

ValueType value_type(const onnx::TypeProto& type, const MappingPlace& place) {
  ValueType result;
  const onnx::TypeProto* element = &type;
  if (type.has_sequence_type()) {
    result.kind = ValueType::Kind::Sequence;
    element = &type.sequence_type().elem_type();
  } else if (type.has_optional_type()) {
    result.kind = ValueType::Kind::Optional;
    element = &type.optional_type().elem_type();
  }
  if (!element->has_tensor_type())
    Text::fail(place, "only tensors, and sequences and optionals of them, can be declared");
  result.dtype = dtype_from_onnx(element->tensor_type().elem_type());
  if (!result.dtype) Text::fail(place, "pt2onnx does not know a type that is declared");
  if (!element->tensor_type().has_shape()) return result;
  result.shape.emplace();
  for (const auto& dim : element->tensor_type().shape().dim())
    result.shape->push_back(dim.has_dim_value()   ? Dim(dim.dim_value())
                            : dim.has_dim_param() ? Dim::symbol(dim.dim_param())
                                                  : Dim::symbol("?"));
  return result;
}

template <typename T>
Tensor of_numbers(const google::protobuf::RepeatedField<T>& numbers, std::vector<std::int64_t> dims,
                  DType dtype) {
  if constexpr (std::is_floating_point_v<T>)
    return Tensor::of_doubles(std::vector<double>(numbers.begin(), numbers.end()), std::move(dims), dtype);
  else
    return Tensor::of_ints(std::vector<std::int64_t>(numbers.begin(), numbers.end()), std::move(dims), dtype);
}

/// Halves and the like: the parser has their bits as integers.
Tensor of_bits(const google::protobuf::RepeatedField<std::int32_t>& bits, std::vector<std::int64_t> dims,
               DType dtype) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(bits.size()) * size);
  for (int i = 0; i < bits.size(); ++i) {
    const std::int32_t number = bits.Get(i);
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size, &number, size);  // little-endian
  }
  return Tensor::of_bytes(std::move(bytes), std::move(dims), dtype);
}

Tensor tensor_of(const TensorProto& proto, const MappingPlace& place) {
  const auto dtype = dtype_from_onnx(proto.data_type());
  if (!dtype || is_complex(*dtype)) Text::fail(place, "pt2onnx has no constants of this type");
  if (proto.data_location() == TensorProto::EXTERNAL)
    Text::fail(place, "a constant in another file cannot be mapped");
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  std::uint64_t expected = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || dim > std::numeric_limits<std::int32_t>::max())
      Text::fail(place, "a constant has a size that is out of range");
    expected *= static_cast<std::uint64_t>(dim);
    if (expected > std::numeric_limits<std::int32_t>::max())
      Text::fail(place, "a constant has too many elements");
  }
  const int given = proto.int32_data_size() + proto.int64_data_size() + proto.uint64_data_size() +
                    proto.float_data_size() + proto.double_data_size() + proto.string_data_size();
  if (static_cast<std::uint64_t>(given) != expected)
    Text::fail(place,
               "a constant of " + std::to_string(expected) + " elements is given " + std::to_string(given));
  switch (*dtype) {
    case DType::Float32: return of_numbers(proto.float_data(), std::move(dims), *dtype);
    case DType::Float64: return of_numbers(proto.double_data(), std::move(dims), *dtype);
    case DType::Int64: return of_numbers(proto.int64_data(), std::move(dims), *dtype);
    case DType::UInt32:
    case DType::UInt64: return of_numbers(proto.uint64_data(), std::move(dims), *dtype);
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float8E4M3FN:
    case DType::Float8E5M2: return of_bits(proto.int32_data(), std::move(dims), *dtype);
    case DType::String: {
      std::vector<std::byte> bytes;
      for (const std::string& item : proto.string_data()) {
        for (const char c : item) bytes.push_back(static_cast<std::byte>(c));
        bytes.push_back(std::byte{0});
      }
      return Tensor::of_bytes(std::move(bytes), std::move(dims), *dtype);
    }
    default: return of_numbers(proto.int32_data(), std::move(dims), *dtype);
  }
}

MappingBody body_of(const GraphProto& graph, const MappingPlace& place);

/// The value of an attribute that has one; graphs are no values here.
std::optional<Attribute> value_of(const AttributeProto& attribute, const MappingPlace& place) {
  switch (attribute.type()) {
    case AttributeProto::INT: return Attribute(static_cast<std::int64_t>(attribute.i()));
    case AttributeProto::FLOAT: return Attribute(static_cast<double>(attribute.f()));
    case AttributeProto::STRING: return Attribute(attribute.s());
    case AttributeProto::INTS:
      return Attribute(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
    case AttributeProto::FLOATS:
      return Attribute(std::vector<double>(attribute.floats().begin(), attribute.floats().end()));
    case AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
    case AttributeProto::TENSOR: return Attribute(tensor_of(attribute.t(), place));
    default: return std::nullopt;
  }
}

MappingAttribute attribute_of(const AttributeProto& from, const MappingPlace& place) {
  MappingAttribute to;
  to.name = from.name();
  to.kind = kind_of(from.type());
  if (!from.ref_attr_name().empty()) {
    to.reference = from.ref_attr_name();
  } else if (to.kind == OpAttribute::Kind::Graph) {
    to.body = std::make_shared<MappingBody>(body_of(from.g(), place));
  } else {
    to.value = value_of(from, place);
    if (!to.value)
      Text::fail(place, "the attribute `" + to.name + "` has a value of a kind that a mapping cannot hold");
  }
  return to;
}

std::string standard(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

MappingNode node_of(const NodeProto& from, const MappingPlace& place) {
  MappingNode to;
  to.domain = standard(from.domain());
  to.op = from.op_type();
  to.inputs.assign(from.input().begin(), from.input().end());
  to.outputs.assign(from.output().begin(), from.output().end());
  to.place = place;
  if (to.op.empty()) Text::fail(place, "syntax error: the name of an operator is missing");
  if (!from.overload().empty()) Text::fail(place, "operators of a body have no overloads");
  for (const AttributeProto& attribute : from.attribute())
    to.attributes.push_back(attribute_of(attribute, place));
  return to;
}

MappingBody body_of(const GraphProto& graph, const MappingPlace& place) {
  MappingBody body;
  for (const auto& initializer : graph.initializer())
    body.constants.emplace_back(initializer.name(), tensor_of(initializer, place));
  const auto declare = [&](const onnx::ValueInfoProto& info) {
    if (info.has_type()) body.types[info.name()] = value_type(info.type(), place);
  };
  for (const auto& input : graph.input()) {
    declare(input);
    const auto has_value = [&](const auto& constant) { return constant.first == input.name(); };
    if (!std::ranges::any_of(body.constants, has_value)) body.inputs.push_back(input.name());
  }
  for (const auto& output : graph.output()) {
    declare(output);
    body.outputs.push_back(output.name());
  }
  for (const auto& info : graph.value_info()) declare(info);
  for (const NodeProto& node : graph.node()) body.nodes.push_back(node_of(node, place));
  return body;
}

int version_of(const onnx::OperatorSetIdProto& import, const MappingPlace& place) {
  if (import.version() < 1 || import.version() > 1000)
    Text::fail(place, "the version of `" + import.domain() + "` in opset_import is out of range");
  return static_cast<int>(import.version());
}

void read_imports(const FunctionProto& function, Mapping& mapping) {
  mapping.since = kMinOpset;
  std::set<std::string> seen;
  for (const auto& import : function.opset_import()) {
    const std::string domain = standard(import.domain());
    const int version = version_of(import, mapping.place);
    if (!seen.insert(domain).second) Text::fail(mapping.place, "opset_import names `" + domain + "` twice");
    if (domain == kUntilDomain)
      mapping.until = version;
    else if (domain.empty())
      mapping.since = std::max(version, kMinOpset);
    else
      mapping.domains[domain] = version;
  }
  const int newest = onnx_catalog().newest_opset();
  if (mapping.since > newest)
    Text::fail(mapping.place, "it is for opset " + std::to_string(mapping.since) +
                                  " on, and the newest that this program knows is " + std::to_string(newest));
  if (mapping.until && *mapping.until < mapping.since)
    Text::fail(mapping.place, "its last opset, " + std::to_string(*mapping.until) +
                                  ", is before its first, " + std::to_string(mapping.since));
}

Mapping mapping_of(const FunctionProto& function, const Text& text, std::size_t from, std::size_t to) {
  Mapping mapping;
  mapping.place = text.place(from);
  const auto fail = [&](const std::string& why) { Text::fail(mapping.place, why); };
  if (function.name().empty()) fail("a function without a name");
  if (function.domain().empty())
    fail("the function `" + function.name() +
         "` has no domain: write <domain: \"NAMESPACE\"> before it to map the torch operator NAMESPACE::" +
         function.name());
  mapping.op = function.domain() + "::" + function.name();
  mapping.overload = function.overload();
  read_imports(function, mapping);

  for (const std::string& name : function.attribute()) mapping.attributes.push_back({.name = name});
  for (const AttributeProto& attribute : function.attribute_proto()) {
    MappingAttribute declared{.name = attribute.name(), .kind = kind_of(attribute.type())};
    declared.value = value_of(attribute, mapping.place);
    if (!declared.value)
      fail("the attribute `" + attribute.name() + "` has no usable default; write `" + attribute.name() +
           ": float = 1.0`, or `" + attribute.name() + "` alone for one without a default");
    mapping.attributes.push_back(std::move(declared));
  }
  mapping.body.inputs.assign(function.input().begin(), function.input().end());
  mapping.body.outputs.assign(function.output().begin(), function.output().end());
  for (const auto& info : function.value_info())
    if (info.has_type()) mapping.body.types[info.name()] = value_type(info.type(), mapping.place);

  const auto operators = text.operators(from, to);
  for (int i = 0; i < function.node_size(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const MappingPlace place = index < operators.size() ? text.place(operators[index]) : mapping.place;
    mapping.body.nodes.push_back(node_of(function.node(i), place));
  }
  mapping.function = function.SerializeAsString();
  return mapping;
}

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view source, const std::string& file) {
  const Text text(source, file);
  if (const auto zero = source.find('\0'); zero != std::string_view::npos)
    text.fail(zero, "a zero byte: this is no text file");
  text.check_nesting();

  Parser parser(source);
  std::vector<Mapping> mappings;
  std::map<std::pair<std::string, int>, MappingPlace> seen;
  while (!parser.EndOfInput()) {
    const std::size_t from = parser.position();
    FunctionProto function;
    try {
      if (const auto status = parser.Parse(function); !status.IsOK())
        text.fail(parser.position(), sentence(status.ErrorMessage()));
    } catch (const MappingError&) {
      throw;
    } catch (const std::out_of_range&) {
      text.fail(parser.position(), "syntax error: a number is out of range");
    } catch (const std::exception& e) {
      text.fail(parser.position(), sentence(e.what()));
    }
    check_function_attributes(text, from, parser.position());
    Mapping mapping = mapping_of(function, text, from, parser.position());
    const auto [other, fresh] = seen.try_emplace({mapping.name(), mapping.since}, mapping.place);
    if (!fresh)
      Text::fail(mapping.place, "`" + mapping.name() + "` is mapped from opset " +
                                    std::to_string(mapping.since) +
                                    " on for the second time; the first is at " + other->second.str());
    mappings.push_back(std::move(mapping));
  }
  if (mappings.empty()) text.fail(source.size(), "there is no function in this file");
  return mappings;
}

}  // namespace pt2onnx
