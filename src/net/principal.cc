#include "net/principal.h"

namespace errand::net {
namespace {

constexpr std::string_view names[] = {"read", "tasks", "exec", "approve", "admin"};

}  // namespace

std::string_view name(Scope scope) { return names[static_cast<size_t>(scope)]; }

std::optional<Scope> parse_scope(std::string_view text) {
  for (int i = 0; i < scope_count; ++i)
    if (names[i] == text) return static_cast<Scope>(i);
  return std::nullopt;
}

bool Scopes::has(Scope scope) const {
  if (bits_ & 1U << static_cast<unsigned>(Scope::admin)) return true;
  return scope == Scope::read ? bits_ != 0 : (bits_ & 1U << static_cast<unsigned>(scope)) != 0;
}

std::vector<Scope> Scopes::list() const {
  std::vector<Scope> out;
  for (int i = 0; i < scope_count; ++i)
    if (bits_ & 1U << i) out.push_back(static_cast<Scope>(i));
  return out;
}

}  // namespace errand::net
