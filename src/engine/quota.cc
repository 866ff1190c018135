// A provider's usage limit (R4.5): while one task waits for it, further turns on the same account are not begun.
//
// The rule is simple: the same driver with the same address (the agent's option `base_url`) and the same model is the
// same account. They are held until the time that the waiting task has named, or, where it named none, until it goes on
// or is over. What is at work already finds out by itself.
#include <algorithm>

#include "engine/engine_impl.h"

namespace errand {

std::string EngineImpl::account_of(const std::string& agent_id, const std::string& model) const {
  const std::shared_ptr<const Agent> agent = find_agent(agent_id);
  if (!agent) return {};
  const auto address = agent->options.find("base_url");
  return agent->driver + '\n' + (address == agent->options.end() ? std::string() : address->second) + '\n' + model;
}

bool EngineImpl::held_by_quota(const std::string& agent_id, const std::string& model) const {
  if (quota_waits_.empty()) return false;
  const std::string account = account_of(agent_id, model);
  const Time now = parts_.clock.wall();
  return std::ranges::any_of(quota_waits_, [&](const auto& entry) {
    return entry.second.account == account && (!entry.second.until || entry.second.until > now);
  });
}

void EngineImpl::settle_quota(const Live& live) {
  const bool waits_now = !live.removed && live.task->wait && live.task->wait->kind == WaitKind::quota;
  if (!waits_now) {
    if (quota_waits_.erase(live.id) > 0) schedule();
    return;
  }
  const Time until = live.task->wait->until;
  QuotaWait& wait = quota_waits_[live.id];
  wait.account = account_of(live.task->launch.agent_id, live.task->launch.model);
  if (std::exchange(wait.until, until) == until || !until) return;
  // Then the line goes on.
  timers_.add(std::max<Millis>(until - wall(), 0) + 1, [this] { schedule(); });
}

}  // namespace errand
