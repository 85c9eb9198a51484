#include <fmt/format.h>

#include <map>
#include <string>

#include "cli/common.h"

namespace pt2onnx::cli {
namespace {

/// Repeatable, one value each time. CLI11 would else take `[1,3]` for a list of two values.
template <typename Values>
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, Values& values,
                            const std::string& help) {
  return command.add_option(name, values, help)->expected(1)->allow_extra_args(false)->take_all();
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::IsMember(std::move(words)).description("");
}

void add_output_options(CLI::App& command, OutputOptions& output) {
  command
      .add_option_function<std::string>(
          "--format", [&output](const std::string& format) { output.json = format == "json"; },
          "What stdout gets: text, or one JSON document (docs/json.md)")
      ->check(one_of({"text", "json"}))
      ->type_name("text|json")
      ->group("Output");
  command.add_flag("-q,--quiet", output.quiet, "Say nothing but errors")->group("Output");
  command.add_flag("-v,--verbose", output.verbose, "Log more, progress too, where stderr is no terminal")
      ->group("Output");
  command.add_flag("--no-progress", output.no_progress, "No progress lines for long phases")->group("Output");
}

void add_report_option(CLI::App& command, OutputOptions& output) {
  command
      .add_option("--report", output.report,
                  "Write a report as well; the suffix says how: .txt, .json, .sarif or .html")
      ->type_name("FILE")
      ->group("Output");
}

void add_operator_options(CLI::App& command, Options& options) {
  add_repeatable(
      command, "--op-schema", options.op_schemas,
      "Signature of an operator from outside PyTorch: 'ns::op(Tensor x, int k) -> Tensor'; repeatable")
      ->type_name("SCHEMA")
      ->group("Loading");
  add_repeatable(command, "--load-library", options.libraries, "Library that registers operators; repeatable")
      ->type_name("LIB.so")
      ->group("Loading");
}

void add_load_options(CLI::App& command, Options& options) {
  command.add_option("--method", options.method, "Method of the module")
      ->capture_default_str()
      ->type_name("NAME")
      ->group("Loading");
  add_operator_options(command, options);
  command.add_flag("--training", options.training, "Keep training mode instead of exporting as eval")
      ->group("Loading");
}

void add_input_options(CLI::App& command, Options& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--input",
          [&options](const std::vector<std::string>& specs) {
            try {
              for (const std::string& spec : specs) options.inputs.push_back(parse_input_spec(spec));
            } catch (const std::invalid_argument& e) {
              throw CommandLineError(e.what());
            }
          },
          "An input, in order or by name: x:float32[N,3,224,224]. Name and dtype may be left out; a word is "
          "a dynamic "
          "dim; images.0:float32[3,H,W] is an element of a list; k:int=3, flag:bool=true, s:str=text, "
          "mask:none are baked "
          "in. Repeatable. Without it: the shapes in the file, else inferred from the weights")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("SPEC")
      ->group("Inputs");
  command
      .add_option("--input-data", options.input_data,
                  "Example values: .npz (by name, or in_0, in_1, ...) or a .pt with tensors")
      ->type_name("FILE")
      ->group("Inputs");
  add_repeatable(
      command, "--dynamic", options.dynamic,
      "Dynamic dims: NAME:0=batch,2=height; `batch`: dim 0 of every input; `all`: every dim. Repeatable")
      ->type_name("DIMS")
      ->group("Inputs");
  command
      .add_flag_callback(
          "--state", [&options] { options.state = true; },
          "What the module keeps in its attributes from call to call becomes inputs (NAME) and outputs "
          "(NAME_out)")
      ->group("Inputs");
}

void add_opset_option(CLI::App& command, Options& options) {
  command
      .add_option("--opset", options.opset, fmt::format("ONNX opset, {} to {}", kMinOpset, newest_opset()))
      ->capture_default_str()
      ->type_name("N")
      ->group("Translation");
}

void add_dictionary_options(CLI::App& command, Options& options) {
  add_repeatable(command, "--without", options.without,
                 "Do as if there were no mapping for this operator; repeatable")
      ->type_name("OP")
      ->group("Translation");
  add_repeatable(command, "--map", options.maps,
                 "Mappings of your own: ONNX functions named after torch operators; repeatable")
      ->type_name("FILE")
      ->group("Translation");
  add_repeatable(command, "--plugin", options.plugins,
                 "Library with symbolic functions of your own (pt2onnx/plugin.h); repeatable")
      ->type_name("LIB.so")
      ->group("Translation");
}

void add_translation_options(CLI::App& command, Options& options) {
  command
      .add_option_function<std::string>(
          "--unsupported",
          [&options](const std::string& what) {
            options.unsupported = what == "custom" ? Unsupported::Custom
                                  : what == "aten" ? Unsupported::Aten
                                                   : Unsupported::Error;
          },
          "What becomes of operators without a mapping: error (default); custom: a node in --custom-domain; "
          "aten: a fallback node of PyTorch's, for runtimes with libtorch inside")
      ->check(one_of({"error", "custom", "aten"}))
      ->type_name("error|custom|aten")
      ->group("Translation");
  command.add_option("--custom-domain", options.custom_domain, "Domain of custom nodes")
      ->capture_default_str()
      ->type_name("DOMAIN")
      ->group("Translation");
  command
      .add_flag("--strict", options.strict,
                "What a translation takes for granted, such as a size of the example, is an error")
      ->group("Translation");
  add_dictionary_options(command, options);
  add_repeatable(
      command, "--keep-module", options.keep_modules,
      "Keep a submodule (its path or its class) as one node that calls a function of the model; repeatable")
      ->type_name("NAME[=domain::Op]")
      ->group("Translation");
  add_repeatable(command, "--keep-function", options.keep_functions, "The same for a function; repeatable")
      ->type_name("NAME[=domain::Op]")
      ->group("Translation");
  command
      .add_flag("--keep-bare", options.keep_bare,
                "Leave out the functions behind such nodes: the runtime has kernels of its own")
      ->group("Translation");
  command
      .add_flag("--keep-functions", options.keep_mapped,
                "Keep mappings of --map as functions of the model, instead of inlining them")
      ->group("Translation");
  command
      .add_flag_callback(
          "--no-fold", [&options] { options.fold = false; },
          "Do not compute what is constant while translating")
      ->group("Translation");
  command
      .add_flag_callback(
          "--no-optimize", [&options] { options.optimize = false; }, "Keep nodes that nothing uses")
      ->group("Translation");
}

void add_comparison_options(CLI::App& command, Options& options) {
  command.add_option("--rtol", options.rtol, "Relative tolerance (default 1e-3; wider for half precision)")
      ->type_name("X")
      ->group("Verification");
  command
      .add_option("--atol", options.atol,
                  "Absolute tolerance, times the largest magnitude of the expected output but at least once "
                  "(default 1e-4)")
      ->type_name("X")
      ->group("Verification");
  add_repeatable(command, "--ort-library", options.ort_libraries,
                 "ONNX Runtime library with kernels of custom nodes; repeatable")
      ->type_name("LIB.so")
      ->group("Verification");
}

}  // namespace pt2onnx::cli
