// What can be said of a mapping without a call: names, operators, arities, attributes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnosis/near_names.h"
#include "registry/mapping.h"

namespace pt2onnx {
namespace {

using Kind = OpAttribute::Kind;

std::string_view word(Kind kind) {
  switch (kind) {
    case Kind::Int: return "an int";
    case Kind::Float: return "a float";
    case Kind::String: return "a string";
    case Kind::Ints: return "ints";
    case Kind::Floats: return "floats";
    case Kind::Strings: return "strings";
    case Kind::Tensor: return "a tensor";
    case Kind::Graph: return "a graph";
    case Kind::Other: break;
  }
  return "of a kind that pt2onnx does not know";
}

/// "; near: Sigmoid, Sign" or nothing.
std::string near(const std::string& name, const std::vector<std::string>& candidates) {
  const auto found = near_names(name, candidates);
  return found.empty() ? std::string() : fmt::format("; near: {}", fmt::join(found, ", "));
}

/// "2", "1 to 3", "at least 1".
std::string range(std::size_t least, std::size_t most, bool variadic) {
  if (variadic) return fmt::format("at least {}", least);
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

/// Why this number of inputs (or outputs) cannot be.
std::string misfit_of_count(std::string_view what, std::size_t given,
                            const std::vector<OpParameter>& parameters) {
  const bool variadic = !parameters.empty() && parameters.back().variadic;
  std::size_t least = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].optional && !parameters[i].variadic) least = i + 1;
  if (given >= least && (variadic || given <= parameters.size())) return {};
  return fmt::format("{} {}, not {}", range(least, parameters.size(), variadic), what, given);
}

class Check {
 public:
  Check(Mapping& mapping, const OpCatalog& catalog) : mapping_(mapping), catalog_(catalog) {}

  void run() {
    std::set<std::string> names;
    for (const auto& attribute : mapping_.attributes)
      if (!names.insert(attribute.name).second)
        fail(mapping_.place, fmt::format("the attribute `{}` is declared twice", attribute.name));
    if (mapping_.body.outputs.empty())
      fail(mapping_.place, fmt::format("`{}` has no output", mapping_.name()));
    check(mapping_.body, {}, mapping_.place);
  }

 private:
  using Names = std::set<std::string>;

  [[noreturn]] static void fail(const MappingPlace& place, const std::string& why) {
    throw MappingError(place.str() + ": " + why);
  }

  void check(const MappingBody& body, Names known, const MappingPlace& place) {
    Names own;
    const auto define = [&](const std::string& name, const MappingPlace& at) {
      if (name.empty()) return;
      if (!own.insert(name).second) fail(at, fmt::format("`{}` is defined twice", name));
      known.insert(name);
    };
    for (const std::string& input : body.inputs) {
      if (input.empty()) fail(place, "an input without a name");
      define(input, place);
    }
    for (const auto& [name, tensor] : body.constants) define(name, place);
    for (const MappingNode& node : body.nodes) {
      for (const std::string& input : node.inputs)
        if (!input.empty() && !known.contains(input))
          fail(node.place, fmt::format("`{}` is used before anything defines it{}", input,
                                       near(input, {known.begin(), known.end()})));
      if (std::string why = misfit_of_node(node, catalog_, mapping_.since); !why.empty())
        fail(node.place, fmt::format("{} (the function is for opset {} on)", why, mapping_.since));
      if (!node.domain.empty() && !mapping_.domains.contains(node.domain))
        fail(node.place,
             fmt::format("the domain `{0}` is not imported; write opset_import: [\"\" : {1}, \"{0}\" : 1]",
                         node.domain, mapping_.since));
      for (const MappingAttribute& attribute : node.attributes) check(node, attribute, known);
      for (const std::string& output : node.outputs) define(output, node.place);
    }
    for (const std::string& output : body.outputs)
      if (!known.contains(output))
        fail(place, fmt::format("nothing defines the output `{}`{}", output,
                                near(output, {known.begin(), known.end()})));
  }

  void check(const MappingNode& node, const MappingAttribute& attribute, const Names& known) {
    if (attribute.body) return check(*attribute.body, known, node.place);
    if (attribute.reference.empty()) return;
    const auto declared =
        std::ranges::find(mapping_.attributes, attribute.reference, &MappingAttribute::name);
    if (declared == mapping_.attributes.end()) {
      std::vector<std::string> names;
      for (const auto& one : mapping_.attributes) names.push_back(one.name);
      fail(node.place, fmt::format("`@{}` is no attribute of the function{}", attribute.reference,
                                   near(attribute.reference, names)));
    }
    Kind kind = attribute.kind;
    const bool constant = node.domain.empty() && node.op == "Constant";
    const OpSignature* signature = catalog_.find(
        node.domain, node.op, constant ? std::max(mapping_.since, kValueAttributes) : mapping_.since);
    if (signature) {
      const auto found = std::ranges::find(signature->attributes, attribute.name, &OpAttribute::name);
      if (kind != Kind::Other && kind != found->kind)
        fail(node.place, fmt::format("the attribute `{}` of {} is {}, not {}", attribute.name, node.op,
                                     word(found->kind), word(kind)));
      kind = found->kind;
    }
    if (declared->kind == Kind::Other) declared->kind = kind;
    if (kind != Kind::Other && kind != declared->kind)
      fail(node.place, fmt::format("`@{}` is {}, but the attribute `{}` of {} is {}", attribute.reference,
                                   word(declared->kind), attribute.name, node.op, word(kind)));
  }

  Mapping& mapping_;
  const OpCatalog& catalog_;
};

}  // namespace

std::string misfit_of_node(const MappingNode& node, const OpCatalog& catalog, int opset,
                           std::optional<int>* first_opset) {
  // A Constant becomes a constant of the model, whatever form of the operator the opset has.
  if (node.domain.empty() && node.op == "Constant") opset = std::max(opset, kValueAttributes);
  const OpSignature* signature = catalog.find(node.domain, node.op, opset);
  if (!signature) {
    if (!node.domain.empty()) return {};  // of a library that is not known here: anything goes
    const auto since = catalog.since(node.op);
    if (!since) return fmt::format("ONNX has no operator `{}`{}", node.op, near(node.op, catalog.names()));
    if (*since <= opset) return fmt::format("`{}` is deprecated at opset {}", node.op, opset);
    if (first_opset) *first_opset = since;
    return fmt::format("ONNX has `{}` from opset {} on, not at {}", node.op, *since, opset);
  }
  if (std::string why = misfit_of_count("inputs", node.inputs.size(), signature->inputs); !why.empty())
    return fmt::format("`{}` takes {}", node.op, why);
  if (std::string why = misfit_of_count("outputs", node.outputs.size(), signature->outputs); !why.empty())
    return fmt::format("`{}` gives {}", node.op, why);
  std::vector<std::string> names;
  for (const OpAttribute& attribute : signature->attributes) names.push_back(attribute.name);
  for (const MappingAttribute& attribute : node.attributes) {
    const auto found = std::ranges::find(signature->attributes, attribute.name, &OpAttribute::name);
    if (found == signature->attributes.end())
      return fmt::format("`{}` has no attribute `{}` at opset {}; it has {}", node.op, attribute.name, opset,
                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    if (attribute.reference.empty() && attribute.kind != found->kind)
      return fmt::format("the attribute `{}` of {} is {}, not {}", attribute.name, node.op, word(found->kind),
                         word(attribute.kind));
  }
  if (node.domain.empty() && node.op == "Constant" && node.attributes.size() != 1)
    return "`Constant` takes exactly one attribute";
  for (const OpAttribute& attribute : signature->attributes)
    if (attribute.required &&
        std::ranges::find(node.attributes, attribute.name, &MappingAttribute::name) == node.attributes.end())
      return fmt::format("`{}` needs the attribute `{}`", node.op, attribute.name);
  return {};
}

void check_mapping(Mapping& mapping, const OpCatalog& catalog) { Check(mapping, catalog).run(); }

}  // namespace pt2onnx
