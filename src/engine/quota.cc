// A provider's usage limit (R4.5): while one task waits for it, further turns on the same account are not begun.
//
// The rule is simple: the same driver with the same address (the agent's option `base_url`) and the same model is the
// same account. They are held until the time that the waiting task has named, for a day where it named none or a later
// one, and no longer than it waits: when it goes on or is over, the next in line asks for itself. A person can end it
// before (`clear_quota`). What is at work already finds out by itself.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engine/engine_impl.h"

namespace errand {

std::string EngineImpl::Account::name() const {
  return driver + (model.empty() ? "" : "/" + model) + (base_url.empty() ? "" : "@" + base_url);
}

EngineImpl::Account EngineImpl::account_of(const std::string& agent_id, const std::string& model) const {
  const std::shared_ptr<const Agent> agent = find_agent(agent_id);
  if (!agent) return {};
  const auto address = agent->options.find("base_url");
  return {.driver = agent->driver,
          .model = model,
          .base_url = address == agent->options.end() ? std::string() : address->second};
}

bool EngineImpl::held_by_quota(const std::string& agent_id, const std::string& model) const {
  if (quota_waits_.empty()) return false;
  const Account account = account_of(agent_id, model);
  const Time now = parts_.clock.wall();
  return std::ranges::any_of(
      quota_waits_, [&](const auto& entry) { return entry.second.holds(now) && entry.second.account == account; });
}

void EngineImpl::settle_quota(const Live& live) {
  const bool waits_now = !live.removed && live.task->wait && live.task->wait->kind == WaitKind::quota;
  if (!waits_now) {
    if (quota_waits_.erase(live.id) > 0) schedule();
    return;
  }
  QuotaWait& wait = quota_waits_[live.id];
  wait.account = account_of(live.task->launch.agent_id, live.task->launch.model);
  const Time since = live.task->wait->since ? live.task->wait->since : wait.since ? wait.since : wall();
  if (std::exchange(wait.since, since) != since) wait.lifted = false;
  // Also where the clock was set back since.
  Time until = std::min(since, wall()) + quota_wait_max_ms;
  if (live.task->wait->until) until = std::min(until, live.task->wait->until);
  if (std::exchange(wait.until, until) == until) return;
  // Then the line goes on.
  timers_.add(std::max<Millis>(until - wall(), 0) + 1, [this] { schedule(); });
}

std::vector<Quota> EngineImpl::quotas() const {
  const Time now = parts_.clock.wall();
  std::map<std::string, std::vector<std::pair<Time, TaskId>>> waits;
  std::map<std::string, Quota> found;
  for (const auto& [id, wait] : quota_waits_) {
    if (!wait.holds(now)) continue;
    Quota& quota = found[wait.account.name()];
    quota.driver = wait.account.driver;
    quota.model = wait.account.model;
    quota.base_url = wait.account.base_url;
    quota.until = std::max(quota.until, wait.until);
    waits[wait.account.name()].emplace_back(wait.since, id);
  }
  std::vector<Quota> out;
  out.reserve(found.size());
  for (auto& [name, quota] : found) {
    auto& tasks = waits[name];
    std::ranges::sort(tasks);
    quota.account = name;
    quota.since = tasks.front().first;
    if (const LivePtr first = find_live(tasks.front().second); first && first->task && first->task->wait)
      quota.text = first->task->wait->text;
    quota.waiting = std::ssize(tasks);
    for (size_t i = 0; i < std::min(tasks.size(), quota_tasks_max); ++i) quota.tasks.push_back(tasks[i].second);
    const Account account{.driver = quota.driver, .model = quota.model, .base_url = quota.base_url};
    quota.queued = slots_.queued(
        [&](const std::string& agent, const std::string& model) { return account_of(agent, model) == account; });
    out.push_back(std::move(quota));
  }
  std::ranges::sort(out, {}, [](const Quota& quota) { return std::tie(quota.since, quota.account); });
  return out;
}

void EngineImpl::clear_quota(std::string account, Reply<int64_t> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  std::map<std::string, std::vector<LivePtr>> lifted;
  for (auto& [id, wait] : quota_waits_) {
    if (!wait.holds(wall()) || (!account.empty() && wait.account.name() != account)) continue;
    wait.lifted = true;
    if (LivePtr live = find_live(id)) lifted[wait.account.name()].push_back(std::move(live));
  }
  if (lifted.empty() && !account.empty())
    return answer_later(
        std::move(reply),
        fail(Code::not_found,
             fmt::format("No usage limit of \"{}\" holds anything back; `errand quota` lists those that do.", account),
             "no_quota"));
  schedule();
  struct State {
    Reply<int64_t> reply;
    int64_t cleared = 0;
    size_t left = 1;
    Status status;
    void one_done(const Status& stored) {
      if (!stored && stored.error().code != Code::not_found) status = stored;
      if (--left > 0) return;
      if (status)
        reply(cleared);
      else
        reply(std::unexpected(status.error()));
    }
  };
  auto state = std::make_shared<State>(std::move(reply), std::ssize(lifted));
  for (const auto& [name, lives] : lifted)
    for (const LivePtr& live : lives) {
      // What cannot be told waits on. What is just being taken up after a restart is told when it is there.
      const bool told = live->turn != nullptr;
      if (told && !live->turn->lift_quota()) continue;
      ++state->left;
      Action action{.input = input::GoesOn{live->task->run}};
      action.reply = [state, live, told](const Result<TaskPtr>& stored) {
        if (stored && !told && live->turn) live->turn->lift_quota();
        state->one_done(stored ? Status() : std::unexpected(stored.error()));
      };
      submit(live, std::move(action));
    }
  // Answered later, also where nothing has to be stored.
  parts_.loop.post([alive = std::weak_ptr(alive_), state] {
    if (!alive.expired()) state->one_done({});
  });
}

}  // namespace errand
