// Losses, for modules that compute theirs in forward.
#include <cmath>
#include <numbers>

#include "symbolics/cells.h"
#include "symbolics/tables.h"

namespace pt2onnx {
namespace {

enum class Reduction { None = 0, Mean = 1, Sum = 2 };

Reduction reduction_of(Call& c) {
  const std::int64_t code = c.integer("reduction");
  if (code < 0 || code > 2) c.reject("reduces in a way that torch does not have");
  return static_cast<Reduction>(code);
}

Value reduced(Call& c, Value loss, Reduction reduction) {
  if (reduction == Reduction::None) return loss;
  const std::string_view op = reduction == Reduction::Mean ? "ReduceMean" : "ReduceSum";
  return onnx::reduce(c, op, loss, onnx::all_axes(c, loss), false);
}

Value reduced(Call& c, Value loss) { return reduced(c, loss, reduction_of(c)); }

Value number(Call& c, double v, Value like) { return onnx::constant_like(c, v, like); }
Value one_minus(Call& c, Value x) { return onnx::sub(c, number(c, 1, x), x); }
/// In their common dtype, which is float for whole numbers.
std::pair<Value, Value> promoted_to_float(Call& c, std::string_view first, std::string_view second) {
  const Operand a = operand(c, first), b = operand(c, second);
  const DType dtype = float_result_type(c, {a, b});
  return {as(c, a, dtype), as(c, b, dtype)};
}

Value at_least_zero(Call& c, Value x) { return onnx::maximum(c, x, number(c, 0, x)); }

/// log(1 + e^x), without overflow.
Value softplus(Call& c, Value x) { return c.op("Softplus", {x}); }

// ---- distances -----------------------------------------------------------------------------------------------------

// aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
Results mse_loss(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  const Value gap = onnx::sub(c, x, target);
  return reduced(c, onnx::mul(c, gap, gap));
}

// aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
Results l1_loss(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  return reduced(c, onnx::abs(c, onnx::sub(c, x, target)));
}

/// Square up to a width, linear beyond.
Results smooth_l1_loss(Call& c) {
  const double width = c.number("beta");
  if (width == 0) return l1_loss(c);
  const auto [x, target] = promoted(c, "self", "target");
  const Value gap = onnx::abs(c, onnx::sub(c, x, target));
  const Value square = onnx::mul(c, onnx::mul(c, gap, gap), number(c, 0.5 / width, x));
  const Value line = onnx::sub(c, gap, number(c, 0.5 * width, x));
  return reduced(c, onnx::where(c, onnx::less(c, gap, number(c, width, x)), square, line));
}

// aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor
Results huber_loss(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  const double width = c.number("delta");
  const Value gap = onnx::abs(c, onnx::sub(c, x, target));
  const Value square = onnx::mul(c, onnx::mul(c, gap, gap), number(c, 0.5, x));
  const Value line = onnx::mul(c, onnx::sub(c, gap, number(c, 0.5 * width, x)), number(c, width, x));
  return reduced(c, onnx::where(c, onnx::less_equal(c, gap, number(c, width, x)), square, line));
}

// aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor
Results poisson_nll_loss(Call& c) {
  const auto [x, target] = promoted_to_float(c, "input", "target");
  Value loss;
  if (c.flag("log_input")) {
    loss = onnx::sub(c, onnx::exp(c, x), onnx::mul(c, target, x));
  } else {
    const Value safe = onnx::add(c, x, number(c, c.number("eps"), x));
    loss = onnx::sub(c, x, onnx::mul(c, target, onnx::log(c, safe)));
  }
  if (c.flag("full")) {
    // Stirling's formula for the factorial of the target.
    const Value log_target = onnx::log(c, target);
    const Value head = onnx::sub(c, onnx::mul(c, target, log_target), target);
    const Value two_pi = onnx::mul(c, target, number(c, 2 * std::numbers::pi, x));
    const Value tail = onnx::mul(c, onnx::log(c, two_pi), number(c, 0.5, x));
    const Value above = onnx::greater(c, target, number(c, 1, x));
    loss = onnx::add(c, loss, onnx::where(c, above, onnx::add(c, head, tail), number(c, 0, x)));
  }
  return reduced(c, loss);
}

// ---- probabilities -------------------------------------------------------------------------------------------------

Value weighted(Call& c, Value loss, std::string_view weight) {
  const Value factor = c.optional_tensor(weight);
  return factor ? onnx::mul(c, loss, factor) : loss;
}

// aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor
Results binary_cross_entropy(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  const Value floor = number(c, -100, x);  // where torch cuts the logarithm off
  const Value yes = onnx::maximum(c, onnx::log(c, x), floor),
              no = onnx::maximum(c, onnx::log(c, one_minus(c, x)), floor);
  const Value sum = onnx::add(c, onnx::mul(c, target, yes), onnx::mul(c, one_minus(c, target), no));
  return reduced(c, weighted(c, onnx::neg(c, sum), "weight"));
}

// aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None,
//                                        int reduction=1) -> Tensor
Results binary_cross_entropy_with_logits(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  Value surprise = softplus(c, onnx::neg(c, x));
  if (const Value positive = c.optional_tensor("pos_weight")) {
    const Value extra = onnx::mul(c, onnx::sub(c, positive, number(c, 1, positive)), target);
    surprise = onnx::mul(c, onnx::add(c, extra, number(c, 1, x)), surprise);
  }
  const Value loss = onnx::add(c, onnx::mul(c, one_minus(c, target), x), surprise);
  return reduced(c, weighted(c, loss, "weight"));
}

// aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor
Results kl_div(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  if (c.flag("log_target")) return reduced(c, onnx::mul(c, onnx::exp(c, target), onnx::sub(c, target, x)));
  const Value zero = number(c, 0, x);
  const Value entropy =
      onnx::where(c, onnx::equal(c, target, zero), zero, onnx::mul(c, target, onnx::log(c, target)));
  return reduced(c, onnx::sub(c, entropy, onnx::mul(c, target, x)));
}

// aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
Results soft_margin_loss(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  // torch takes the exponential first, so that it overflows where that does.
  Value grown = onnx::exp(c, onnx::neg(c, onnx::mul(c, target, x)));
  if (c.dtype_of(grown) == DType::Float16) {
    // ONNX Runtime computes halves as floats, where this exponential still has a value.
    constexpr double kOverflow = 65520;
    const Value wide = onnx::cast(c, grown, DType::Float32);
    const Value over = onnx::greater_equal(c, wide, number(c, kOverflow, wide));
    grown = onnx::where(c, over, number(c, std::numeric_limits<double>::infinity(), grown), grown);
  }
  return reduced(c, onnx::log(c, onnx::add(c, grown, number(c, 1, grown))));
}

// ---- classes -------------------------------------------------------------------------------------------------------

/// Scores [N, C, ...] and classes [N, ...]; a lone sample gets a batch of its own.
struct Classification {
  Value scores, target, weight;
  bool lone = false;
};

Classification classification(Call& c) {
  Classification k{c.tensor("self"), c.tensor("target"), c.optional_tensor("weight")};
  k.lone = c.rank(k.scores) == 1;
  if (k.lone) {
    k.scores = onnx::unsqueeze(c, k.scores, {0});
    k.target = onnx::unsqueeze(c, k.target, {0});
  }
  return k;
}

/// One node for the two losses over class numbers.
Value class_loss(Call& c, std::string_view op, const Classification& k) {
  constexpr std::string_view kReductions[] = {"none", "mean", "sum"};
  const Reduction reduction = reduction_of(c);
  const Value loss = c.op(
      op, {k.scores, k.target, k.weight},
      {{"reduction", kReductions[static_cast<int>(reduction)]}, {"ignore_index", c.integer("ignore_index")}});
  return k.lone && reduction == Reduction::None ? onnx::squeeze(c, loss, {0}) : loss;
}

// aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor
Results nll_loss(Call& c) { return class_loss(c, "NegativeLogLikelihoodLoss", classification(c)); }

/// Of shape [1, C, 1, ...], to go with scores.
Value along_classes(Call& c, Value weight, Value scores) {
  Shape shape(c.rank(scores), Dim(1));
  shape[1] = c.size_of(scores, 1);
  return onnx::reshape(c, weight, shape);
}

/// - sum over classes of share * weight * log softmax, given shares [N, C, ...].
Value soft_class_loss(Call& c, const Classification& k, Value shares) {
  Value terms = onnx::mul(c, onnx::log_softmax(c, k.scores, 1), shares);
  if (k.weight) terms = onnx::mul(c, terms, along_classes(c, k.weight, k.scores));
  return onnx::neg(c, onnx::reduce(c, "ReduceSum", terms, {1}, false));
}

/// Class numbers with smoothing: part of the share goes to all classes evenly.
Value smoothed_class_loss(Call& c, const Classification& k, double smoothing) {
  const DType dtype = c.dtype_of(k.scores);
  const Dim classes = c.size_of(k.scores, 1);
  const Value ignored =
      onnx::equal(c, k.target, c.constant(Tensor::scalar(c.integer("ignore_index"), c.dtype_of(k.target))));
  const Value kept = onnx::cast(c, onnx::logical_not(c, ignored), dtype);
  const Value numbers =
      along_classes(c, onnx::cast(c, onnx::range(c, 0, classes), c.dtype_of(k.target)), k.scores);
  const Value hit = onnx::cast(c, onnx::equal(c, numbers, onnx::unsqueeze(c, k.target, {1})), dtype);
  const Value even = onnx::div(c, c.constant(smoothing, dtype), c.scalar_value(Scalar(classes), dtype));
  const Value shares = onnx::add(c, onnx::mul(c, hit, c.constant(1 - smoothing, dtype)), even);
  const Value loss = onnx::mul(c, soft_class_loss(c, k, shares), kept);

  const Reduction reduction = reduction_of(c);
  if (reduction != Reduction::Mean) return reduced(c, loss, reduction);
  Value count = kept;
  if (k.weight)
    count = onnx::reduce(c, "ReduceSum", onnx::mul(c, hit, along_classes(c, k.weight, k.scores)), {1}, false);
  if (k.weight) count = onnx::mul(c, count, kept);
  return onnx::div(c, reduced(c, loss, Reduction::Sum), reduced(c, count, Reduction::Sum));
}

// aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100,
//                          float label_smoothing=0.) -> Tensor
Results cross_entropy_loss(Call& c) {
  const Classification k = classification(c);
  const double smoothing = c.number("label_smoothing");
  Value loss;
  if (is_floating(c.dtype_of(k.target))) {
    // The target holds the share of each class.
    Value shares = k.target;
    if (smoothing != 0) {
      const Value even = onnx::div(c, number(c, smoothing, shares),
                                   c.scalar_value(Scalar(c.size_of(k.scores, 1)), c.dtype_of(shares)));
      shares = onnx::add(c, onnx::mul(c, shares, number(c, 1 - smoothing, shares)), even);
    }
    loss = reduced(c, soft_class_loss(c, k, shares));
  } else if (smoothing != 0) {
    loss = smoothed_class_loss(c, k, smoothing);
  } else {
    return class_loss(c, "SoftmaxCrossEntropyLoss", k);
  }
  return k.lone && reduction_of(c) == Reduction::None ? onnx::squeeze(c, loss, {0}) : loss;
}

// ---- margins -------------------------------------------------------------------------------------------------------

// aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor
Results margin_ranking_loss(Call& c) {
  // Whole numbers are subtracted as such; the margin is a float, and so is the loss.
  const auto [a, b] = promoted(c, "input1", "input2");
  const DType whole = result_type(c, {a, c.tensor("target")});
  const Value sign = onnx::cast(c, c.tensor("target"), whole);
  const Value product = onnx::mul(c, sign, onnx::cast(c, onnx::sub(c, b, a), whole));
  const Value gap = as(c, product, float_result_type(c, {product}));
  return reduced(c, at_least_zero(c, onnx::add(c, gap, number(c, c.number("margin"), gap))));
}

// aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor
Results hinge_embedding_loss(Call& c) {
  const auto [x, target] = promoted(c, "self", "target");
  const Value zero = number(c, 0, x), one = number(c, 1, x);
  const Value near = onnx::where(c, onnx::equal(c, target, one), x, zero);
  const Value gap = at_least_zero(c, onnx::sub(c, number(c, c.number("margin"), x), x));
  const Value far = onnx::where(c, onnx::equal(c, target, number(c, -1, x)), gap, zero);
  return reduced(c, onnx::add(c, near, far));
}

Value euclidean(Call& c, Value a, Value b, double p, double eps) {
  const Value difference = onnx::sub(c, a, b);  // of whole numbers as such
  const Value real = as(c, difference, float_result_type(c, {difference}));
  const Value gap = onnx::add(c, real, number(c, eps, real));
  if (p == 1 || p == 2) return onnx::reduce(c, p == 1 ? "ReduceL1" : "ReduceL2", gap, {-1}, false);
  const Value powers = onnx::pow(c, onnx::abs(c, gap), number(c, p, gap));
  return onnx::pow(c, onnx::reduce(c, "ReduceSum", powers, {-1}, false), number(c, 1 / p, gap));
}

// aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2.,
//                           float eps=1e-6, bool swap=False, int reduction=1) -> Tensor
Results triplet_margin_loss(Call& c) {
  const Operand middle = operand(c, "anchor"), like = operand(c, "positive"), unlike = operand(c, "negative");
  const DType dtype = result_type(c, {middle, like, unlike});
  const Value anchor = as(c, middle, dtype), positive = as(c, like, dtype), negative = as(c, unlike, dtype);
  const double p = c.number("p"), eps = c.number("eps");
  const Value near = euclidean(c, anchor, positive, p, eps);
  Value far = euclidean(c, anchor, negative, p, eps);
  if (c.flag("swap")) far = onnx::minimum(c, far, euclidean(c, positive, negative, p, eps));
  return reduced(
      c, at_least_zero(c, onnx::add(c, onnx::sub(c, near, far), number(c, c.number("margin"), near))));
}

// aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor
Results cosine_embedding_loss(Call& c) {
  const auto [a, b] = promoted_to_float(c, "input1", "input2");
  const Value target = c.tensor("target");
  const std::int64_t axis = c.rank(target) == 0 ? 0 : 1;
  const auto sum = [&](Value x, Value y) {
    return onnx::reduce(c, "ReduceSum", onnx::mul(c, x, y), {axis}, false);
  };
  const Value eps = number(c, 1e-12, a);
  const Value size = onnx::mul(c, onnx::add(c, sum(a, a), eps), onnx::add(c, sum(b, b), eps));
  const Value cosine = onnx::div(c, sum(a, b), onnx::sqrt(c, size));
  const Value zero = number(c, 0, a);
  const Value alike =
      onnx::where(c, onnx::equal(c, target, number(c, 1, target)), one_minus(c, cosine), zero);
  const Value gap = at_least_zero(c, onnx::sub(c, cosine, number(c, c.number("margin"), a)));
  const Value apart = onnx::where(c, onnx::equal(c, target, number(c, -1, target)), gap, zero);
  return reduced(c, onnx::add(c, alike, apart));
}

/// 0, 1, ... for the classes of x, which are its last dim.
Value classes(Call& c, Value x) { return onnx::range(c, 0, c.size_of(x, -1)); }

/// Per sample, the mean over the classes (the last `axes` dims count as one sample).
Value class_mean(Call& c, Value x, Value loss, std::vector<std::int64_t> axes) {
  const Value count = onnx::cast(c, c.size_value(c.size_of(x, -1)), c.dtype_of(x));
  return onnx::div(c, onnx::reduce(c, "ReduceSum", loss, std::move(axes), false), count);
}

// aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None,
//                         int reduction=1) -> Tensor
Results multi_margin_loss(Call& c) {
  const Value x = onnx::at_least_dims(c, c.tensor("self"), 1);
  const Value target = c.tensor("target");
  const Value label = c.rank(x) == 1 ? onnx::reshape(c, target, {1}) : onnx::unsqueeze(c, target, {-1});
  const double p = c.number("p");
  if (p != 1 && p != 2) c.reject("`p` other than 1 and 2");
  const Value own = onnx::gather_elements(c, x, label, -1);
  Value gap = at_least_zero(c, onnx::add(c, onnx::sub(c, number(c, c.number("margin"), x), own), x));
  if (p == 2) gap = onnx::mul(c, gap, gap);
  if (const Value weight = c.optional_tensor("weight"))
    gap = onnx::mul(c, gap, onnx::gather(c, weight, label, 0));
  gap = onnx::where(c, onnx::equal(c, classes(c, x), label), number(c, 0, x), gap);
  Value loss = class_mean(c, x, gap, {-1});
  const Reduction reduction = reduction_of(c);
  // One sample without a batch dim: the target decides about the dims of its loss.
  if (c.rank(x) == 1 && c.rank(target) == 1 && reduction == Reduction::None)
    loss = onnx::unsqueeze(c, loss, {0});
  return reduced(c, loss, reduction);
}

// aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor
Results multilabel_margin_loss(Call& c) {
  const Value x = onnx::at_least_dims(c, c.tensor("self"), 1);
  const Value target = onnx::at_least_dims(c, c.tensor("target"), 1);
  // Labels are what comes before the first negative one.
  const Value none = number(c, -1, target), first = number(c, 0, target);
  const Value ends = onnx::cast(c, onnx::less(c, target, first), DType::Int64);
  const Value ended = onnx::cumulative_sum(c, ends, -1);
  const Value valid = onnx::equal(c, ended, number(c, 0, ended));
  const Value own = onnx::gather_elements(c, x, onnx::where(c, valid, target, first), -1);
  // [..., labels, classes]
  const Value labels = onnx::unsqueeze(c, onnx::where(c, valid, target, none), {-1});
  const Value is_label = onnx::extreme(c, true, onnx::equal(c, labels, classes(c, x)), {-2}, true);
  const Value gap =
      at_least_zero(c, onnx::add(c, onnx::unsqueeze(c, onnx::sub(c, number(c, 1, x), own), {-1}),
                                 onnx::unsqueeze(c, x, {-2})));
  const Value counts = onnx::logical_and(c, onnx::unsqueeze(c, valid, {-1}), onnx::logical_not(c, is_label));
  return reduced(c, class_mean(c, x, onnx::where(c, counts, gap, number(c, 0, x)), {-2, -1}));
}

constexpr Entry kTable[] = {
    {"aten::binary_cross_entropy", 8, binary_cross_entropy},
    {"aten::binary_cross_entropy_with_logits", 7, binary_cross_entropy_with_logits},
    {"aten::cosine_embedding_loss", 9, cosine_embedding_loss},
    {"aten::cross_entropy_loss", 12, cross_entropy_loss},
    {"aten::hinge_embedding_loss", 9, hinge_embedding_loss},
    {"aten::huber_loss", 9, huber_loss},
    {"aten::kl_div", 9, kl_div},
    {"aten::l1_loss", 7, l1_loss},
    {"aten::margin_ranking_loss", 8, margin_ranking_loss},
    {"aten::mse_loss", 7, mse_loss},
    {"aten::multi_margin_loss", 11, multi_margin_loss},
    {"aten::multilabel_margin_loss", 11, multilabel_margin_loss},
    {"aten::nll_loss", 12, nll_loss},
    {"aten::nll_loss2d", 12, nll_loss},
    {"aten::nll_loss_nd", 12, nll_loss},
    {"aten::poisson_nll_loss", 9, poisson_nll_loss},
    {"aten::smooth_l1_loss", 9, smooth_l1_loss},
    {"aten::soft_margin_loss", 7, soft_margin_loss},
    {"aten::triplet_margin_loss", 8, triplet_margin_loss},
};
static_assert(strictly_ascending(kTable));

}  // namespace

std::span<const Entry> loss_table() { return kTable; }

}  // namespace pt2onnx
