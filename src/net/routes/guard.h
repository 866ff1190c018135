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

// What a route asks for; nothing: anybody may.
using Needs = std::optional<Scope>;
inline constexpr Needs anybody = std::nullopt;

// `pattern` is the route's. Calls `then` now or later; a refusal answers the call.
void guard(Context& context, Needs needs, std::string_view pattern, Call call,
           std::move_only_function<void(Call)> then);

inline tools::Rights rights_of(const Principal& who) {
  return {.change = who.may(Scope::tasks), .execute = who.may(Scope::exec), .approve = who.may(Scope::approve)};
}

// A refusal answers the call.
bool refused(const Call& call, const Status& status);
bool refused_scope(const Call& call, Scope scope);

// Each caller's keys are its own: nobody is shown what another one's key has made.
std::string key_of(const Principal& who, std::string key);

}  // namespace errand::net
