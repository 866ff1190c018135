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

void write_rules(JsonOut& out, std::string_view field, const std::vector<PermissionRule>& rules) {
  out.key(field).array();
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

void write_program(JsonOut& out, const AgentProgram& program) {
  out.object().field("name", program.name);
  out.text_or_null("path", program.path);
  out.text_or_null("version", program.version);
  out.key("logged_in").value(program.logged_in);
  out.text_or_null("login", program.login);
  out.text_or_null("log_in", program.log_in);
  number_or_null(out, "start_ms", program.start_ms);
  number_or_null(out, "memory_bytes", program.memory_bytes);
  out.field("running", program.running).field("waiting", program.waiting);
  out.field("waiting_memory_bytes", program.waiting_memory_bytes).end();
}

void write_moment(JsonOut& out, const AgentMoment& moment) {
  const Capabilities& can = moment.capabilities;
  out.key("capabilities").object().field("message_while_running", can.message_while_running);
  out.field("resume", can.resume).field("fork", can.fork).field("reattach", can.reattach);
  out.field("permissions", can.permissions).end().key("program");
  if (moment.program) {
    write_program(out, *moment.program);
  } else {
    out.null();
  }
}

void write_agent(JsonOut& out, const Agent& agent, const AgentMoment& moment) {
  out.object().field("id", agent.id).field("name", agent.name).field("driver", agent.driver);
  out.text_or_null("model", agent.model);
  out.text_or_null("description", agent.description);
  out.field("builtin", agent.builtin).key("permission");
  if (agent.permission) {
    out.value(name(*agent.permission));
  } else {
    out.null();
  }
  write_rules(out, "permission_rules", agent.permission_rules);
  write_rules(out, "granted", agent.granted);
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
  out.key("isolate");
  if (agent.isolate == Isolate::unset) {
    out.null();
  } else {
    out.value(name(agent.isolate));
  }
  out.key("isolate_base");
  if (agent.isolate_base == IsolateBase::unset) {
    out.null();
  } else {
    out.value(name(agent.isolate_base));
  }
  out.text_or_null("isolate_setup", agent.isolate_setup);
  out.key("options").object();
  for (const auto& [option, value] : agent.options) out.field(option, value);
  out.end();
  out.field("available", agent.unavailable.empty()).text_or_null("unavailable_reason", agent.unavailable);
  write_moment(out, moment);
  out.end();
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
  fields.name_of("isolate", agent.isolate, parse_isolate, "`none` or `worktree`");
  fields.name_of("isolate_base", agent.isolate_base, parse_isolate_base, "`head` or `dirty`");
  fields.text("isolate_setup", agent.isolate_setup, {.bytes_max = 64 * 1024, .may_be_blank = true});
  read_options(fields, agent);
  read_command(fields, agent);
  read_permission(fields, agent.permission, agent.permission_rules);
  read_limits(fields, agent.limits);
  read_budget(fields, agent.budget);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return agent;
}

std::string agents_reply(const std::vector<Agent>& agents, const std::vector<AgentMoment>& moments,
                         std::string_view default_agent) {
  std::string text;
  JsonOut out(text);
  out.object().key("agents").array();
  for (size_t i = 0; i < agents.size(); ++i)
    write_agent(out, agents[i], i < moments.size() ? moments[i] : AgentMoment());
  out.end().text_or_null("default_agent", default_agent).end();
  return text;
}

std::string agent_reply(const Agent& agent, const AgentMoment& moment) {
  std::string text;
  JsonOut out(text);
  write_agent(out, agent, moment);
  return text;
}

std::string models_reply(const ListedModels& listed) {
  std::string text;
  JsonOut out(text);
  out.object().key("models").array();
  for (const ListedModel& model : listed.models)
    out.object().field("id", model.id).text_or_null("name", model.name).end();
  out.end().text_or_null("source", listed.models.empty() ? "" : name(listed.by)).end();
  return text;
}

}  // namespace errand::api
