// Grows an ONNX graph node by node: infers types on the spot, shares equal nodes and constants, gives sizes a value
// only where one is needed, and can go back to a checkpoint.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pt2onnx/call.h"
#include "pt2onnx/graph.h"
#include "registry/folder.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

class Builder {
 public:
  Builder(Model& model, const OpCatalog& catalog, Folder* folder);

  int opset() const { return model_.opset; }
  const OpCatalog& catalog() const { return catalog_; }
  Folder* folder() const { return folder_; }
  Model& model() { return model_; }

  /// Set by the dispatch before a symbolic function runs; every node emitted meanwhile carries it.
  void set_origin(OriginRef origin) { origin_ = std::move(origin); }
  const OriginRef& origin() const { return origin_; }

  Value add_input(std::string name, ValueType type);
  std::vector<Value> emit(std::string_view domain, std::string_view op, std::size_t outputs,
                          std::vector<Value> inputs, Attributes attributes,
                          std::optional<std::vector<ValueType>> types = std::nullopt);
  Value constant(Tensor tensor);
  /// A Cast node; a constant is cast at once; nothing where the dtype is the same.
  Value cast(Value v, DType to);
  /// Runs a torch operator ("aten::to.dtype") on known arguments; nullopt when the graph computes one of them, there is
  /// no such kernel, or folding would make the model markedly larger.
  std::optional<Value> fold(std::string_view torch_op, const std::vector<Argument>& arguments);

  // -- complex values (virtual_values.cpp) --
  std::pair<Value, Value> parts(Value complex);
  Value complex_value(Value real, Value imaginary);
  Value pairs_of(Value complex);
  Value from_pairs(Value pairs);
  /// All zero, in the shape and dtype of a value.
  Value zeros_like(Value v);

  /// A quantized value of these codes.
  Value quantized_value(Value codes, double scale, std::int64_t zero_point, DType dtype);

  // -- sizes --
  Value size_value(const Dim& dim);
  Value shape_value(const Shape& shape);
  Dim size_of(Value v, std::int64_t axis);
  /// A fresh symbol whose number the graph reads: from a 0-d value, or as the size of an axis of a value.
  Dim symbol_of_value(Value scalar, std::string_view hint,
                      std::optional<std::int64_t> minimum = std::nullopt);
  Dim symbol_of_axis(Value tensor, std::int64_t axis, std::string name, std::int64_t minimum);
  /// A fresh symbol that an input of a subgraph will give (see subgraph).
  Dim fresh_dim(std::string_view hint, std::int64_t minimum = 0);
  void refine_shape(Value v, const Shape& shape);
  /// Fills in what inference left open of a value that is known to have that type; sizes out of sight stay open.
  void assume_type(Value v, const ValueType& type);

  // -- calls that are kept whole: the nodes emitted meanwhile carry `call`, share nothing with others, and read sizes
  //    from the call's arguments where they can --
  void begin_kept(std::shared_ptr<const KeptCall> call);
  void end_kept();
  bool keeps() const { return kept_ != nullptr; }

  // -- subgraphs: nodes go to the innermost open one --
  using NamedTypes = std::vector<std::pair<std::string, ValueType>>;
  /// A subgraph with the given inputs and `body`'s results as outputs.
  std::shared_ptr<Graph> subgraph(std::string_view name, const NamedTypes& inputs,
                                  const std::function<std::vector<Value>(std::vector<Value>)>& body);

  /// The same in steps, for who does not know the outputs before other subgraphs are made. An open subgraph can be left
  /// (suspend), entered again (resume) and is finished by close. Leaving it without closing drops it.
  struct Scope {
    std::shared_ptr<Graph> owned;  // null for the main graph
    Graph* graph = nullptr;
    int id = 0;
    std::unordered_map<std::string, std::vector<Value>> shared;  // key of a node -> its outputs
  };
  const std::vector<Value>& open(std::string_view name, const NamedTypes& inputs);
  Scope suspend();
  void resume(Scope scope);
  std::shared_ptr<Graph> close(const std::vector<Value>& outputs);
  std::size_t depth() const { return scopes_.size(); }
  /// Leaves subgraphs until `depth` are open: after an exception.
  void unwind(std::size_t depth);

  /// Whether nodes that are emitted now may use it.
  bool visible(Value v) const;
  /// Whether it is made by the innermost open (sub)graph.
  bool made_here(Value v) const { return !v.constant() && v.info()->scope == scopes_.back().id; }
  bool visible(const Dim& dim) const;

  /// Kept until the dispatch asks for them (Call::assume).
  void assume(std::string what) { assumptions_.push_back(std::move(what)); }
  std::vector<std::string> take_assumptions() { return std::exchange(assumptions_, {}); }

  /// Sizes of dynamic dims in the example inputs, by the names of the dims.
  void set_examples(std::map<std::string, std::int64_t> sizes) { example_sizes_ = std::move(sizes); }
  /// Whether the size is `value` there; if so its dims are pinned: the model is right for these sizes only.
  bool pin(const Dim& size, std::int64_t value);
  const std::set<std::string>& pinned() const { return pinned_; }

  // -- rollback --
  struct Checkpoint {
    std::size_t nodes, journal;
    std::size_t depth;
  };
  Checkpoint checkpoint() const;
  void rollback(const Checkpoint& to);

  /// A name that no value or node has yet: `base`, `base_1`, ...
  std::string unique_name(std::string base);

 private:
  struct Source {
    Value value;
    std::optional<std::int64_t> axis;  // absent: `value` itself is the number
  };
  Value new_value(std::string name, ValueType type);
  std::string fresh_symbol(std::string_view hint);
  void set_source(const std::string& symbol, Source source);
  Value cast_complex(Value v, DType to);
  Value int_vector(std::initializer_list<std::int64_t> ints);
  Value size_vector(const Dim& dim);  // shape [1]
  Value atom_vector(const detail::Atom& atom);
  Value axis_sizes(Value tensor, std::int64_t begin, std::int64_t end);
  const std::vector<Value>* find_shared(const std::string& key) const;
  void set_output_types(Node& node, const std::optional<std::vector<ValueType>>& types);
  std::string scoped_name(std::string_view op);
  Value emit_unshared(std::string_view op, Value input);

  Model& model_;
  const OpCatalog& catalog_;
  Folder* folder_;
  OriginRef origin_;
  std::vector<std::string> assumptions_;
  std::map<std::string, std::int64_t> example_sizes_;
  std::set<std::string> pinned_;
  std::shared_ptr<const KeptCall> kept_;
  std::vector<std::unordered_map<std::string, std::vector<Value>>>
      set_aside_;  // what the scopes share otherwise
  std::vector<std::pair<std::string, Source>> sources_before_;
  std::vector<Scope> scopes_;
  int last_scope_ = 0;
  std::unordered_map<std::string, int> used_names_;
  std::unordered_map<std::string, Source> sources_;  // of symbols
  std::unordered_set<std::string> symbol_names_;
  std::unordered_map<const ValueInfo*, Dim> value_symbols_;  // 0-d integers that serve as sizes
  std::unordered_multimap<std::size_t, Value> constants_;
  std::vector<std::function<void()>> journal_;  // undo steps since the start
};

}  // namespace pt2onnx
