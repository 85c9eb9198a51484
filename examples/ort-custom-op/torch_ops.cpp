// The first half: a user's operator as PyTorch knows it. Loaded by torch.ops.load_library, and by pt2onnx --load-library,
// which runs it for the reference.
#include <torch/library.h>

#include <ATen/ATen.h>

namespace {

at::Tensor softcap(const at::Tensor& x, double cap) { return cap * at::tanh(x / cap); }

}  // namespace

TORCH_LIBRARY(mylib, m) { m.def("softcap(Tensor x, float cap) -> Tensor"); }

// For the CPU: without a device, PyTorch would take the function for a composition of its own operators, and so would
// pt2onnx, which then exports what it is composed of.
TORCH_LIBRARY_IMPL(mylib, CPU, m) { m.impl("softcap", &softcap); }
