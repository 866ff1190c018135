#include "engine/admin_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "driver/driver.h"
#include "task/json_in.h"

namespace errand {
namespace {
constexpr std::string_view agent_prefix = "agents/";
constexpr std::string_view granted_prefix = "granted/";

std::unexpected<Error> no_agent(const std::string& id) {
  return fail(Code::not_found, fmt::format("There is no agent \"{}\".", id), "unknown_agent");
}
}  // namespace

AdminCalls::AdminCalls(Rooms rooms, std::vector<std::string> pinned,
                       std::function<void(const EngineSettings&)> settings_changed)
    : shared_(rooms.shared),
      commits_(rooms.commits),
      agents_(rooms.agents),
      slots_(rooms.slots),
      quotas_(rooms.quotas),
      lives_(rooms.lives),
      feeds_(rooms.feeds),
      programs_(rooms.programs),
      pinned_(std::move(pinned)),
      settings_changed_(std::move(settings_changed)) {
  slots_.set_limits(agents_.limits(shared_.settings));
}

void AdminCalls::put_agent(std::string id, Agent agent, Reply<Agent> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  if (!id.empty()) {
    const std::shared_ptr<const Agent> known = agents_.find(id);
    if (!known)
      return shared_.answer_later(
          std::move(reply),
          fail(Code::not_found, fmt::format("There is no agent \"{}\"; POST makes a new one.", id), "unknown_agent"));
    if (known->builtin)
      return shared_.answer_later(
          std::move(reply),
          fail(Code::conflict,
               fmt::format(
                   "\"{}\" ships with errand or is set in errand.toml, so the API cannot change it. Make an agent of "
                   "your own on the same driver.",
                   known->name),
               "agent_is_fixed"));
    id = known->id;
    agent.granted = known->granted;
  }
  if (Status sound = agents_.check(agent, id); !sound)
    return shared_.answer_later(std::move(reply), std::unexpected(sound.error()));
  agent.id = id.empty() ? shared_.ids.agent().value : id;
  agent.builtin = false;
  Commit commit;
  commit.settings.push_back({std::string(agent_prefix) + agent.id, encode_agent(agent)});
  commits_.store(std::move(commit), [this, agent, reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    agents_.use(agent);
    use_limits();
    shared_.schedule();
    reply(std::move(agent));
  });
}

void AdminCalls::remove_agent(std::string id, Reply<void> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  const std::shared_ptr<const Agent> known = agents_.find(id);
  if (!known) return shared_.answer_later(std::move(reply), no_agent(id));
  if (known->builtin)
    return shared_.answer_later(
        std::move(reply),
        fail(
            Code::conflict,
            fmt::format("\"{}\" ships with errand or is set in errand.toml, so the API cannot remove it.", known->name),
            "agent_is_fixed"));
  Commit commit;
  commit.settings.push_back({std::string(agent_prefix) + known->id, {}});
  commit.settings.push_back({std::string(granted_prefix) + known->id, {}});
  commits_.store(std::move(commit), [this, id = known->id, reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    agents_.drop(id);
    use_limits();
    reply({});
  });
}

void AdminCalls::grant(std::string id, std::vector<PermissionRule> rules, Reply<Agent> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  const std::shared_ptr<const Agent> known = agents_.find(id);
  if (!known) return shared_.answer_later(std::move(reply), no_agent(id));
  Agent agent = *known;
  for (PermissionRule& rule : rules)
    if (std::ranges::find(agent.granted, rule) == agent.granted.end()) agent.granted.push_back(std::move(rule));
  if (agent.granted.size() > granted_max)
    return shared_.answer_later(std::move(reply),
                                fail(Code::too_large, fmt::format("\"{}\" has {} grants already; take some back first.",
                                                                  agent.name, granted_max)));
  store_granted(std::move(agent), std::move(reply));
}

void AdminCalls::revoke(std::string id, Reply<Agent> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  const std::shared_ptr<const Agent> known = agents_.find(id);
  if (!known) return shared_.answer_later(std::move(reply), no_agent(id));
  Agent agent = *known;
  agent.granted.clear();
  store_granted(std::move(agent), std::move(reply));
}

// As an agent that has nothing else: it is put to the agent that is there, found or made.
void AdminCalls::store_granted(Agent agent, Reply<Agent> reply) {
  Agent kept{.id = agent.id, .name = agent.name, .driver = agent.driver};
  kept.permission_rules = agent.granted;
  Commit commit;
  commit.settings.push_back(
      {std::string(granted_prefix) + agent.id, agent.granted.empty() ? std::string() : encode_agent(kept)});
  commits_.store(std::move(commit),
                 [this, agent = std::move(agent), reply = std::move(reply)](Result<Committed> stored) mutable {
                   if (!stored) return reply(std::unexpected(stored.error()));
                   agents_.use(agent);
                   reply(std::move(agent));
                 });
}

std::vector<Quota> AdminCalls::quotas() const {
  return quotas_.list([this](const Account& account) {
    return slots_.queued([&](const std::string& agent, const std::string& model) {
      return agents_.account_of(agent, model) == account;
    });
  });
}

void AdminCalls::clear_quota(std::string account, Reply<int64_t> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  const std::map<std::string, std::vector<TaskId>> lifted = quotas_.lift(account);
  if (lifted.empty() && !account.empty())
    return shared_.answer_later(
        std::move(reply),
        fail(Code::not_found,
             fmt::format("No task waits for a usage limit of \"{}\". `errand quota` lists the limits.", account),
             "no_quota"));
  shared_.schedule();
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
      const LivePtr live = lives_.find(id);
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
      lives_.submit(live, std::move(action));
    }
  // Answered later, also where nothing has to be stored.
  shared_.later([state] { state->one_done({}); });
}

Capabilities AdminCalls::capabilities(const Agent& agent) const {
  const Driver* const driver = agents_.driver(agent.driver);
  return driver == nullptr ? Capabilities() : driver->capabilities();
}

Health AdminCalls::health() const {
  Health health;
  if (programs_ != nullptr) {
    const Programs::Sum at_work = programs_->at_work(), waiting = programs_->waiting();
    health.programs = at_work.count;
    health.programs_bytes = at_work.memory_bytes;
    health.programs_waiting = waiting.count;
    health.programs_waiting_bytes = waiting.memory_bytes;
  }
  health.running = slots_.running();
  health.queued = slots_.queued();
  health.working = lives_.working();
  health.inbox = std::max<int64_t>(commits_.waiting(), shared_.backlog->inputs);
  health.inbox_bytes = shared_.backlog->bytes;
  health.streams = feeds_.readers();
  health.feeds = feeds_.size();
  health.commits = commits_.stored();
  health.events = commits_.events();
  health.recovering = shared_.recovering;
  health.draining = shared_.draining;
  return health;
}

}  // namespace errand
