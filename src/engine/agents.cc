#include "engine/agents.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/engine.h"

namespace errand {
namespace {
constexpr size_t agents_max = 1'000;
}  // namespace

Agents::Agents(std::map<std::string, Driver*> drivers, std::vector<Agent> agents) : drivers_(std::move(drivers)) {
  for (Agent& agent : agents) agents_.push_back(std::make_shared<const Agent>(std::move(agent)));
}

std::vector<Agent> Agents::all() const {
  std::vector<Agent> out;
  out.reserve(agents_.size());
  for (const auto& agent : agents_) out.push_back(*agent);
  return out;
}

// By its id, else by its name: a configured agent's id is made by the server and cannot hide a name.
std::shared_ptr<const Agent> Agents::find(const std::string& id_or_name) const {
  for (const auto key : {&Agent::id, &Agent::name}) {
    const auto agent = std::ranges::find_if(agents_, [&](const auto& one) { return (*one).*key == id_or_name; });
    if (agent != agents_.end()) return *agent;
  }
  return nullptr;
}

Status Agents::check(const Agent& agent, const std::string& id) const {
  for (const auto& known : agents_)
    if (known->id != id && (known->name == agent.name || known->id == agent.name))
      return fail(Code::conflict, fmt::format("An agent named \"{}\" already exists. Choose another name.", agent.name),
                  "agent_exists");
  if (!drivers_.contains(agent.driver) || agent.driver == "command") {
    std::string known;
    for (const auto& [name, driver] : drivers_)
      if (name != "command") known += (known.empty() ? "" : ", ") + name;
    return fail(Code::invalid_argument,
                fmt::format("There is no driver \"{}\" for agents; this server has: {}.", agent.driver, known),
                "unknown_driver");
  }
  if (id.empty() && agents_.size() >= agents_max)
    return fail(Code::too_large, fmt::format("This server has {} agents already; remove some.", agents_max));
  return {};
}

void Agents::use(Agent agent) {
  auto shared = std::make_shared<const Agent>(std::move(agent));
  const auto known = std::ranges::find_if(agents_, [&](const auto& one) { return one->id == shared->id; });
  if (known == agents_.end())
    agents_.push_back(std::move(shared));
  else
    *known = std::move(shared);
}

void Agents::drop(const std::string& id) {
  std::erase_if(agents_, [&](const auto& agent) { return agent->id == id; });
}

std::string Agents::usable() const {
  std::string names;
  for (const auto& agent : agents_)
    if (agent->driver != "command" && agent->unavailable.empty()) names += (names.empty() ? "" : ", ") + agent->id;
  return names;
}

Driver* Agents::driver(const std::string& name) const {
  const auto driver = drivers_.find(name);
  return driver == drivers_.end() ? nullptr : driver->second;
}

Driver* Agents::driver_of(const Task& task) const {
  const std::shared_ptr<const Agent> agent = find(task.launch.agent_id);
  return agent == nullptr ? nullptr : driver(agent->driver);
}

std::string Agents::first_mark(const Task& task) const {
  const Driver* const driver = driver_of(task);
  return driver != nullptr ? driver->first_mark() : std::string();
}

Account Agents::account_of(const std::string& agent_id, const std::string& model) const {
  const std::shared_ptr<const Agent> agent = find(agent_id);
  if (!agent) return {};
  const auto address = agent->options.find("base_url");
  return {.driver = agent->driver,
          .model = model,
          .base_url = address == agent->options.end() ? std::string() : address->second};
}

SlotLimits Agents::limits(const EngineSettings& settings) const {
  SlotLimits limits{settings.max_concurrent, settings.max_per_agent, settings.max_per_model};
  // People name an agent; its tasks carry its id.
  for (const auto& [name, limit] : settings.max_per_agent)
    if (const auto agent = find(name)) limits.per_agent.emplace(agent->id, limit);
  for (const auto& agent : agents_)
    if (agent->max_concurrent > 0) limits.per_agent.emplace(agent->id, agent->max_concurrent);
  return limits;
}

}  // namespace errand
