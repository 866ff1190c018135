// What whoever runs the server may ask for (administration.h), and the settings and agents that were stored before.
// settings.cc has the settings, admin_calls.cc the rest. It decides no task.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/administration.h"
#include "engine/agents.h"
#include "engine/commits.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/quotas.h"
#include "engine/shared.h"
#include "engine/slots.h"

namespace errand {

class AdminCalls final : public Administration {
 public:
  // What it looks at and changes. All outlive it.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Agents& agents;
    Slots& slots;
    Quotas& quotas;
    Lives& lives;
    const Feeds& feeds;
    const Programs* programs = nullptr;  // Null: no driver starts any.
  };
  // `pinned`: settings that cannot be changed here. `settings_changed`: told of each change, and once after use_stored.
  AdminCalls(Rooms rooms, std::vector<std::string> pinned, std::function<void(const EngineSettings&)> settings_changed);

  void put_agent(std::string id, Agent agent, Reply<Agent> reply) override;
  void remove_agent(std::string id, Reply<void> reply) override;
  void grant(std::string id, std::vector<PermissionRule> rules, Reply<Agent> reply) override;
  void revoke(std::string id, Reply<Agent> reply) override;
  void change_settings(SettingsChange change, Reply<EngineSettings> reply) override;
  std::vector<Quota> quotas() const override;
  void clear_quota(std::string account, Reply<int64_t> reply) override;
  std::vector<Agent> agents() const override { return agents_.all(); }
  Capabilities capabilities(const Agent& agent) const override;
  StateCounts counts() const override { return shared_.store.counts(); }
  EngineSettings settings() const override { return shared_.settings; }
  Health health() const override;

  // At the start: what was changed before, unless it is pinned now; and the agents that the API has made.
  void use_stored(const std::vector<Commit::Setting>& stored);

 private:
  void store_granted(Agent agent, Reply<Agent> reply);
  void use_limits() { slots_.set_limits(agents_.limits(shared_.settings)); }
  void use_settings(const SettingsChange& change);

  Shared& shared_;
  Commits& commits_;
  Agents& agents_;
  Slots& slots_;
  Quotas& quotas_;
  Lives& lives_;
  const Feeds& feeds_;
  const Programs* const programs_;
  const std::vector<std::string> pinned_;
  const std::function<void(const EngineSettings&)> settings_changed_;
};

}  // namespace errand
