#include "core/literal.h"

#include <algorithm>

namespace pt2onnx {

using program::Literal;

namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.dims == b.dims && (a.bytes.data() == b.bytes.data() || identical(a, b));
}

bool same_items(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_value);
}

}  // namespace

bool same_value(const Literal& a, const Literal& b) {
  if (a.data.index() != b.data.index()) return false;
  struct Visitor {
    const Literal& other;
    bool operator()(std::monostate) const { return true; }
    bool operator()(bool x) const { return x == std::get<bool>(other.data); }
    bool operator()(std::int64_t x) const { return x == std::get<std::int64_t>(other.data); }
    bool operator()(double x) const {
      const double y = std::get<double>(other.data);
      return x == y || (x != x && y != y);
    }
    bool operator()(const std::complex<double>& x) const {
      return x == std::get<std::complex<double>>(other.data);
    }
    bool operator()(const std::string& x) const { return x == std::get<std::string>(other.data); }
    bool operator()(const Tensor& x) const { return same_bytes(x, std::get<Tensor>(other.data)); }
    bool operator()(const std::shared_ptr<program::ListLiteral>& x) const {
      return same_items(x->items, std::get<std::shared_ptr<program::ListLiteral>>(other.data)->items);
    }
    bool operator()(const std::shared_ptr<program::TupleLiteral>& x) const {
      return same_items(x->items, std::get<std::shared_ptr<program::TupleLiteral>>(other.data)->items);
    }
    bool operator()(const std::shared_ptr<program::DictLiteral>& x) const {
      const auto& y = *std::get<std::shared_ptr<program::DictLiteral>>(other.data);
      return std::equal(x->items.begin(), x->items.end(), y.items.begin(), y.items.end(),
                        [](const auto& p, const auto& q) {
                          return same_value(p.first, q.first) && same_value(p.second, q.second);
                        });
    }
    bool operator()(const program::EnumLiteral& x) const {
      return x.name == std::get<program::EnumLiteral>(other.data).name;
    }
    bool operator()(const program::ObjectRef&) const { return true; }
    bool operator()(const program::DeviceLiteral&) const { return true; }
    bool operator()(const program::FunctionLiteral&) const { return true; }
    bool operator()(const program::OpaqueLiteral&) const { return true; }
  };
  return std::visit(Visitor{b}, a.data);
}

}  // namespace pt2onnx
