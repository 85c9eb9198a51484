// What went wrong, as data: one Finding per kind of problem, rendered elsewhere as text, JSON, SARIF or HTML.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pt2onnx {

/// The four cases of "operator not supported" (docs/diagnosis.md).
enum class Case {
  DictionaryGap = 1,  // ONNX has an operator, no symbolic function is registered
  NoSuchWord = 2,     // no ONNX operator at any opset expresses it
  UserOp = 3,         // from a library outside aten and torchvision
  OpsetTooLow = 4,    // a mapping exists, from a later opset
};

struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text;    // the source line
  std::string module;  // "layer1.0.conv1"
  auto operator<=>(const Location&) const = default;
};

struct Finding {
  std::string op;  // with overload: "aten::add.Tensor"
  std::string schema;
  std::optional<Case>
      which;  // empty: a form of a mapped op that cannot be kept, or a construct of the language
  int count = 0;
  std::vector<Location> locations;  // the first few, each once
  std::string reason;               // one sentence, lower case, no full stop
  std::vector<std::string> advice;  // what to do, best first
  std::optional<int> first_opset;   // case 4: the first opset that works
};

enum class StageStatus { NotReached, Ok, Failed, Skipped };

struct OutputDifference {
  std::string name;
  double max_abs = 0;
  double max_rel = 0;
  bool passed = true;
  std::string note;  // a difference in dtype, shape or count, in words
};

struct Verification {
  bool passed = false;
  std::vector<OutputDifference> outputs;
  std::vector<std::string> runs;  // the input shapes of each run, readable
  std::string first_divergence;   // the first node whose value differs, when a mismatch was traced
};

struct TensorSummary {
  std::string name;
  std::string dtype;
  std::vector<std::string> shape;  // numbers or names of dynamic dims
};

/// What a model with --state carries from call to call: feed `output` of one call as `input` of the next.
struct StateSummary {
  std::string input, output;
  std::string initial;  // for the first call: "zeros", "empty", or "the value in the file"
};

/// A module that was called.
struct LayerSummary {
  std::string path;                              // "layer1.0.conv1"; empty: the model itself
  std::string type;                              // its class: "Conv2d"
  std::vector<TensorSummary> outputs;            // of its first call, without names, as far as they are known
  std::map<std::string, std::size_t> operators;  // what it became, as above, without the layers in it
  std::vector<std::string> failed;               // torch operators without a translation, each once
  std::size_t skipped = 0;                       // torch operators that need what failed
};

/// The model as boxes in the order of the run, few enough to be looked at.
struct LayerPicture {
  enum class State { Port, Done, Failed, Skipped };  // Port: an input or output of the model
  struct Box {
    std::string path;  // of the layer that it is or is in
    std::string title, note;
    State state = State::Done;
  };
  std::vector<Box> boxes;
  std::vector<std::pair<std::size_t, std::size_t>> arrows;  // from earlier boxes to later ones
  bool by_order =
      false;  // the arrows are the order of the run: where the values of a failed model go is not known
};

/// Everything that a run has to say; filled stage by stage.
struct Report {
  std::string input, output;
  int opset = 0;
  std::size_t nodes = 0;
  std::map<std::string, std::size_t>
      operators;  // how often each ONNX operator is used, "domain::" before custom ones
  std::vector<TensorSummary> inputs, outputs;
  std::vector<LayerSummary> layers;  // in the order of their first calls
  LayerPicture picture;
  std::vector<StateSummary> state;                  // of inputs and outputs above
  std::vector<std::optional<double>> output_steps;  // quantization step of outputs that were dequantized
  StageStatus load = StageStatus::NotReached;
  StageStatus translate = StageStatus::NotReached;
  StageStatus check = StageStatus::NotReached;
  StageStatus verify = StageStatus::NotReached;
  std::string verify_note;  // why it was skipped
  std::vector<Finding> findings;
  std::vector<std::string> warnings;  // e.g. a decision that depended on an example value
  std::optional<Verification> verification;
  std::string error;  // the sentence behind a failed stage that is no finding
};

}  // namespace pt2onnx
