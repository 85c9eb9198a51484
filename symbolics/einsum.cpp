#include "einsum.h"

#include <algorithm>
#include <map>
#include <set>

#include "onnx.h"

namespace pt2onnx::einsum {
namespace {

// Labels of the dims of an ellipsis: kEllipsis - 1 is the last of them, and so on; letters are below kFirstEllipsis.
constexpr int kFirstEllipsis = 500;
constexpr int kEllipsis = 1000;

bool holds(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

/// Letters and the place of the ellipsis of one term.
struct Term {
  Labels before, after;
  bool ellipsis = false;
};

Term read_term(Call& c, std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '.') {
      if (term.ellipsis || text.substr(i, 3) != "...") c.reject("the equation has a stray `.`");
      term.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(letter))) {
      (term.ellipsis ? term.after : term.before).push_back(letter);
    } else {
      c.reject(std::string("the equation has a `") + letter + "`");
    }
  }
  return term;
}

Labels expand_term(const Term& term, int ellipsis_dims) {
  Labels labels = term.before;
  for (int i = ellipsis_dims; i > 0; --i) labels.push_back(kEllipsis - i);
  labels.insert(labels.end(), term.after.begin(), term.after.end());
  return labels;
}

// ---- evaluation ----------------------------------------------------------------------------------------------------

struct Operand {
  Value value;
  Labels labels;
};

Value permuted(Call& c, const Operand& x, const Labels& order) {
  std::vector<std::int64_t> permutation;
  for (const int label : order) permutation.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
  return onnx::transpose(c, x.value, permutation);
}

/// Sums over the labels that `kept` does not have.
Operand sum_out(Call& c, const Operand& x, const std::set<int>& kept) {
  std::vector<std::int64_t> axes;
  Labels labels;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    if (kept.contains(x.labels[i])) {
      labels.push_back(x.labels[i]);
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  return axes.empty() ? x : Operand{onnx::reduce(c, "ReduceSum", x.value, axes, false), labels};
}

Shape sizes_for(Call& c, const Operand& x, const Labels& labels) {
  const auto sizes = c.sizes_of(x.value);
  Shape shape;
  for (const int label : labels)
    shape.push_back(sizes[static_cast<std::size_t>(std::ranges::find(x.labels, label) - x.labels.begin())]);
  return shape;
}

/// Drops dims of size 1 that the other operand has with another size.
Operand without_broadcast(Call& c, const Operand& x, const Operand& other) {
  const auto sizes = c.sizes_of(x.value);
  std::vector<std::int64_t> dropped;
  Labels labels;
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    const bool broadcast = sizes[i] == Dim(1) && holds(other.labels, x.labels[i]) &&
                           !(sizes_for(c, other, {x.labels[i]})[0] == Dim(1));
    if (broadcast) {
      dropped.push_back(static_cast<std::int64_t>(i));
    } else {
      labels.push_back(x.labels[i]);
    }
  }
  return dropped.empty() ? x : Operand{onnx::squeeze(c, x.value, dropped), labels};
}

Labels concatenated(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// One product: batch labels are in both and kept, contracted ones in both and not kept. As [batch, left, inner] times
/// [batch, inner, right].
Operand multiply(Call& c, Operand a, Operand b, const std::set<int>& kept) {
  a = without_broadcast(c, a, b);
  b = without_broadcast(c, b, a);
  std::set<int> needed_a(kept), needed_b(kept);
  needed_a.insert(b.labels.begin(), b.labels.end());
  needed_b.insert(a.labels.begin(), a.labels.end());
  a = sum_out(c, a, needed_a);
  b = sum_out(c, b, needed_b);

  Labels batch, inner, left, right;
  for (const int label : a.labels) {
    if (!holds(b.labels, label)) {
      left.push_back(label);
    } else {
      (kept.contains(label) ? batch : inner).push_back(label);
    }
  }
  for (const int label : b.labels)
    if (!holds(a.labels, label)) right.push_back(label);

  const auto batch_a = sizes_for(c, a, batch);
  const auto batch_b = sizes_for(c, b, batch);

  const auto product_of = [](const Shape& shape) { return Shape{product(shape)}; };
  const auto append = [](Shape to, const Shape& more) {
    to.insert(to.end(), more.begin(), more.end());
    return to;
  };
  const auto left_sizes = sizes_for(c, a, left);
  const auto right_sizes = sizes_for(c, b, right);
  const auto inner_size = product_of(sizes_for(c, a, inner));
  const auto lhs = onnx::reshape(c, permuted(c, a, concatenated(concatenated(batch, left), inner)),
                                 append(append(batch_a, product_of(left_sizes)), inner_size));
  const auto rhs = onnx::reshape(c, permuted(c, b, concatenated(concatenated(batch, inner), right)),
                                 append(append(batch_b, inner_size), product_of(right_sizes)));
  return {onnx::reshape(c, onnx::matmul(c, lhs, rhs), append(append(batch_a, left_sizes), right_sizes)),
          concatenated(concatenated(batch, left), right)};
}

}  // namespace

Equation parse(Call& c, std::string_view equation, const std::vector<Value>& operands) {
  std::string text(equation);
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  const auto inputs = text.substr(0, arrow);

  std::vector<Term> terms;
  for (std::size_t start = 0; start <= inputs.size();) {
    const auto comma = std::min(inputs.find(',', start), inputs.size());
    terms.push_back(read_term(c, std::string_view(inputs).substr(start, comma - start)));
    start = comma + 1;
  }
  if (terms.size() != operands.size()) c.reject("the equation has a term too many or too few");

  Equation parsed;
  std::map<int, int> uses;
  int ellipsis_dims = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto letters = terms[i].before.size() + terms[i].after.size();
    const auto rank = c.rank(operands[i]);
    if (rank < letters || (rank > letters && !terms[i].ellipsis))
      c.reject("a term of the equation does not have the rank of its operand");
    const int dims = static_cast<int>(rank - letters);
    ellipsis_dims = std::max(ellipsis_dims, dims);
    parsed.operands.push_back(expand_term(terms[i], dims));
    parsed.has_ellipsis.push_back(terms[i].ellipsis);
    for (const auto& part : {terms[i].before, terms[i].after})
      for (const int label : part) ++uses[label];
  }

  std::string result_text;
  if (arrow != std::string::npos) {
    result_text = text.substr(arrow + 2);
    const auto term = read_term(c, result_text);
    parsed.result = expand_term(term, term.ellipsis ? ellipsis_dims : 0);
  } else {
    Term term;
    term.ellipsis = std::ranges::any_of(terms, &Term::ellipsis);
    if (term.ellipsis) result_text = "...";
    for (const auto& [label, count] : uses) {  // a map: upper case, then lower case, each in order
      if (count != 1) continue;
      term.after.push_back(label);
      result_text += static_cast<char>(label);
    }
    parsed.result = expand_term(term, term.ellipsis ? ellipsis_dims : 0);
  }
  parsed.text = inputs + "->" + result_text;
  return parsed;
}

bool fits_node(Call& c, const Equation& equation, const std::vector<Value>& operands) {
  std::map<int, Dim> size_of;
  std::set<std::size_t> ellipsis_dims;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto sizes = c.sizes_of(operands[i]);
    std::size_t dims = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const int label = equation.operands[i][k];
      if (label >= kFirstEllipsis) ++dims;
      const auto [found, added] = size_of.emplace(label, sizes[k]);
      if (!added && (found->second == Dim(1)) != (sizes[k] == Dim(1))) return false;
    }
    if (equation.has_ellipsis[i]) ellipsis_dims.insert(dims);
  }
  return ellipsis_dims.size() <= 1;
}

Value contract(Call& c, std::vector<Value> operands, std::vector<Labels> labels, const Labels& result) {
  std::vector<Operand> rest;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (std::set<int>(labels[i].begin(), labels[i].end()).size() != labels[i].size())
      c.needs_opset(12, "a label that is twice in one term");
    rest.push_back({operands[i], labels[i]});
  }
  while (rest.size() > 1) {
    std::set<int> kept(result.begin(), result.end());
    for (std::size_t i = 2; i < rest.size(); ++i) kept.insert(rest[i].labels.begin(), rest[i].labels.end());
    rest[0] = multiply(c, rest[0], rest[1], kept);
    rest.erase(rest.begin() + 1);
  }
  const auto sum = sum_out(c, rest[0], {result.begin(), result.end()});
  return permuted(c, sum, result);
}

}  // namespace pt2onnx::einsum
