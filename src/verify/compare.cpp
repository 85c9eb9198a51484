#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "verify/runtime.h"

namespace pt2onnx {
namespace {

std::string text_of(const std::vector<std::int64_t>& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> index(dims.size());
  for (std::size_t i = dims.size(); i-- > 0;) {
    index[i] = flat % dims[i];
    flat /= dims[i];
  }
  return text_of(index);
}

class Comparison {
 public:
  Comparison(const Tensor& expected, const Tensor& actual, const Tolerance& tolerance,
             OutputDifference& result, bool complex)
      : expected_(expected), actual_(actual), tolerance_(tolerance), result_(result), complex_(complex) {}

  void exact() {
    const auto e = expected_.to_ints(), a = actual_.to_ints();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      if (e[i] == a[i]) continue;
      const double difference = std::abs(static_cast<double>(e[i]) - static_cast<double>(a[i]));
      result_.max_abs = std::max(result_.max_abs, difference);
      if (e[i] != 0)
        result_.max_rel = std::max(result_.max_rel, difference / std::abs(static_cast<double>(e[i])));
      if (wrong++ == 0) note(i, std::to_string(e[i]), std::to_string(a[i]));
    }
    if (wrong) fail(wrong, e.size());
  }

  void close() {
    const auto e = expected_.to_doubles(), a = actual_.to_doubles();
    double scale = 1;
    for (const double v : e)
      if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
    const double atol = tolerance_.atol * scale;

    std::int64_t wrong = 0;
    double worst = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      if (e[i] == a[i] || (std::isnan(e[i]) && std::isnan(a[i]))) continue;
      bool ok = false;
      double excess = std::numeric_limits<double>::infinity();
      const std::size_t other = complex_ ? i ^ 1 : i;  // the other part of the number
      if (std::isfinite(e[i]) && std::isfinite(a[i])) {
        const double difference = std::abs(e[i] - a[i]);
        const double size =
            std::isfinite(e[other]) ? std::max(std::abs(e[i]), std::abs(e[other])) : std::abs(e[i]);
        const double limit = std::max(atol + tolerance_.rtol * size, tolerance_.step * 1.001);
        ok = difference <= limit;
        excess = limit > 0 ? difference / limit : std::numeric_limits<double>::infinity();
        result_.max_abs = std::max(result_.max_abs, difference);
        if (std::abs(e[i]) > atol) result_.max_rel = std::max(result_.max_rel, difference / std::abs(e[i]));
      } else {
        result_.max_abs = std::numeric_limits<double>::infinity();
      }
      if (ok) continue;
      ++wrong;
      if (excess > worst) {
        worst = excess;
        note(i, number(e[i]), number(a[i]));
      }
    }
    if (wrong) fail(wrong, e.size());
  }

 private:
  static std::string number(double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", v);
    return text;
  }
  void note(std::size_t flat, const std::string& expected, const std::string& actual) {
    where_ = "at " + index_text(static_cast<std::int64_t>(flat), expected_.dims) + " libtorch has " +
             expected + ", ONNX Runtime " + actual;
  }
  void fail(std::int64_t wrong, std::size_t of) {
    result_.passed = false;
    result_.note = std::to_string(wrong) + " of " + std::to_string(of) + " elements differ; " + where_;
  }

  const Tensor& expected_;
  const Tensor& actual_;
  const Tolerance& tolerance_;
  OutputDifference& result_;
  bool complex_;  // pairs of real and imaginary part: the larger one is the scale of both
  std::string where_;
};

}  // namespace

Tolerance default_tolerance(DType dtype) {
  dtype = real_of(dtype);
  if (dtype == DType::Float16) return {1e-2, 2e-3};
  if (dtype == DType::BFloat16) return {4e-2, 1.6e-2};
  return {};
}

OutputDifference compare(const std::string& name, const Tensor& of_torch, const Tensor& of_runtime,
                         const Tolerance& tolerance) {
  const Tensor expected = real_pairs(of_torch), actual = real_pairs(of_runtime);
  OutputDifference result;
  result.name = name;
  if (expected.dtype != actual.dtype || expected.dims != actual.dims) {
    result.passed = false;
    result.note = "libtorch gives " + std::string(to_string(expected.dtype)) + text_of(expected.dims) +
                  ", ONNX Runtime " + std::string(to_string(actual.dtype)) + text_of(actual.dims);
    return result;
  }
  if (expected.bytes.size() == actual.bytes.size() &&
      std::memcmp(expected.bytes.data(), actual.bytes.data(), expected.bytes.size()) == 0)
    return result;

  Comparison comparison(expected, actual, tolerance, result, is_complex(of_torch.dtype));
  if (is_floating(expected.dtype)) {
    comparison.close();
  } else {
    comparison.exact();
  }
  return result;
}

}  // namespace pt2onnx
