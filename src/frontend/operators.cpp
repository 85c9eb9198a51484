#include "frontend/operators.h"

#include <algorithm>
#include <sstream>

namespace pt2onnx::frontend {

namespace {

std::vector<std::string> alias_sets(const std::unordered_set<c10::Symbol>& sets) {
  std::vector<std::string> out;
  for (const c10::Symbol set : sets) out.emplace_back(set.toUnqualString());
  std::sort(out.begin(), out.end());
  return out;
}

program::SchemaArgument convert(const c10::Argument& argument, TypeTable& types) {
  program::SchemaArgument out;
  out.name = argument.name();
  out.type = types.of(argument.type());
  if (argument.default_value()) out.default_value = LiteralReader(types).read(*argument.default_value());
  out.keyword_only = argument.kwarg_only();
  out.is_out = argument.is_out();
  if (const c10::AliasInfo* alias = argument.alias_info())
    out.alias = program::AliasInfo{alias_sets(alias->beforeSets()), alias->isWrite()};
  return out;
}

bool draws_random_numbers(const torch::jit::Operator& op) {
  for (const at::Tag tag : op.getTags())
    if (tag == at::Tag::nondeterministic_seeded) return true;
  return false;
}

std::shared_ptr<const program::Schema> convert(const torch::jit::Operator& op, TypeTable& types) {
  const c10::FunctionSchema& schema = op.schema();
  auto out = std::make_shared<program::Schema>();
  out->name = schema.name();
  out->overload = schema.overload_name();
  for (const c10::Argument& argument : schema.arguments()) out->arguments.push_back(convert(argument, types));
  for (const c10::Argument& result : schema.returns()) out->returns.push_back(convert(result, types));
  out->is_variadic = schema.is_vararg();
  out->is_nondeterministic = draws_random_numbers(op);
  std::ostringstream text;
  text << schema;
  out->text = text.str();
  return out;
}

std::vector<std::shared_ptr<torch::jit::Operator>> registered(const std::string& name) {
  try {
    return torch::jit::getAllSortedOperatorsFor(c10::Symbol::fromQualString(name));
  } catch (const c10::Error&) {
    return {};  // not of the form ns::name
  }
}

}  // namespace

const OperatorTable::Overloads& OperatorTable::named(std::string_view name) {
  if (const auto known = operators_.find(name); known != operators_.end()) return known->second;
  Overloads overloads;
  for (const auto& op : registered(std::string(name))) {
    auto entry = std::make_unique<TorchOperator>();
    entry->op = op;
    entry->schema = &op->schema();
    entry->described = convert(*op, types_);
    if (op->hasOperation() || op->isC10Op()) entry->run = op->getOperation();
    for (const auto& argument : entry->described->arguments)
      entry->writes |= argument.alias && argument.alias->is_write;
    overloads.push_back(std::move(entry));
  }
  // A name without operators is not kept: a library may bring it later.
  static const Overloads kNone;
  if (overloads.empty()) return kNone;
  return operators_.emplace(name, std::move(overloads)).first->second;
}

TorchOperator* OperatorTable::find(std::string_view name, std::string_view overload) {
  for (const auto& entry : named(name))
    if (entry->described->overload == overload) return entry.get();
  return nullptr;
}

std::vector<TorchOperator*> OperatorTable::overloads(std::string_view name) {
  std::vector<TorchOperator*> out;
  for (const auto& entry : named(name)) out.push_back(entry.get());
  return out;
}

std::vector<std::string> OperatorTable::names() {
  std::vector<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) names.push_back(op->schema().name());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

TorchOperator& OperatorTable::of(const torch::jit::Operator& op) {
  for (const auto& entry : named(op.schema().name()))
    if (entry->op.get() == &op) return *entry;
  throw std::logic_error("operator `" + op.schema().name() + "` is not in torch's registry");
}

}  // namespace pt2onnx::frontend
