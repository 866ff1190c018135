// Agents: those that were found or set in the file, which nobody changes here, and those that the API has made, which
// are stored and used at once.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine_impl.h"
#include "task/json_in.h"

namespace errand {
namespace {
constexpr std::string_view prefix = "agents/";
constexpr size_t agents_max = 1'000;
}  // namespace

std::vector<Agent> EngineImpl::agents() const {
  std::vector<Agent> out;
  out.reserve(agents_.size());
  for (const auto& agent : agents_) out.push_back(*agent);
  return out;
}

// By its id, else by its name: a configured agent's id is made by the server and cannot hide a name.
std::shared_ptr<const Agent> EngineImpl::find_agent(const std::string& id_or_name) const {
  for (const auto key : {&Agent::id, &Agent::name}) {
    const auto agent = std::ranges::find_if(agents_, [&](const auto& one) { return (*one).*key == id_or_name; });
    if (agent != agents_.end()) return *agent;
  }
  return nullptr;
}

Status EngineImpl::check_agent(const Agent& agent, const std::string& id) const {
  for (const auto& known : agents_)
    if (known->id != id && (known->name == agent.name || known->id == agent.name))
      return fail(Code::conflict, fmt::format("There is an agent \"{}\" already; names are unique.", agent.name),
                  "agent_exists");
  if (!parts_.drivers.contains(agent.driver) || agent.driver == "command") {
    std::string known;
    for (const auto& [name, driver] : parts_.drivers)
      if (name != "command") known += (known.empty() ? "" : ", ") + name;
    return fail(Code::invalid_argument,
                fmt::format("There is no driver \"{}\" for agents; this server has: {}.", agent.driver, known),
                "unknown_driver");
  }
  if (id.empty() && agents_.size() >= agents_max)
    return fail(Code::too_large, fmt::format("This server has {} agents already; remove some.", agents_max));
  return {};
}

void EngineImpl::use_agent(Agent agent) {
  auto shared = std::make_shared<const Agent>(std::move(agent));
  const auto known = std::ranges::find_if(agents_, [&](const auto& one) { return one->id == shared->id; });
  if (known == agents_.end())
    agents_.push_back(std::move(shared));
  else
    *known = std::move(shared);
  use_limits();
}

void EngineImpl::drop_agent(const std::string& id) {
  std::erase_if(agents_, [&](const auto& agent) { return agent->id == id; });
  use_limits();
}

void EngineImpl::put_agent(std::string id, Agent agent, Reply<Agent> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  if (!id.empty()) {
    const std::shared_ptr<const Agent> known = find_agent(id);
    if (!known)
      return answer_later(
          std::move(reply),
          fail(Code::not_found, fmt::format("There is no agent \"{}\"; POST makes a new one.", id), "unknown_agent"));
    if (known->builtin)
      return answer_later(
          std::move(reply),
          fail(Code::conflict,
               fmt::format("\"{}\" was found here or is set in the settings file, and cannot be changed "
                           "through the API; make an agent of your own on the same driver.",
                           known->name),
               "agent_is_fixed"));
    id = known->id;
  }
  if (Status sound = check_agent(agent, id); !sound)
    return answer_later(std::move(reply), std::unexpected(sound.error()));
  agent.id = id.empty() ? ids_.agent().value : id;
  agent.builtin = false;
  Prepared prepared;
  prepared.commit.now = wall();
  prepared.commit.settings.push_back({std::string(prefix) + agent.id, encode_agent(agent)});
  prepared.done = [this, agent, reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    use_agent(agent);
    schedule();
    reply(std::move(agent));
  };
  stage(std::move(prepared));
}

void EngineImpl::remove_agent(std::string id, Reply<void> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  const std::shared_ptr<const Agent> known = find_agent(id);
  if (!known)
    return answer_later(std::move(reply),
                        fail(Code::not_found, fmt::format("There is no agent \"{}\".", id), "unknown_agent"));
  if (known->builtin)
    return answer_later(
        std::move(reply),
        fail(Code::conflict,
             fmt::format("\"{}\" was found here or is set in the settings file, and cannot be removed.", known->name),
             "agent_is_fixed"));
  Prepared prepared;
  prepared.commit.now = wall();
  prepared.commit.settings.push_back({std::string(prefix) + known->id, {}});
  prepared.done = [this, id = known->id, reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    drop_agent(id);
    reply({});
  };
  stage(std::move(prepared));
}

}  // namespace errand
