// ONNX Runtime kernels of custom::twice, for --ort-library: one source, a library for each way to be wrong (KERNEL_KIND).
#define ORT_API_MANUAL_INIT
#include <onnxruntime_lite_custom_op.h>

#include <memory>
#include <stdexcept>

#define GOOD 0
#define WRONG_RESULT 1
#define OTHER_NAME 2
#define FAILS 3

namespace {

struct Twice {
  Twice(const OrtApi*, const OrtKernelInfo* info)
      : factor(Ort::ConstKernelInfo(info).GetAttribute<float>("factor")) {}

  void Compute(const Ort::Custom::Tensor<float>& x, Ort::Custom::Tensor<float>& y) {
    if (KERNEL_KIND == FAILS) throw std::runtime_error("out of ideas");
    float* to = y.Allocate(x.Shape());
    for (std::int64_t i = 0; i < x.NumberOfElement(); ++i)
      to[i] = (KERNEL_KIND == WRONG_RESULT ? 3 : 2) * factor * x.Data()[i];
  }

  float factor;
};

}  // namespace

extern "C" OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> op(Ort::Custom::CreateLiteCustomOp<Twice>(
      KERNEL_KIND == OTHER_NAME ? "double" : "twice", "CPUExecutionProvider"));
  static const Ort::CustomOpDomain domain = [] {
    Ort::CustomOpDomain made("custom");
    made.Add(op.get());
    return made;
  }();
  Ort::UnownedSessionOptions(options).Add(domain);
  return nullptr;
}
