// A task's own work tree as it is on the wire.
#pragma once

#include <optional>

#include "base/json_out.h"
#include "task/isolation.h"

namespace errand {

// The key `isolation` and its value; null where there is none.
void write_isolation(JsonOut& out, const std::optional<Isolation>& isolation);

}  // namespace errand
