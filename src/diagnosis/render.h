// A Report in the forms in which it leaves the program: text, JSON, SARIF and HTML.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "pt2onnx/diagnosis.h"

namespace pt2onnx {

std::string_view to_string(StageStatus status);  // "ok", "failed", "skipped", "not reached"

struct TextStyle {
  bool colour = false;
  bool warnings = true;  // the command line logs them instead
};

/// error[case-1]: ...
///   --> model.py:41, in layers.3.attn
///   note: ...
///   help: ...
std::string text_of(const Finding& finding, const TextStyle& style);
/// Everything that a run has to say; ends with a newline.
std::string text_of(const Report& report, const TextStyle& style);

// docs/json.md describes these.
nlohmann::ordered_json json_of(const Finding& finding);
nlohmann::ordered_json json_of(const Report& report);

/// SARIF 2.1.0: one run, one rule per operator, one result per location.
std::string sarif_of(std::span<const Report> reports, std::string_view version);

/// One page that needs no other file.
std::string html_of(std::span<const Report> reports, std::string_view version);

/// "1 place", "3 places"
std::string counted(std::size_t count, std::string_view noun);

}  // namespace pt2onnx
