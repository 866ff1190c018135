// The targets of notifications (notify/target.h) as requests and replies: webhooks, and a phone's own. Strict: see
// fields.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "notify/notifier.h"

namespace errand::api {

// POST /api/webhooks. The address itself is judged by notify::Reach.
Result<notify::Target> parse_webhook(std::string_view body);
// PATCH /api/webhooks/{id}
Result<notify::TargetChange> parse_webhook_change(std::string_view body);

// Without its secrets; of the address only the host.
std::string webhook_reply(const notify::TargetView& view);
// With the secret that signs, which is told once: when it is made.
std::string webhook_reply_with_secret(const notify::TargetView& view);
std::string webhooks_reply(const std::vector<notify::TargetView>& views);
std::string webhook_test_reply(const notify::Outcome& outcome);

// PUT /api/devices/{id}/push: a target without its id.
Result<notify::Target> parse_push(std::string_view body);
// How a phone is told: its rules, and how it goes.
std::string push_reply(const notify::TargetView& view);

}  // namespace errand::api
