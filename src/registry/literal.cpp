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

std::size_t tensor_bytes(const Literal& literal) {
  const auto sum = [](const std::vector<Literal>& items) {
    std::size_t bytes = 0;
    for (const Literal& item : items) bytes += tensor_bytes(item);
    return bytes;
  };
  if (const auto* tensor = std::get_if<Tensor>(&literal.data)) return tensor->bytes.size();
  if (const auto* list = std::get_if<std::shared_ptr<ListLiteral>>(&literal.data)) return sum((*list)->items);
  if (const auto* tuple = std::get_if<std::shared_ptr<program::TupleLiteral>>(&literal.data))
    return sum((*tuple)->items);
  return 0;
}

DType default_dtype(Scalar::Kind kind) {
  static constexpr DType kDTypes[] = {DType::Bool, DType::Int64, DType::Float32, DType::Complex64};
  return kDTypes[static_cast<int>(kind)];
}

}  // namespace pt2onnx
