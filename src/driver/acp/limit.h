// Whether an agent's error is a usage limit of its account (R4.5), and when that ends. The protocol has no word for it,
// so it is read from what agents say: a status, a provider's own names, or words. Pure.
#pragma once

#include <optional>

#include "base/time.h"
#include "driver/acp/wire.h"

namespace errand::acp {

struct Limit {
  Time until;  // Wall time; never: it does not say.
};
// Nothing: it is another error.
std::optional<Limit> limit_in(const RpcError& error, Time now);

}  // namespace errand::acp
