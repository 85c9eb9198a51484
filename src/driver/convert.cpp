#include "pt2onnx/convert.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "driver/memory_file.h"
#include "driver/pipeline.h"

namespace pt2onnx {
namespace {

/// The first opset that the findings leave possible: an operator known to need a later one rules out all before it.
int next_candidate(int opset, const std::vector<Finding>& findings) {
  int next = opset + 1;
  for (const Finding& finding : findings)
    if (finding.first_opset) next = std::max(next, *finding.first_opset);
  return next;
}

}  // namespace

int newest_opset() { return onnx_catalog().newest_opset(); }

Outcome convert(const std::string& path, const std::string& output, const Options& options) {
  Pipeline pipeline(path, options);
  return pipeline.run([&] {
    pipeline.load();
    pipeline.bind();
    pipeline.translate(options.opset);
    pipeline.check();
    pipeline.write(output);
    pipeline.verify_output();
  });
}

namespace {

/// What the messages call the bytes.
constexpr std::string_view kBytes = "the bytes";

/// The path of a file in memory says nothing to a user.
void rename(std::string& text, const std::string& path) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + kBytes.size()))
    text.replace(at, path.size(), kBytes);
}

}  // namespace

InMemory convert(std::span<const std::byte> file, const Options& options) {
  InMemory result;
  try {
    const MemoryFile in_memory(file);
    Pipeline pipeline(in_memory.path(), options);
    result.outcome = pipeline.run([&] {
      pipeline.load();
      pipeline.bind();
      pipeline.translate(options.opset);
      pipeline.check();
      result.model = pipeline.serialize();
      pipeline.verify_bytes(result.model);
    });
    Report& report = result.outcome.report;
    report.input.clear();
    for (std::string* text : {&report.error, &report.verify_note}) rename(*text, in_memory.path());
    for (std::string& warning : report.warnings) rename(warning, in_memory.path());
  } catch (const std::system_error& e) {
    result.outcome.status = Status::Defect;
    result.outcome.report.error = e.what();
  }
  return result;
}

Outcome check(const std::string& path, const Options& options) {
  Pipeline pipeline(path, options);
  return pipeline.run([&] {
    pipeline.load(/*defer_weights=*/true);
    pipeline.bind();
    pipeline.translate(options.opset);
    pipeline.check();
  });
}

CheckOutcome check(const std::string& path, const Options& options, std::span<const int> opsets) {
  Pipeline pipeline(path, options);
  Outcome ready = pipeline.run([&] {
    pipeline.load(/*defer_weights=*/true);
    pipeline.bind();
  });
  if (ready.status != Status::Ok) return {{std::move(ready)}, std::nullopt};

  const auto check_at = [&](int opset) {
    pipeline.forget_translation();
    return pipeline.run([&] {
      pipeline.translate(opset);
      pipeline.check();
    });
  };
  CheckOutcome result;
  std::map<int, std::size_t> known;
  for (const int opset : opsets) {
    known.emplace(opset, result.outcomes.size());
    result.outcomes.push_back(check_at(opset));
  }
  for (int opset = kMinOpset; opset <= newest_opset();) {
    const auto it = known.find(opset);
    const Outcome outcome = it != known.end() ? result.outcomes[it->second] : check_at(opset);
    if (outcome.status == Status::Ok) {
      result.lowest_opset = opset;
      break;
    }
    opset = next_candidate(opset, outcome.report.findings);
  }
  return result;
}

Outcome verify(const std::string& path, const std::string& onnx_path, const Options& options) {
  Pipeline pipeline(path, options);
  return pipeline.run([&] {
    pipeline.load();
    pipeline.bind();
    pipeline.verify_file(onnx_path);
  });
}

}  // namespace pt2onnx
