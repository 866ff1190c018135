#include "api/agents.h"

#include <algorithm>
#include <cctype>

#include "api/fields.h"
#include "api/launch.h"
#include "base/json_out.h"
#include "base/text.h"
#include "task/json.h"

namespace errand::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 100, .one_line = true};
constexpr TextRule prose{.bytes_max = 1u << 20, .may_be_blank = true};

// A key is never stored (R12.2): whoever writes one here has mistaken the place.
bool names_a_secret(std::string_view option) {
  if (option.ends_with("_env")) return false;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"key", "token", "secret", "password"},
      [&](std::string_view word) { return option == word || option.ends_with("_" + std::string(word)); });
}

void read_options(Fields& fields, Agent& agent) {
  fields.map("options", agent.options, 100, {.bytes_max = 4096, .may_be_blank = true});
  for (const auto& [name, value] : agent.options)
    if (names_a_secret(name))
      fields.refuse("options",
                    "must not hold keys, which are never stored: give it to the server in its environment, "
                    "and name the variable with a name that ends in _env");
}

// The program of an agent over ACP: kept among its options, as a list.
void read_command(Fields& fields, Agent& agent) {
  std::vector<std::string> words;
  fields.texts("command", words, 100, {.bytes_max = 4096, .may_be_blank = true});
  if (!words.empty()) {
    std::string& text = agent.options["command"];
    text.clear();
    JsonOut out(text);
    out.array();
    for (const std::string& word : words) out.value(word);
    out.end();
  }
  if (agent.driver == "acp" && !agent.options.contains("command"))
    fields.refuse("command", "must be given for the driver acp: a list of words, such as [\"goose\", \"acp\"]",
                  "missing_field");
}

void write_rules(JsonOut& out, const std::vector<PermissionRule>& rules) {
  out.key("permission_rules").array();
  for (const PermissionRule& rule : rules) {
    out.object().field("tool", rule.tool).field("pattern", rule.pattern);
    out.field("decision", name(rule.decision)).end();
  }
  out.end();
}

void number_or_null(JsonOut& out, std::string_view field, auto value) {
  out.key(field);
  if (value > 0) {
    out.value(value);
  } else {
    out.null();
  }
}

double seconds(Millis span) { return static_cast<double>(span) / 1000; }

void write_agent(JsonOut& out, const Agent& agent) {
  out.object().field("id", agent.id).field("name", agent.name).field("driver", agent.driver);
  out.text_or_null("model", agent.model);
  out.text_or_null("description", agent.description);
  out.field("builtin", agent.builtin).key("permission");
  if (agent.permission) {
    out.value(name(*agent.permission));
  } else {
    out.null();
  }
  write_rules(out, agent.permission_rules);
  number_or_null(out, "max_concurrent", agent.max_concurrent);
  out.text_or_null("prompt", agent.prompt);
  out.key("tools").array();
  for (const std::string& tool : agent.tools) out.value(tool);
  out.end();
  out.key("limits");
  write_limits(out, agent.limits);
  out.key("budget");
  write_budget(out, agent.budget);
  number_or_null(out, "max_steps", agent.max_steps);
  out.field("enable_skills", agent.enable_skills).field("enable_mcp", agent.enable_mcp);
  out.key("options").object();
  for (const auto& [option, value] : agent.options) out.field(option, value);
  out.end();
  out.field("available", agent.unavailable.empty()).text_or_null("unavailable_reason", agent.unavailable);
  out.end();
}

void write_slots(JsonOut& out, std::string_view field, const std::map<std::string, int>& limits) {
  out.key(field).object();
  for (const auto& [key, limit] : limits) out.field(key, limit);
  out.end();
}

// null or 0 says "none".
void seconds_or_none(Fields& fields, const char* name, std::optional<Millis>& into) {
  if (!fields.has(name)) return;
  fields.seconds_or_none(name, into.emplace());
  into = std::max<Millis>(*into, 0);
}

}  // namespace

Result<Agent> parse_agent(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Agent agent{.builtin = false};
  Fields fields(document->value());
  if (!fields.has("name")) fields.refuse("name", "must be given", "missing_field");
  if (!fields.has("driver"))
    fields.refuse("driver", "must be given: GET /api/agents shows those in use", "missing_field");
  fields.text("name", agent.name, name_rule);
  const bool plain = std::ranges::all_of(
      agent.name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80; });
  if (!plain || agent.name.starts_with("agent_"))
    fields.refuse("name", "must be made of letters, digits and _ - . and not begin with `agent_`");
  fields.text("driver", agent.driver, name_rule);
  fields.text("model", agent.model, name_rule);
  fields.text("description", agent.description, {.bytes_max = 4096, .may_be_blank = true});
  fields.text("prompt", agent.prompt, prose);
  fields.texts("tools", agent.tools, 1'000, name_rule);
  fields.integer("max_concurrent", agent.max_concurrent, 0, 10'000);
  fields.integer("max_steps", agent.max_steps, 0, 1'000'000);
  fields.flag("enable_skills", agent.enable_skills);
  fields.flag("enable_mcp", agent.enable_mcp);
  read_options(fields, agent);
  read_command(fields, agent);
  read_permission(fields, agent.permission, agent.permission_rules);
  read_limits(fields, agent.limits);
  read_budget(fields, agent.budget);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return agent;
}

Result<SettingsChange> parse_settings_change(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  SettingsChange change;
  Fields fields(document->value());
  if (fields.has("max_concurrent")) fields.integer("max_concurrent", change.max_concurrent.emplace(), 1, 10'000);
  if (fields.has("max_per_agent")) fields.numbers("max_per_agent", change.max_per_agent.emplace(), 1'000, 1, 10'000);
  if (fields.has("max_per_model")) fields.numbers("max_per_model", change.max_per_model.emplace(), 1'000, 1, 10'000);
  seconds_or_none(fields, "idle_timeout_s", change.idle_timeout_ms);
  seconds_or_none(fields, "retention_s", change.retention_ms);
  seconds_or_none(fields, "ask_timeout_s", change.ask_timeout_ms);
  if (fields.has("wake")) fields.flag("wake", change.wake.emplace());
  if (fields.has("loop_max")) fields.integer("loop_max", change.loop_max.emplace(), 0, 1'000);
  if (fields.has("tools_family")) {
    fields.text("tools_family", change.tools_family.emplace(), name_rule);
    constexpr std::string_view families[] = {"background", "superagents", "asyncagents", "bgagent"};
    if (std::ranges::find(families, *change.tools_family) == std::end(families))
      fields.refuse("tools_family", "must be `background`, `superagents`, `asyncagents` or `bgagent`", "out_of_range");
  }
  if (fields.has("fork_tool_result_chars"))
    fields.integer("fork_tool_result_chars", change.fork_tool_result_chars.emplace(), 0, 10'000'000);
  if (fields.has("fork_tokens"))
    fields.integer("fork_tokens", change.fork_tokens.emplace(), fork::tokens_min, 100'000'000);
  if (fields.has("fork_profile"))
    fields.name_of("fork_profile", change.fork_profile.emplace(), fork::parse_profile, "`plain` or `tiered`");
  // Those that are known, and only read at the start, are refused by a sentence of their own.
  for (const char* fixed :
       {"allow_over_limit", "command_timeout_s", "max_restarts", "output_limit_bytes", "limit_cpu_s",
        "limit_memory_bytes", "limit_processes", "limit_open_files", "limit_nice", "default_work_dir"})
    if (fields.has(fixed))
      fields.refuse(fixed, "must be changed in errand.toml: it is read when the server starts", "fixed_setting");
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  if (change == SettingsChange{})
    return fail(Code::invalid_argument, "Name at least one setting that is to change.", "empty");
  return change;
}

std::string agents_reply(const std::vector<Agent>& agents) {
  std::string text;
  JsonOut out(text);
  out.object().key("agents").array();
  for (const Agent& agent : agents) write_agent(out, agent);
  out.end().end();
  return text;
}

std::string agent_reply(const Agent& agent) {
  std::string text;
  JsonOut out(text);
  write_agent(out, agent);
  return text;
}

std::string settings_reply(const EngineSettings& settings) {
  std::string text;
  JsonOut out(text);
  out.object().field("max_concurrent", settings.max_concurrent);
  write_slots(out, "max_per_agent", settings.max_per_agent);
  write_slots(out, "max_per_model", settings.max_per_model);
  out.field("allow_over_limit", settings.allow_over_limit);
  out.field("command_timeout_s", seconds(settings.command_timeout_ms));
  out.field("idle_timeout_s", seconds(settings.idle_timeout_ms));
  out.field("max_restarts", settings.max_restarts);
  number_or_null(out, "retention_s", seconds(settings.retention_ms));
  number_or_null(out, "ask_timeout_s", seconds(settings.ask_timeout_ms));
  out.field("wake", settings.wake).field("loop_max", settings.loop_max).field("tools_family", settings.tools_family);
  out.field("fork_tool_result_chars", settings.fork.tool_result_chars).field("fork_tokens", settings.fork.tokens);
  out.field("fork_profile", name(settings.fork.profile)).field("output_limit_bytes", settings.output_limit);
  number_or_null(out, "limit_cpu_s", settings.command_limits.cpu_s);
  number_or_null(out, "limit_memory_bytes", settings.command_limits.memory_bytes);
  number_or_null(out, "limit_processes", settings.command_limits.processes);
  number_or_null(out, "limit_open_files", settings.command_limits.open_files);
  out.field("limit_nice", settings.command_limits.nice);
  out.text_or_null("default_work_dir", settings.default_work_dir);
  out.end();
  return text;
}

}  // namespace errand::api
