// Settings that may change while the server runs. What the file, the environment or a flag says is pinned and wins; the
// rest is the default, until it is changed: then it is stored and holds over restarts.
#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_impl.h"
#include "task/json_in.h"

namespace errand {
namespace {

constexpr std::string_view agent_prefix = "agents/";
constexpr std::string_view prefix = "settings/";

}  // namespace

void EngineImpl::use_limits() {
  SlotLimits limits{settings_.max_concurrent, settings_.max_per_agent, settings_.max_per_model};
  // People name an agent; its tasks carry its id.
  for (const auto& [name, limit] : settings_.max_per_agent)
    if (const auto agent = find_agent(name)) limits.per_agent.emplace(agent->id, limit);
  for (const auto& agent : agents_)
    if (agent->max_concurrent > 0) limits.per_agent.emplace(agent->id, agent->max_concurrent);
  slots_.set_limits(std::move(limits));
}

void EngineImpl::use_settings(const SettingsChange& change) {
  change.apply(settings_);
  use_limits();
  if (parts_.settings_changed) parts_.settings_changed(settings_);
}

// At the start: what was changed before, unless it is pinned now.
void EngineImpl::use_stored(const std::vector<Commit::Setting>& stored) {
  SettingsChange change;
  for (const Commit::Setting& setting : stored) {
    const std::string_view name = setting.name;
    if (name.starts_with(agent_prefix)) {
      Result<Agent> agent = decode_agent(setting.json);
      // The file has taken its name meanwhile: the file wins.
      if (agent && check_agent(*agent, agent->id))
        use_agent(std::move(*agent));
      else
        log_warning("engine",
                    fmt::format("the stored agent {} is not used: {}", name.substr(agent_prefix.size()),
                                agent ? check_agent(*agent, agent->id).error().message : agent.error().message));
      continue;
    }
    if (!name.starts_with(prefix)) continue;
    const std::string_view what = name.substr(prefix.size());
    if (std::ranges::find(parts_.pinned, what) != parts_.pinned.end()) continue;
    if (!change.take_stored(what, setting.json))
      log_warning("engine", fmt::format("the stored setting {} is not used", what));
  }
  use_settings(change);
}

void EngineImpl::change_settings(SettingsChange change, Reply<EngineSettings> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  Prepared prepared;
  prepared.commit.now = wall();
  std::string_view pinned;
  for (const Setting* setting : change.given()) {
    if (std::ranges::find(parts_.pinned, setting->wire) != parts_.pinned.end()) pinned = setting->wire;
    prepared.commit.settings.push_back({std::string(prefix) + setting->wire, change.stored(*setting)});
  }
  if (!pinned.empty())
    return answer_later(std::move(reply),
                        fail(Code::conflict,
                             fmt::format("{} is set in errand.toml, in the environment or by a flag of `errand serve`, "
                                         "and holds as long as it is: change it there, or remove it there first.",
                                         pinned),
                             "setting_is_pinned"));
  prepared.done = [this, change = std::move(change), reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    use_settings(change);
    schedule();  // There may be room for more now.
    reply(settings_);
  };
  stage(std::move(prepared));
}

}  // namespace errand
