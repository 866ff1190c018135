// errand quota: usage limits of providers that hold tasks back.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

int list(Context& context) {
  const Result<std::string> reply = context.client.get("/api/quotas");
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
    return code(Exit::ok);
  }
  const Result<std::vector<QuotaInfo>> quotas = parse_quotas(*reply);
  if (!quotas) return context.screen.fail(quotas.error());
  if (quotas->empty()) context.screen.say("No task waits for a usage limit.");
  for (const QuotaInfo& quota : *quotas) {
    context.screen.out_line(fmt::format("{}  since {}  until {}  {} waiting, {} in line", one_line(quota.account),
                                        format_time(quota.since), format_time(quota.until), quota.waiting,
                                        quota.queued));
    if (!quota.text.empty()) context.screen.out_line("  " + one_line(quota.text));
    for (const std::string& id : quota.tasks) context.screen.out_line("  " + one_line(id));
    const auto more = quota.waiting - static_cast<int64_t>(quota.tasks.size());
    if (more > 0) context.screen.out_line(fmt::format("  and {} more", more));
  }
  return code(Exit::ok);
}

int clear(Context& context, const std::string& account) {
  const Result<std::string> reply = context.client.call(
      "DELETE", "/api/quotas" + (account.empty() ? std::string() : "?account=" + url_encode(account)));
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
    return code(Exit::ok);
  }
  const std::string cleared = member(*reply, "cleared");
  if (cleared == "0")
    context.screen.say("No task waits for a usage limit.");
  else
    context.screen.say(fmt::format("Ended {} usage {}: the waiting tasks ask again now.", cleared,
                                   cleared == "1" ? "limit" : "limits"));
  return code(Exit::ok);
}

}  // namespace

int quota(Context& context, const QuotaArgs& args) { return args.clear ? clear(context, args.account) : list(context); }

}  // namespace errand::cli
