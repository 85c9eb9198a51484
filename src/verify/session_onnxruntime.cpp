#if PT2ONNX_WITH_ORT

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/library_path.h"
#include "verify/runtime.h"

namespace pt2onnx {
namespace {

constexpr std::array<std::pair<DType, ONNXTensorElementDataType>, 17> kElementTypes{{
    {DType::Float32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DType::Float64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DType::Float16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DType::BFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DType::Int8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DType::Int16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DType::Int32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DType::Int64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DType::UInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DType::UInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DType::UInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DType::UInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {DType::Bool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {DType::Complex64, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64},
    {DType::Complex128, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128},
    {DType::Float8E4M3FN, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN},
    {DType::Float8E5M2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2},
}};

ONNXTensorElementDataType element_type(DType dtype) {
  for (const auto& [own, theirs] : kElementTypes)
    if (own == dtype) return theirs;
  throw RuntimeFailure("ONNX Runtime has no tensors of " + std::string(to_string(dtype)));
}

DType dtype_of(ONNXTensorElementDataType type) {
  for (const auto& [own, theirs] : kElementTypes)
    if (theirs == type) return own;
  throw RuntimeFailure("ONNX Runtime gave a tensor of an element type that pt2onnx does not know (number " +
                       std::to_string(static_cast<int>(type)) + ")");
}

/// First line of what ONNX Runtime says; the rest is a stack of its own source locations.
std::string first_line(const char* what) {
  std::string text = what;
  return text.substr(0, text.find('\n'));
}

/// One environment for the process: it owns the logger, which ONNX Runtime wants to outlive every session.
Ort::Env& environment() {
  static Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "pt2onnx");
  return env;
}

void add_library(Ort::SessionOptions& options, const std::string& path) {
  options.RegisterCustomOpsLibrary(library_path(path).c_str());
}

class OrtSession final : public Session {
 public:
  template <typename Open>
  OrtSession(const std::vector<std::string>& libraries, const Open& open) {
    options_.SetIntraOpNumThreads(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 8U)));
    options_.SetInterOpNumThreads(1);
    options_.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);  // errors arrive as exceptions
    // Busy waiting only pays for a process that runs a model again and again.
    options_.AddConfigEntry("session.intra_op.allow_spinning", "0");
    for (const std::string& library : libraries) add_library(options_, library);
    session_ = open(environment(), options_);

    Ort::AllocatorWithDefaultOptions allocator;
    for (std::size_t i = 0; i < session_.GetInputCount(); ++i) {
      inputs_.emplace_back(session_.GetInputNameAllocated(i, allocator).get());
      is_sequence_.push_back(session_.GetInputTypeInfo(i).GetONNXType() == ONNX_TYPE_SEQUENCE);
    }
    for (std::size_t i = 0; i < session_.GetOutputCount(); ++i)
      outputs_.emplace_back(session_.GetOutputNameAllocated(i, allocator).get());
  }

  std::vector<std::string> input_names() const override { return inputs_; }
  std::vector<std::string> output_names() const override { return outputs_; }

  std::vector<std::vector<Tensor>> run(const std::vector<std::vector<Tensor>>& inputs) override try {
    if (inputs.size() != inputs_.size())
      throw RuntimeFailure("the model has " + std::to_string(inputs_.size()) + " inputs, " +
                           std::to_string(inputs.size()) + " were given");
    std::vector<Ort::Value> values;
    for (std::size_t i = 0; i < inputs.size(); ++i) values.push_back(input_value(i, inputs[i]));

    const auto pointers = [](const std::vector<std::string>& names) {
      std::vector<const char*> result;
      for (const std::string& name : names) result.push_back(name.c_str());
      return result;
    };
    const auto input_names = pointers(inputs_), output_names = pointers(outputs_);
    auto results = session_.Run(Ort::RunOptions{}, input_names.data(), values.data(), values.size(),
                                output_names.data(), output_names.size());
    std::vector<std::vector<Tensor>> outputs;
    for (const Ort::Value& result : results) outputs.push_back(tensors_of(result));
    return outputs;
  } catch (const Ort::Exception& e) {
    throw RuntimeFailure(first_line(e.what()));
  }

 private:
  Ort::Value input_value(std::size_t index, const std::vector<Tensor>& tensors) const {
    if (!is_sequence_[index]) {
      if (tensors.size() != 1)
        throw RuntimeFailure("input `" + inputs_[index] + "` takes one tensor, " +
                             std::to_string(tensors.size()) + " were given");
      return tensor_value(tensors.front());
    }
    std::vector<Ort::Value> items;
    for (const Tensor& tensor : tensors) items.push_back(tensor_value(tensor));
    return Ort::Value::CreateSequence(items);
  }

  /// Refers to the tensor's bytes; ONNX Runtime does not write to inputs.
  static Ort::Value tensor_value(const Tensor& tensor) {
    static const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    return Ort::Value::CreateTensor(memory, const_cast<std::byte*>(tensor.bytes.data()), tensor.bytes.size(),
                                    tensor.dims.data(), tensor.dims.size(), element_type(tensor.dtype));
  }

  static std::vector<Tensor> tensors_of(const Ort::Value& value) {
    if (!value.HasValue()) return {};  // an empty optional
    if (value.IsTensor()) return {copy(value)};
    if (value.GetTypeInfo().GetONNXType() != ONNX_TYPE_SEQUENCE)
      throw RuntimeFailure("an output is neither a tensor nor a sequence of tensors");
    Ort::AllocatorWithDefaultOptions allocator;
    std::vector<Tensor> items;
    for (std::size_t i = 0; i < value.GetCount(); ++i)
      items.push_back(copy(value.GetValue(static_cast<int>(i), allocator)));
    return items;
  }

  static Tensor copy(const Ort::Value& value) {
    const auto info = value.GetTensorTypeAndShapeInfo();
    const DType dtype = dtype_of(info.GetElementType());
    std::vector<std::byte> bytes(info.GetElementCount() * size_of(dtype));
    if (!bytes.empty()) std::memcpy(bytes.data(), value.GetTensorRawData(), bytes.size());
    return Tensor::of_bytes(std::move(bytes), info.GetShape(), dtype);
  }

  Ort::SessionOptions options_;
  Ort::Session session_{nullptr};
  std::vector<std::string> inputs_, outputs_;
  std::vector<bool> is_sequence_;
};

template <typename Open>
std::unique_ptr<Session> open_session(const std::vector<std::string>& libraries, const Open& open) try {
  return std::make_unique<OrtSession>(libraries, open);
} catch (const Ort::Exception& e) {
  throw RuntimeFailure(first_line(e.what()));
}

}  // namespace

bool has_runtime() { return true; }
std::string why_no_runtime() { return {}; }
std::string runtime_version() { return Ort::GetVersionString(); }

void check_kernel_libraries(const std::vector<std::string>& libraries) {
  for (const std::string& library : libraries) {
    if (!std::filesystem::exists(library)) throw RuntimeFailure(library + ": no such file");
    try {
      environment();
      Ort::SessionOptions options;
      add_library(options, library);
    } catch (const std::exception& e) {
      throw RuntimeFailure(library +
                           ": is no library of ONNX Runtime kernels (one that exports RegisterCustomOps): " +
                           first_line(e.what()));
    }
  }
}

std::unique_ptr<Session> open_session_file(const std::string& path,
                                           const std::vector<std::string>& libraries) {
  return open_session(libraries, [&](Ort::Env& env, const Ort::SessionOptions& options) {
    return Ort::Session(env, path.c_str(), options);
  });
}

std::unique_ptr<Session> open_session_bytes(const std::string& bytes,
                                            const std::vector<std::string>& libraries) {
  return open_session(libraries, [&](Ort::Env& env, const Ort::SessionOptions& options) {
    return Ort::Session(env, bytes.data(), bytes.size(), options);
  });
}

}  // namespace pt2onnx

#endif
