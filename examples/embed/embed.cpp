// The converter as a library: embed MODEL.pt OUT.onnx, or embed - OUT.onnx for a model that comes as bytes from the standard
// input. The dictionary gets one function more, the report comes as data.
#include <pt2onnx/convert.h>
#include <pt2onnx/registry.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace {

// mylib::square_plus_one(Tensor x) -> Tensor
pt2onnx::Results square_plus_one(pt2onnx::Call& c) {
  const pt2onnx::Value x = c.tensor("x");
  return c.op("Add", {c.op("Mul", {x, x}), c.constant(1.0, c.dtype_of(x))});
}

pt2onnx::Outcome convert_bytes(const char* output, const pt2onnx::Options& options) {
  const std::vector<char> bytes{std::istreambuf_iterator<char>(std::cin), {}};
  auto [outcome, model] = pt2onnx::convert(std::as_bytes(std::span(bytes)), options);
  std::ofstream(output, std::ios::binary) << model;
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "embed MODEL.pt OUT.onnx\n";
    return 2;
  }
  pt2onnx::Registry registry = pt2onnx::builtin_registry();
  registry.add(pt2onnx::Rule{"mylib::square_plus_one", 9, square_plus_one, "embed.cpp"});

  pt2onnx::Options options;
  options.registry = &registry;
  options.inputs = {pt2onnx::parse_input_spec("x:float32[N,4]")};
  options.op_schemas = {"mylib::square_plus_one(Tensor x) -> Tensor"};
  const auto [status, report] = std::string_view(argv[1]) == "-"
                                    ? convert_bytes(argv[2], options)
                                    : pt2onnx::convert(argv[1], argv[2], options);

  for (const auto& finding : report.findings)
    std::cout << finding.op << ": " << finding.reason << " (" << finding.count << " times)\n";
  for (const auto& [op, count] : report.operators) std::cout << op << ": " << count << '\n';
  if (report.verification)
    for (const auto& output : report.verification->outputs)
      std::cout << output.name << ": " << (output.passed ? "agrees" : "differs") << '\n';
  if (!report.verify_note.empty()) std::cout << "not verified: " << report.verify_note << '\n';
  if (!report.error.empty()) std::cerr << report.error << '\n';
  return static_cast<int>(status);
}
