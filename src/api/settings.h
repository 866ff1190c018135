// Settings as requests and replies. Which there are is the table's business (settings/table.h).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "settings/change.h"

namespace errand::api {

// PATCH /api/settings: what is to change. Strict: see fields.h. A setting is understood by either of its names; one
// that is only read at the start is refused with the reason `fixed_setting`.
Result<SettingsChange> parse_settings_change(std::string_view body);

// GET /api/settings.
std::string settings_reply(const EngineSettings& settings);

}  // namespace errand::api
