#include "interpreter/datum.h"

#include <algorithm>

namespace pt2onnx {

thread_local std::uint64_t Birth::clock = 0;

bool any_tainted(const Datum& datum) {
  const auto any = [](const std::vector<Datum>& items) {
    return std::any_of(items.begin(), items.end(), any_tainted);
  };
  if (datum.is_tainted()) return true;
  if (const auto* list = datum.get_if<ListRef>()) return any((*list)->items);
  if (const auto* tuple = datum.get_if<TupleRef>()) return any((*tuple)->items);
  if (const auto* dict = datum.get_if<DictRef>())
    return std::any_of((*dict)->items.begin(), (*dict)->items.end(),
                       [](const auto& item) { return any_tainted(item.second); });
  return false;
}

std::string type_name(const Datum& datum) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(const Tainted&) const { return "an untranslated value"; }
    std::string operator()(const Uninitialized&) const { return "an unset variable"; }
    std::string operator()(const MaybeNone&) const { return "Optional"; }
    std::string operator()(const Scalar& s) const {
      static constexpr const char* kNames[] = {"bool", "int", "float", "complex"};
      return kNames[static_cast<int>(s.kind())];
    }
    std::string operator()(const std::string&) const { return "str"; }
    std::string operator()(const OpenText&) const { return "str"; }
    std::string operator()(const TensorRef&) const { return "Tensor"; }
    std::string operator()(const ListRef&) const { return "List"; }
    std::string operator()(const TupleRef&) const { return "Tuple"; }
    std::string operator()(const DictRef&) const { return "Dict"; }
    std::string operator()(const InstanceRef& o) const { return o->type; }
    std::string operator()(const program::EnumLiteral& e) const { return e.type; }
    std::string operator()(const program::DeviceLiteral&) const { return "Device"; }
    std::string operator()(const program::FunctionLiteral&) const { return "Function"; }
    std::string operator()(const program::OpaqueLiteral& o) const { return o.type; }
  };
  return std::visit(Visitor{}, datum.data);
}

namespace {

std::optional<bool> all_equal(const std::vector<Datum>& a, const std::vector<Datum>& b) {
  if (a.size() != b.size()) return false;
  bool open = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto equal = known_equal(a[i], b[i]);
    if (equal == false) return false;
    open |= !equal;
  }
  return open ? std::nullopt : std::optional(true);
}

}  // namespace

std::optional<bool> known_equal(const Datum& a, const Datum& b) {
  if (const auto *x = a.get_if<Scalar>(), *y = b.get_if<Scalar>(); x && y) {
    const auto *dx = std::get_if<Dim>(&x->data()), *dy = std::get_if<Dim>(&y->data());
    if (dx && dy) return provably_equal(*dx, *dy);
    const auto nx = x->number(), ny = y->number();
    return nx && ny ? std::optional(*nx == *ny) : std::nullopt;
  }
  for (const Datum* datum : {&a, &b})
    if (datum->get_if<MaybeNone>() || datum->is_tainted() || datum->get_if<Uninitialized>())
      return std::nullopt;
  const auto *p = a.get_if<OpenText>(), *q = b.get_if<OpenText>();
  if (p && q && p->text == q->text) return true;
  if ((p || a.get_if<std::string>()) && (q || b.get_if<std::string>()) && (p || q)) return std::nullopt;
  if (a.data.index() != b.data.index()) return false;
  if (const auto* x = a.get_if<std::string>()) return *x == *b.get_if<std::string>();
  if (a.is_none()) return true;
  if (const auto* x = a.get_if<ListRef>()) {
    const ListState &l = **x, &r = **b.get_if<ListRef>();
    return l.dynamic || r.dynamic ? std::nullopt : all_equal(l.items, r.items);
  }
  if (const auto* x = a.get_if<TupleRef>()) return all_equal((*x)->items, (*b.get_if<TupleRef>())->items);
  if (const auto* x = a.get_if<program::DeviceLiteral>()) return *x == *b.get_if<program::DeviceLiteral>();
  if (const auto* x = a.get_if<program::EnumLiteral>()) {
    const auto* y = b.get_if<program::EnumLiteral>();
    return x->type == y->type && x->name == y->name;
  }
  if (const auto* x = a.get_if<InstanceRef>()) return *x == *b.get_if<InstanceRef>();
  return std::nullopt;
}

}  // namespace pt2onnx
