// Operators of a user's own, for --load-library: testlib::twice has a kernel for the CPU, testlib::thrice is made of other
// operators. Or (LIBRARY_THROWS) a library that fails when it is loaded.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace {

at::Tensor twice(const at::Tensor& x, double factor) { return 2 * factor * x; }
at::Tensor thrice(const at::Tensor& x) { return x + x.slice(0).mul(2); }

}  // namespace

TORCH_LIBRARY(testlib, m) {
  if (LIBRARY_THROWS) throw std::runtime_error("no licence for testlib");
  m.def("twice(Tensor x, float factor) -> Tensor");
  m.def("thrice(Tensor x) -> Tensor", &thrice);
}

TORCH_LIBRARY_IMPL(testlib, CPU, m) { m.impl("twice", &twice); }
