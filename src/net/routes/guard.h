// Lets a request pass to its handler, or refuses it: by the scopes of whoever asks, and for a task's own token by what
// belongs to that task.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "net/principal.h"
#include "net/routes/context.h"
#include "tools/rights.h"

namespace errand::net {

// What a route asks for before its handler is called.
using Needs = std::optional<Scope>;
// Anybody may, also without a login.
inline constexpr Needs no_login = std::nullopt;
// Any caller with a login may try: what it needs depends on the body, and the handler asks for that (tools/rights.h).
inline constexpr Needs handler_decides = Scope::read;

// `pattern` is the route's. Calls `then` now or later; a refusal answers the call.
void guard(Context& context, Needs needs, std::string_view pattern, Call call,
           std::move_only_function<void(Call)> then);

inline tools::Rights rights_of(const Principal& who) {
  return {.change = who.may(Scope::tasks), .execute = who.may(Scope::exec), .approve = who.may(Scope::approve)};
}

// A refusal answers the call.
bool refused(const Call& call, const Status& status);
bool refused_scope(const Call& call, Scope scope);

// Each caller has its own idempotency keys: a caller never gets the task that another caller's key has made.
std::string key_of(const Principal& who, std::string key);

}  // namespace errand::net
