// How a turn of Claude Code ended, and what somebody can do about it: each failure names the command that mends it.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "driver/claude/wire.h"
#include "driver/driver.h"
#include "driver/line_child/line_child.h"

namespace errand::claude {

// The program's own verdict. `is_error` decides, whatever `subtype` says.
Outcome outcome_of(const Event& result);
// It ended without one: it could not be started, it died, or it refused.
Outcome outcome_of(const lines::End& end);
// The login is missing, wrong or has run out.
Outcome login_required(std::string_view said);

// The account's usage limit (R4.5), which is no failure.
bool is_usage_limit(const Event& result);
// When it ends, where the text of the result says so; never, where it does not.
Time reset_time(std::string_view text);

}  // namespace errand::claude
