// Walks a Python pickle without running it. Neutral: no torch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pt2onnx::frontend {

struct PickleScan {
  std::vector<std::string> globals;  // "collections.OrderedDict", in the order of the stream
  std::vector<std::string> strings;  // text constants
  bool starts_with_global = false;   // the outermost object is an instance of globals.front()
  bool complete = false;             // the STOP opcode was reached
  std::size_t end = 0;               // the offset behind it
};

PickleScan scan_pickle(std::string_view bytes);

/// What torch.save() wrote, judged by its pickle, as a sentence fragment with advice: "a state_dict (...): build ...".
std::string describe_saved_object(const PickleScan& scan);

}  // namespace pt2onnx::frontend
