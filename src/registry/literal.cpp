#include "registry/literal.h"

#include "registry/builder.h"

namespace pt2onnx {
namespace {

using program::ListLiteral;
using program::Literal;

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

std::optional<Argument> list_argument(Builder& builder, const std::vector<Literal>& items) {
  Argument::List list;
  list.reserve(items.size());
  for (const Literal& item : items) {
    auto argument = argument_from(builder, item);
    if (!argument) return std::nullopt;
    list.push_back(std::move(*argument));
  }
  return Argument(std::move(list));
}

std::optional<Literal> literal_of(const Scalar& scalar) {
  return std::visit(Overloaded{
                        [](bool v) -> std::optional<Literal> { return Literal{v}; },
                        [](const Dim& v) -> std::optional<Literal> {
                          if (const auto known = v.known()) return Literal{*known};
                          return std::nullopt;
                        },
                        [](double v) -> std::optional<Literal> { return Literal{v}; },
                        [](std::complex<double> v) -> std::optional<Literal> { return Literal{v}; },
                        [](const Scalar::Computed&) -> std::optional<Literal> { return std::nullopt; },
                    },
                    scalar.data());
}

}  // namespace

std::optional<Argument> argument_from(Builder& builder, const Literal& literal) {
  using R = std::optional<Argument>;
  return std::visit(
      Overloaded{
          [](std::monostate) -> R { return Argument(); },
          [](bool v) -> R { return Argument(Scalar(v)); },
          [](std::int64_t v) -> R { return Argument(Scalar(v)); },
          [](double v) -> R { return Argument(Scalar(v)); },
          [](std::complex<double> v) -> R { return Argument(Scalar(v)); },
          [](const std::string& v) -> R { return Argument(v); },
          [](const program::DeviceLiteral& v) -> R { return Argument(v.name); },
          [&](const Tensor& v) -> R { return Argument(builder.constant(v)); },
          [&](const std::shared_ptr<ListLiteral>& v) { return list_argument(builder, v->items); },
          [&](const std::shared_ptr<program::TupleLiteral>& v) { return list_argument(builder, v->items); },
          [](const program::OpaqueLiteral& v) -> R {
            Argument a;
            a.data = v;
            return a;
          },
          [](const auto&) -> R { return std::nullopt; },
      },
      literal.data);
}

std::optional<Literal> literal_from(const Argument& argument) {
  using R = std::optional<Literal>;
  return std::visit(Overloaded{
                        [](std::monostate) -> R { return Literal{}; },
                        [](const Value& v) -> R {
                          if (!v) return Literal{};
                          if (const Tensor* tensor = v.constant()) return Literal{*tensor};
                          return std::nullopt;
                        },
                        [](const Scalar& v) { return literal_of(v); },
                        [](const std::string& v) -> R { return Literal{v}; },
                        [](const Argument::List& items) -> R {
                          auto list = std::make_shared<ListLiteral>();
                          for (const Argument& item : items) {
                            auto literal = literal_from(item);
                            if (!literal) return std::nullopt;
                            list->items.push_back(std::move(*literal));
                          }
                          return Literal{list};
                        },
                        [](const program::OpaqueLiteral& v) -> R { return Literal{v}; },
                    },
                    argument.data);
}

}  // namespace pt2onnx
