// A drawing in Graphviz's language: boxes in clusters, arrows between them.
#pragma once

#include <string>
#include <string_view>

namespace pt2onnx {

class Dot {
 public:
  enum class Kind { Operator, Input, Output };

  Dot();
  /// An id for edge(). The label's first line is the title.
  std::string add(std::string_view label, Kind kind = Kind::Operator);
  /// `label` beside the arrow: the value's type.
  void edge(const std::string& from, const std::string& to, std::string_view label = {});
  void open_cluster(std::string_view label);
  void close_cluster();
  /// The whole text. Nothing may follow.
  std::string finish();

 private:
  std::string text_, edges_;
  int last_ = 0, clusters_ = 0;
};

}  // namespace pt2onnx
