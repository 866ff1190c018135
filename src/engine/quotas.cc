#include "engine/quotas.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace errand {

std::string Account::name() const {
  return driver + (model.empty() ? "" : "/" + model) + (base_url.empty() ? "" : "@" + base_url);
}

Quotas::Quotas(Clock& clock, Timers& timers, AccountOf account_of, std::function<void()> wake)
    : clock_(clock), timers_(timers), account_of_(std::move(account_of)), wake_(std::move(wake)) {}

bool Quotas::hold(const std::string& agent_id, const std::string& model) const {
  if (waits_.empty()) return false;
  const Account account = account_of_(agent_id, model);
  const Time now = clock_.wall();
  return std::ranges::any_of(
      waits_, [&](const auto& entry) { return entry.second.holds(now) && entry.second.account == account; });
}

void Quotas::settle(const Task& task) {
  if (!task.wait || task.wait->kind != WaitKind::quota) {
    if (waits_.erase(task.id) > 0) wake_();
    return;
  }
  Waiting& wait = waits_[task.id];
  const Time now = clock_.wall();
  wait.account = account_of_(task.launch.agent_id, task.launch.model);
  wait.text = task.wait->text;
  const Time since = task.wait->since ? task.wait->since : wait.since ? wait.since : now;
  if (std::exchange(wait.since, since) != since) wait.lifted = false;
  // Also where the clock was set back since.
  Time until = std::min(since, now) + quota_wait_max_ms;
  if (task.wait->until) until = std::min(until, task.wait->until);
  if (std::exchange(wait.until, until) == until) return;
  // Then the line goes on.
  timers_.add(std::max<Millis>(until - now, 0) + 1, [wake = wake_] { wake(); });
}

void Quotas::forget(const TaskId& id) { waits_.erase(id); }

std::vector<Quota> Quotas::list(const QueuedOn& queued_on) const {
  const Time now = clock_.wall();
  std::map<std::string, std::vector<std::pair<Time, TaskId>>> waits;
  std::map<std::string, Quota> found;
  for (const auto& [id, wait] : waits_) {
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
    quota.text = waits_.at(tasks.front().second).text;
    quota.waiting = std::ssize(tasks);
    for (size_t i = 0; i < std::min(tasks.size(), quota_tasks_max); ++i) quota.tasks.push_back(tasks[i].second);
    quota.queued = queued_on({.driver = quota.driver, .model = quota.model, .base_url = quota.base_url});
    out.push_back(std::move(quota));
  }
  std::ranges::sort(out, {}, [](const Quota& quota) { return std::tie(quota.since, quota.account); });
  return out;
}

std::map<std::string, std::vector<TaskId>> Quotas::lift(const std::string& account) {
  const Time now = clock_.wall();
  std::map<std::string, std::vector<TaskId>> lifted;
  for (auto& [id, wait] : waits_) {
    if (!wait.holds(now) || (!account.empty() && wait.account.name() != account)) continue;
    wait.lifted = true;
    lifted[wait.account.name()].push_back(id);
  }
  return lifted;
}

}  // namespace errand
