// Usage limits, as people see and end them.
#include <fmt/format.h>

#include "engine/engine_impl.h"

namespace errand {

Account EngineImpl::account_of(const std::string& agent_id, const std::string& model) const {
  const std::shared_ptr<const Agent> agent = find_agent(agent_id);
  if (!agent) return {};
  const auto address = agent->options.find("base_url");
  return {.driver = agent->driver,
          .model = model,
          .base_url = address == agent->options.end() ? std::string() : address->second};
}

std::vector<Quota> EngineImpl::quotas() const {
  return quotas_.list([this](const Account& account) {
    return slots_.queued(
        [&](const std::string& agent, const std::string& model) { return account_of(agent, model) == account; });
  });
}

void EngineImpl::clear_quota(std::string account, Reply<int64_t> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  const std::map<std::string, std::vector<TaskId>> lifted = quotas_.lift(account);
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
  for (const auto& [name, tasks] : lifted)
    for (const TaskId& id : tasks) {
      const LivePtr live = find_live(id);
      if (!live) continue;
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
