// The signature of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 of "id.timestamp.body". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "notify/target.h"

namespace errand::notify {

// "v1,..."; with two secrets while one replaces the other, both, separated by a blank. `now`: wall time, which is
// signed in seconds.
std::string signature(const Target& target, std::string_view id, Time now, std::string_view body);

}  // namespace errand::notify
