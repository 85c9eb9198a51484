// A user's mapping of one torch operator (docs/mappings.md): an ONNX function in plain types. The emitter reads it from
// text (emitter/mapping_file.h); here it is checked, bound to the operator's schema and applied.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pt2onnx/graph.h"
#include "pt2onnx/program.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

/// What is wrong in a mapping file; what() begins with "file:line:column: ".
struct MappingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MappingPlace {
  std::string file;
  int line = 0, column = 0;  // from 1

  std::string str() const {  // "my.onnxtxt:3:7"
    return file + ":" + std::to_string(line) + ":" + std::to_string(column);
  }
};

struct MappingBody;

struct MappingAttribute {
  std::string name;
  OpAttribute::Kind kind = OpAttribute::Kind::Other;  // Other: to be had from its uses
  std::optional<Attribute> value;                     // of a function's attribute: the default
  std::string reference;                              // of a node's: the function's attribute that it takes
  std::shared_ptr<const MappingBody> body;            // of a node's: a graph
};

struct MappingNode {
  std::string domain, op;  // the standard domain is ""
  std::vector<std::string> inputs, outputs;
  std::vector<MappingAttribute> attributes;
  MappingPlace place;
};

struct MappingBody {
  std::vector<std::string> inputs, outputs;
  std::map<std::string, ValueType> types;  // those that are declared; dims are symbols of this text
  std::vector<std::pair<std::string, Tensor>> constants;
  std::vector<MappingNode> nodes;
};

struct Mapping {
  std::string op, overload;                  // "aten::add", "Tensor"; without overload: all of them
  std::vector<MappingAttribute> attributes;  // of the function
  MappingBody body;
  int since = 0;
  std::optional<int> until;            // the last opset it is good for
  std::map<std::string, int> domains;  // imported ones but the standard
  std::string function;                // the function as ONNX has it (a FunctionProto), for --keep-functions
  MappingPlace place;

  std::string name() const { return overload.empty() ? op : op + "." + overload; }
};

/// The first opset whose Constant has value_float, value_ints and the like.
inline constexpr int kValueAttributes = 12;

/// The domain whose import tells the last opset that a mapping is good for.
inline constexpr std::string_view kUntilDomain = "pt2onnx.until";

/// Completes the kinds of attributes; throws MappingError where the text cannot be right at any call: names that nothing
/// defines, operators that do not exist at the mapping's first opset, attributes and arities that they do not have.
void check_mapping(Mapping& mapping, const OpCatalog& catalog);

/// Why a node cannot be at this opset of the standard domain; empty when it can. `first_opset` is set where a later one
/// would do.
std::string misfit_of_node(const MappingNode& node, const OpCatalog& catalog, int opset,
                           std::optional<int>* first_opset = nullptr);

/// Whether an argument of type int is an element type, which torch and ONNX number differently.
inline bool is_dtype_argument(std::string_view name) { return name.ends_with("dtype"); }

/// How a mapping's inputs and attributes are got from the arguments of a call.
struct MappingBinding {
  std::vector<std::size_t> inputs;                     // position in the schema
  std::vector<std::optional<std::size_t>> attributes;  // likewise; none: the default counts
  std::vector<std::size_t> unbound;                    // arguments that must have their defaults
};

/// Binds a mapping to a schema; on failure `why` says what does not fit and the answer is empty.
std::optional<MappingBinding> bind_mapping(const Mapping& mapping, const program::Schema& schema,
                                           std::string& why);

class Call;
struct Results;

/// The symbolic function of a mapping: its nodes, or one node that calls it as a local function (`keep`).
Results apply_mapping(const Mapping& mapping, Call& call, bool keep);

}  // namespace pt2onnx
