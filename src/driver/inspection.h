// What is in a TorchScript file, without translating it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pt2onnx/convert.h"

namespace pt2onnx {

struct InspectedInput {
  std::string name, type;
  std::string dtype;                              // empty: not in the file
  std::optional<std::vector<std::string>> shape;  // traced files store it; "?" for an unknown size
  std::string default_value;                      // empty: none
};

struct Inspection {
  std::vector<std::string> methods;
  std::vector<InspectedInput> inputs;  // of the method asked for
  std::string returns;
  std::map<std::string, std::size_t>
      ops;  // per call site, through all methods and functions that are reached
  std::vector<std::string> unknown_operators;  // that libtorch does not have
  std::size_t parameters = 0;                  // elements of all weights and buffers, shared ones once
  std::size_t weight_bytes = 0;
  std::size_t bytes = 0;  // of the file
};

/// Status::Ok and an inspection, or another status and the report's error.
struct InspectOutcome {
  Outcome outcome;
  Inspection inspection;
};

InspectOutcome inspect(const std::string& path, const Options& options);

enum class ShowFormat { Text, Dot, Svg };

/// The method and the functions that it reaches, or the graph of an ONNX file: readable, or as a drawing.
struct ShowOutcome {
  Outcome outcome;
  std::string text;
};
ShowOutcome show(const std::string& path, const Options& options, ShowFormat format = ShowFormat::Text);

}  // namespace pt2onnx
