// Settings that may change while the server runs. What the file, the environment or a flag says is pinned and wins; the
// rest is the default, until it is changed: then it is stored and holds over restarts.
#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/admin_calls.h"
#include "task/json_in.h"

namespace errand {
namespace {

constexpr std::string_view agent_prefix = "agents/";
constexpr std::string_view granted_prefix = "granted/";
constexpr std::string_view prefix = "settings/";

}  // namespace

void AdminCalls::use_settings(const SettingsChange& change) {
  change.apply(shared_.settings);
  use_limits();
  if (settings_changed_) settings_changed_(shared_.settings);
}

// At the start: what was changed before, unless it is pinned now.
void AdminCalls::use_stored(const std::vector<Commit::Setting>& stored) {
  SettingsChange change;
  for (const Commit::Setting& setting : stored) {
    const std::string_view name = setting.name;
    if (name.starts_with(agent_prefix)) {
      Result<Agent> agent = decode_agent(setting.json);
      // The file has taken its name meanwhile: the file wins.
      if (agent && agents_.check(*agent, agent->id))
        agents_.use(std::move(*agent));
      else
        log_warning("engine",
                    fmt::format("the stored agent {} is not used: {}", name.substr(agent_prefix.size()),
                                agent ? agents_.check(*agent, agent->id).error().message : agent.error().message));
      continue;
    }
    if (name.starts_with(granted_prefix)) {
      const Result<Agent> kept = decode_agent(setting.json);
      const std::shared_ptr<const Agent> known = kept ? agents_.find(kept->id) : nullptr;
      if (known == nullptr) continue;  // It is not here now; what was allowed to it stays stored.
      Agent agent = *known;
      agent.granted = kept->permission_rules;
      agents_.use(std::move(agent));
      continue;
    }
    if (!name.starts_with(prefix)) continue;
    const std::string_view what = name.substr(prefix.size());
    if (std::ranges::find(pinned_, what) != pinned_.end()) continue;
    if (!change.take_stored(what, setting.json))
      log_warning("engine", fmt::format("the stored setting {} is not used", what));
  }
  use_settings(change);
}

void AdminCalls::change_settings(SettingsChange change, Reply<EngineSettings> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  Commit commit;
  std::string_view pinned;
  for (const Setting* setting : change.given()) {
    if (std::ranges::find(pinned_, setting->wire) != pinned_.end()) pinned = setting->wire;
    commit.settings.push_back({std::string(prefix) + setting->wire, change.stored(*setting)});
  }
  if (!pinned.empty())
    return shared_.answer_later(
        std::move(reply),
        fail(Code::conflict,
             fmt::format("{} is set in errand.toml, in the environment or by a flag of `errand serve`. "
                         "Change it there, or remove it there first.",
                         pinned),
             "setting_is_pinned"));
  commits_.store(std::move(commit),
                 [this, change = std::move(change), reply = std::move(reply)](Result<Committed> stored) mutable {
                   if (!stored) return reply(std::unexpected(stored.error()));
                   use_settings(change);
                   shared_.schedule();  // There may be room for more now.
                   reply(shared_.settings);
                 });
}

}  // namespace errand
