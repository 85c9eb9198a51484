// The second half: kernels for the custom nodes of the exported models. Names, inputs and attributes are what
// `pt2onnx explain` prints under "custom node".
#define ORT_API_MANUAL_INIT
#include <onnxruntime_lite_custom_op.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "deform_conv.h"

namespace {

using FloatTensor = Ort::Custom::Tensor<float>;

class SoftCap {
 public:
  SoftCap(const OrtApi*, const OrtKernelInfo* info)
      : cap_(Ort::ConstKernelInfo(info).GetAttribute<float>("cap")) {}

  void Compute(const FloatTensor& x, FloatTensor& y) {
    const float* from = x.Data();
    float* to = y.Allocate(x.Shape());
    for (std::int64_t i = 0; i < x.NumberOfElement(); ++i) to[i] = cap_ * std::tanh(from[i] / cap_);
  }

 private:
  float cap_;
};

class DeformConv2d {
 public:
  DeformConv2d(const OrtApi*, const OrtKernelInfo* info) {
    const Ort::ConstKernelInfo attributes(info);
    const auto get = [&](const char* name) { return attributes.GetAttribute<std::int64_t>(name); };
    settings_ = {get("stride_h"),   get("stride_w"),   get("pad_h"),  get("pad_w"),
                 get("dilation_h"), get("dilation_w"), get("groups"), get("offset_groups")};
    use_mask_ = get("use_mask") != 0;
  }

  void Compute(const FloatTensor& input, const FloatTensor& weight, const FloatTensor& offset,
               const FloatTensor& mask, const FloatTensor& bias, FloatTensor& output) {
    const auto& in = input.Shape();
    const auto& kernel = weight.Shape();
    const auto& places = offset.Shape();  // its last two axes are those of the output
    const std::vector<std::int64_t> shape{in.at(0), kernel.at(0), places.at(2), places.at(3)};
    deform_conv::run({input.Data(), in}, {weight.Data(), kernel}, offset.Data(),
                     use_mask_ ? mask.Data() : nullptr, bias.Data(), settings_,
                     {output.Allocate(shape), shape});
  }

 private:
  deform_conv::Settings settings_;
  bool use_mask_ = false;
};

}  // namespace

/// ONNX Runtime calls this when a session is given the library.
extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  // They have to outlive every session that uses them.
  static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> softcap(
      Ort::Custom::CreateLiteCustomOp<SoftCap>("softcap", "CPUExecutionProvider"));
  static const std::unique_ptr<Ort::Custom::OrtLiteCustomOp> deform_conv2d(
      Ort::Custom::CreateLiteCustomOp<DeformConv2d>("deform_conv2d", "CPUExecutionProvider"));
  static Ort::CustomOpDomain domain("custom");
  static bool filled = false;
  try {
    if (!filled) {
      domain.Add(softcap.get());
      domain.Add(deform_conv2d.get());
      filled = true;
    }
    Ort::UnownedSessionOptions(options).Add(domain);
  } catch (const Ort::Exception& e) {
    return Ort::Status(e).release();
  }
  return nullptr;
}
