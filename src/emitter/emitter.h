// From a translated graph to an ONNX file: protobuf, checks, writing. The only layer that knows onnx and protobuf;
// this header does not.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "pt2onnx/convert.h"
#include "pt2onnx/graph.h"
#include "pt2onnx/plugin.h"
#include "registry/op_catalog.h"

namespace pt2onnx {

/// The operators of the linked onnx library.
const OpCatalog& onnx_catalog();

/// Makes an operator of another domain known to the catalogue and to onnx's checker; a later declaration replaces an
/// earlier one, for the whole process.
void declare_operator(OperatorDeclaration declaration);

/// Version of the linked onnx library, "1.23.2".
std::string onnx_version();

/// What the onnx library says of an operator, over all its versions.
struct OnnxOperator {
  std::string domain, name;
  std::vector<int> versions;  // ascending
  bool deprecated = false;    // in the newest one
  std::string doc;            // of the newest one
};
/// All operators of all domains that the onnx library knows, by domain and name.
std::vector<OnnxOperator> onnx_operators();

/// An ONNX file in ONNX's text syntax; weights are abbreviated. Throws std::runtime_error when it is none.
std::string print_onnx_file(const std::string& path);

/// The same as a drawing in Graphviz's language: nodes with their attributes and weights, arrows with their types.
std::string draw_onnx_file(const std::string& path);

/// Removes what nothing uses: nodes without a used output (also in subgraphs), in one pass. Inputs stay.
void eliminate_dead_nodes(Model& model);

/// onnx's full check and strict shape inference over the model. Weights above a small size are checked by type only,
/// so no weight is copied. Empty when all is well, else the checker's words.
std::string check_model(const Model& model);

struct WriteOptions {
  ExternalData external_data = ExternalData::Auto;  // Auto: above 1.9 GiB
  std::string producer_version;
};

/// Thrown when the file cannot be written; what() names path and cause.
struct WriteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes beside the target and renames; weights are streamed, never gathered in one buffer. With external data the
/// weights go to `<output>.data`.
void write_model(const Model& model, const std::string& path, const WriteOptions& options);

/// The whole file as bytes (weights are copied once).
std::string serialize_model(const Model& model, const std::string& producer_version = {});

/// The model in ONNX's text syntax; large constants are abbreviated.
std::string print_model(const Model& model);

}  // namespace pt2onnx
