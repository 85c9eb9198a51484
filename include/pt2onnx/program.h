// The input: a TorchScript program without torch. Functions made of blocks and nodes, typed values, constants,
// objects with attributes, and the place in the user's source that each node comes from.
//
// It is neutral on purpose: another front end (torch.export's .pt2) can feed the same interpreter.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pt2onnx/dtype.h"
#include "pt2onnx/tensor.h"

namespace pt2onnx::program {

struct Type;
using TypeRef = std::shared_ptr<const Type>;

enum class TypeKind {
  Any,
  None,
  Tensor,
  Bool,
  Int,
  Float,
  Complex,
  Number,
  String,
  Device,
  Generator,
  Optional,
  List,
  Dict,
  Tuple,
  Object,
  Interface,
  Enum,
  Function,
  Future,
  Union,
  Other
};

struct Type {
  TypeKind kind = TypeKind::Any;
  std::vector<TypeRef> elements;    // Optional, List, Future: one; Dict: key, value; Tuple, Union: members
  std::string name;                 // qualified name of Object, Interface, Enum and named Tuple
  std::vector<std::string> fields;  // of a named Tuple
  // Of a Tensor, where the file stores them (traced inputs):
  std::optional<DType> dtype;
  std::optional<std::vector<std::optional<std::int64_t>>> dims;
  std::string text;  // as TorchScript writes it: "Optional[Tensor]", "List[int]"
};

struct Object;
using ObjectRef = std::shared_ptr<Object>;

struct Literal;
struct ListLiteral {
  TypeRef element;
  std::vector<Literal> items;
};
struct TupleLiteral {
  TypeRef type;  // named fields are here
  std::vector<Literal> items;
};
struct DictLiteral {
  TypeRef key, value;
  std::vector<std::pair<Literal, Literal>> items;  // in insertion order
};
struct EnumLiteral {
  std::string type, name;
  std::shared_ptr<const Literal> value;
};
struct DeviceLiteral {
  std::string name;
  bool operator==(const DeviceLiteral&) const = default;
};
struct FunctionLiteral {
  std::string name;  // key of Program::functions
};
/// Something without a counterpart here (a generator, a stream, a packed parameter of a custom class).
struct OpaqueLiteral {
  std::string type;
  std::shared_ptr<const void> handle;  // the front end's own value
};

/// A value that is known before the program runs. Containers are shared: aliases of one list stay one list.
struct Literal {
  std::variant<std::monostate, bool, std::int64_t, double, std::complex<double>, std::string, Tensor,
               std::shared_ptr<ListLiteral>, std::shared_ptr<TupleLiteral>, std::shared_ptr<DictLiteral>,
               ObjectRef, EnumLiteral, DeviceLiteral, FunctionLiteral, OpaqueLiteral>
      data;

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
};

/// An instance of a module or class.
struct Object {
  std::string type;  // qualified class name
  std::string path;  // of a module: "layer1.0.conv1"; the root's is empty
  bool is_module = false;
  std::vector<std::pair<std::string, Literal>> attributes;  // in the order of the class's slots
};

struct AliasInfo {
  std::vector<std::string> sets;  // Tensor(a|b) -> a, b; "*" for the wildcard
  bool is_write = false;          // Tensor(a!)
};

struct SchemaArgument {
  std::string name;
  TypeRef type;
  std::optional<Literal> default_value;
  bool keyword_only = false;
  bool is_out = false;
  std::optional<AliasInfo> alias;
};

struct Schema {
  std::string name;      // "aten::add"
  std::string overload;  // "Tensor", may be empty
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;
  bool is_variadic = false;
  bool is_nondeterministic = false;  // random numbers
  std::string text;                  // the whole schema, as torch prints it
};

struct SourceLocation {
  std::string file;
  int line = 0;  // from 1; 0 is unknown
  int column = 0;
  std::string text;  // the line of source, trimmed
};
using LocationRef = std::shared_ptr<const SourceLocation>;

/// One operator as the program uses it; nodes with the same schema share one.
struct Operator {
  std::string name;                      // "aten::add", "prim::ListConstruct"
  std::shared_ptr<const Schema> schema;  // null for prim operators without one
  std::size_t id = 0;                    // index in Program::operators
};

struct Block;

using ValueId = std::int32_t;  // dense within a function

struct Node {
  const Operator* op = nullptr;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<TypeRef> output_types;
  std::vector<Block>
      blocks;  // prim::If: then, else; prim::Loop: body; prim::fork: what it runs, with the node's inputs
  Literal constant;            // prim::Constant
  std::string name;            // prim::GetAttr, SetAttr, CallMethod, Enter, Exit: the attribute or method
  std::vector<TypeRef> types;  // prim::isinstance: the types asked for
  LocationRef location;
};

struct Block {
  std::vector<ValueId> parameters;
  std::vector<TypeRef> parameter_types;
  std::vector<Node> nodes;
  std::vector<ValueId> results;
};

struct Parameter {
  std::string name;
  TypeRef type;
  std::optional<Literal> default_value;
  std::optional<Literal>
      example;  // what the method was traced with, where the file says; its tensors have no bytes
};

struct Function {
  std::string name;                   // qualified: "__torch__.Net.forward", "__torch__.helper"
  std::vector<Parameter> parameters;  // of a method, the first is self
  std::vector<TypeRef> returns;
  Block body;                            // body.parameters[i] is parameters[i]
  std::vector<std::string> value_names;  // by ValueId: debug names, empty where numeric
};

struct ClassInfo {
  std::string name;
  bool is_module = false;
  std::vector<std::pair<std::string, TypeRef>> attributes;
  std::map<std::string, std::string> methods;  // short name -> key of Program::functions
};

struct Program {
  std::vector<std::unique_ptr<Operator>> operators;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, ClassInfo> classes;
  ObjectRef root;                   // the module
  const Function* entry = nullptr;  // the method asked for
};

}  // namespace pt2onnx::program
