// Runs the binary as a user would.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace pt2onnx::testing {

struct CliResult {
  int code = -1;  // exit code; 128 + signal when it was killed
  std::string out, err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

CliResult run_cli(const std::vector<std::string>& arguments);

/// A folder that goes with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace pt2onnx::testing
