#include "interpreter/journal.h"

namespace pt2onnx {
namespace {

const void* identity(const StateRef& state) {
  return std::visit([](const auto& pointer) { return static_cast<const void*>(pointer.get()); }, state);
}

Snapshot snapshot(const StateRef& state) {
  return std::visit([&](const auto& pointer) { return Snapshot{state, *pointer}; }, state);
}

}  // namespace

void assign(const StateRef& state, const Snapshot& from) {
  std::visit(
      [&](const auto& pointer) {
        using State = std::decay_t<decltype(*pointer)>;
        *pointer = std::get<State>(from.content);
      },
      state);
}

void Journal::touch(StateRef state) {
  if (scopes_.empty()) return;
  Scope& scope = scopes_.back();
  const bool born_inside =
      std::visit([&](const auto& pointer) { return pointer->birth.after(scope.opened); }, state);
  if (born_inside) return;
  if (scope.seen.try_emplace(identity(state), scope.originals.size()).second)
    scope.originals.push_back(snapshot(state));
}

std::vector<StateRef> Journal::touched() const {
  std::vector<StateRef> states;
  for (const Snapshot& original : scopes_.back().originals) states.push_back(original.state);
  return states;
}

bool Journal::rewritten(const Storage& storage) const {
  const Scope& scope = scopes_.back();
  const auto it = scope.seen.find(&storage);
  return it != scope.seen.end() &&
         std::get<Storage>(scope.originals[it->second].content).version != storage.version;
}

std::vector<Snapshot> Journal::close() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<Snapshot> finals;
  finals.reserve(scope.originals.size());
  for (const Snapshot& original : scope.originals) finals.push_back(snapshot(original.state));
  for (const Snapshot& original : scope.originals) assign(original.state, original);
  return finals;
}

void Journal::unwind(std::size_t depth) {
  while (scopes_.size() > depth) close();
}

}  // namespace pt2onnx
