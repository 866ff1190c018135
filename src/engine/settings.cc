// Settings that may change while the server runs. What the file, the environment or a flag says is pinned and wins; the
// rest is the default, until it is changed: then it is stored and holds over restarts.
#include <algorithm>

#include <fmt/format.h>

#include "base/fields.h"
#include "base/json_out.h"
#include "base/log.h"
#include "engine/admin_calls.h"
#include "task/json_in.h"

namespace errand {
namespace {

constexpr std::string_view agent_prefix = "agents/";
constexpr std::string_view prefix = "settings/";
constexpr size_t limits_max = 1'000;

// Each of a change's settings that is given, by its name: visit(name, write).
template <class Visit>
void each_given(const SettingsChange& change, Visit visit) {
  const auto number = [&](const char* name, const auto& value) {
    if (value) visit(name, [&](JsonOut& out) { out.value(*value); });
  };
  number("max_concurrent", change.max_concurrent);
  const auto table = [&](const char* name, const std::optional<std::map<std::string, int>>& value) {
    if (!value) return;
    visit(name, [&](JsonOut& out) {
      out.object();
      for (const auto& [key, limit] : *value) out.field(key, limit);
      out.end();
    });
  };
  table("max_per_agent", change.max_per_agent);
  table("max_per_model", change.max_per_model);
  number("idle_timeout_s", change.idle_timeout_ms);
  number("retention_s", change.retention_ms);
  number("ask_timeout_s", change.ask_timeout_ms);
  number("wake", change.wake);
  number("loop_max", change.loop_max);
  number("tools_family", change.tools_family);
  number("fork_tool_result_chars", change.fork_tool_result_chars);
  number("fork_tokens", change.fork_tokens);
  if (change.fork_profile) visit("fork_profile", [&](JsonOut& out) { out.value(name(*change.fork_profile)); });
}

// One stored setting: {"value": ...}; durations in milliseconds.
bool read_stored(std::string_view name, Fields& fields, SettingsChange& into) {
  const auto number = [&](auto& value, int64_t least, int64_t most) {
    fields.integer("value", value.emplace(), least, most);
  };
  constexpr auto ms_max = static_cast<Millis>(seconds_max * 1'000);
  if (name == "max_concurrent") {
    number(into.max_concurrent, 1, 10'000);
  } else if (name == "max_per_agent") {
    fields.numbers("value", into.max_per_agent.emplace(), limits_max, 1, 10'000);
  } else if (name == "max_per_model") {
    fields.numbers("value", into.max_per_model.emplace(), limits_max, 1, 10'000);
  } else if (name == "idle_timeout_s") {
    number(into.idle_timeout_ms, 0, ms_max);
  } else if (name == "retention_s") {
    number(into.retention_ms, 0, ms_max);
  } else if (name == "ask_timeout_s") {
    number(into.ask_timeout_ms, 0, ms_max);
  } else if (name == "wake") {
    fields.flag("value", into.wake.emplace());
  } else if (name == "loop_max") {
    number(into.loop_max, 0, 1'000);
  } else if (name == "tools_family") {
    fields.text("value", into.tools_family.emplace(), {});
  } else if (name == "fork_tool_result_chars") {
    number(into.fork_tool_result_chars, 0, 10'000'000);
  } else if (name == "fork_tokens") {
    number(into.fork_tokens, fork::tokens_min, 100'000'000);
  } else if (name == "fork_profile") {
    fields.name_of("value", into.fork_profile.emplace(), fork::parse_profile, "plain or tiered");
  } else {
    return false;  // Of a newer errand: left as it is.
  }
  return !fields.failed();
}

}  // namespace

void AdminCalls::use_settings(const SettingsChange& change) {
  const auto use = [](auto& setting, const auto& value) {
    if (value) setting = *value;
  };
  use(shared_.settings.max_concurrent, change.max_concurrent);
  use(shared_.settings.max_per_agent, change.max_per_agent);
  use(shared_.settings.max_per_model, change.max_per_model);
  use(shared_.settings.idle_timeout_ms, change.idle_timeout_ms);
  use(shared_.settings.retention_ms, change.retention_ms);
  use(shared_.settings.ask_timeout_ms, change.ask_timeout_ms);
  use(shared_.settings.wake, change.wake);
  use(shared_.settings.loop_max, change.loop_max);
  use(shared_.settings.tools_family, change.tools_family);
  use(shared_.settings.fork.tool_result_chars, change.fork_tool_result_chars);
  use(shared_.settings.fork.tokens, change.fork_tokens);
  use(shared_.settings.fork.profile, change.fork_profile);
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
    if (!name.starts_with(prefix)) continue;
    const std::string_view what = name.substr(prefix.size());
    if (std::ranges::find(pinned_, what) != pinned_.end()) continue;
    const Result<Document> document = Document::parse(setting.json);
    SettingsChange read = change;
    if (document) {
      Fields fields(document->value());
      if (read_stored(what, fields, read)) {
        change = std::move(read);
        continue;
      }
    }
    log_warning("engine", fmt::format("the stored setting {} is not used", what));
  }
  use_settings(change);
}

void AdminCalls::change_settings(SettingsChange change, Reply<EngineSettings> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  Commit commit;
  std::string pinned;
  each_given(change, [&](const char* name, const auto& write) {
    if (std::ranges::find(pinned_, name) != pinned_.end()) pinned = name;
    Commit::Setting& setting = commit.settings.emplace_back(std::string(prefix) + name);
    JsonOut out(setting.json);
    out.object().key("value");
    write(out);
    out.end();
  });
  if (!pinned.empty())
    return shared_.answer_later(
        std::move(reply),
        fail(Code::conflict,
             fmt::format("{} is set in errand.toml, in the environment or by a flag of `errand serve`, "
                         "and holds as long as it is: change it there, or remove it there first.",
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
