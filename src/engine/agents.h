// Agents: those that were found or set in the file, which nobody changes here, and those that the API has made; and the
// drivers that run them. Those of the API are stored by whoever calls use() and drop().
//
// Bookkeeping only. Engine thread only; an agent that was given out stays as it is, whatever becomes of the list.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "engine/quotas.h"
#include "engine/slots.h"
#include "task/agent.h"

namespace errand {

struct EngineSettings;

class Agents {
 public:
  // The drivers, by name, outlive this.
  Agents(std::map<std::string, Driver*> drivers, std::vector<Agent> agents);

  std::vector<Agent> all() const;
  // By its id, else by its name; null where there is none.
  std::shared_ptr<const Agent> find(const std::string& id_or_name) const;
  // Those that a launch may name, for people: "demo, coder".
  std::string usable() const;
  const std::map<std::string, Driver*>& drivers() const { return drivers_; }
  // Null: it is not here.
  Driver* driver(const std::string& name) const;
  // Of the task's agent; null where that, or its driver, is no longer here.
  Driver* driver_of(const Task& task) const;
  // The checkpoint of the run with which this task begins to work now; empty where its driver wants none.
  std::string first_mark(const Task& task) const;
  // Whose usage limits turns of this agent and model meet.
  Account account_of(const std::string& agent_id, const std::string& model) const;
  // How many may work at once, by these settings and by what the agents say of themselves.
  SlotLimits limits(const EngineSettings& settings) const;

  // May this one be new (empty id), or take the place of the one with this id? conflict, invalid_argument, too_large.
  Status check(const Agent& agent, const std::string& id) const;
  // It is in the list from now on, instead of the one with its id.
  void use(Agent agent);
  void drop(const std::string& id);

 private:
  const std::map<std::string, Driver*> drivers_;
  std::vector<std::shared_ptr<const Agent>> agents_;
};

}  // namespace errand
