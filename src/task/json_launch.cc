// A launch, and a configured agent, as they are stored.
#include "task/json_fields.h"
#include "task/json_in.h"

namespace errand {

using namespace stored;

namespace {

void encode_limits(JsonOut& out, const Limits& limits) {
  if (limits == Limits{}) return;
  out.key("limits").object();
  Sparse fields(out);
  fields.field("cpu_s", limits.cpu_s);
  fields.field("memory_bytes", limits.memory_bytes);
  fields.field("processes", limits.processes);
  fields.field("open_files", limits.open_files);
  fields.field("output_bytes", limits.output_bytes);
  fields.field("nice", limits.nice);
  out.end();
}

void encode_budget(JsonOut& out, const Budget& budget) {
  if (budget == Budget{}) return;
  out.key("budget").object();
  Sparse fields(out);
  fields.field("tokens", budget.tokens);
  fields.field("cost_usd", budget.cost_usd);
  fields.field("turns", budget.turns);
  fields.field("tool_calls", budget.tool_calls);
  fields.field("wall_ms", budget.wall_ms);
  out.end();
}

void decode_limits(Fields& outer, Limits& limits) {
  outer.inner("limits", [&](Fields& inner) {
    inner.integer("cpu_s", limits.cpu_s);
    inner.integer("memory_bytes", limits.memory_bytes);
    inner.integer("processes", limits.processes);
    inner.integer("open_files", limits.open_files);
    inner.integer("output_bytes", limits.output_bytes);
    inner.integer("nice", limits.nice);
  });
}

void decode_budget(Fields& outer, Budget& budget) {
  outer.inner("budget", [&](Fields& inner) {
    inner.integer("tokens", budget.tokens);
    inner.number("cost_usd", budget.cost_usd);
    inner.integer("turns", budget.turns);
    inner.integer("tool_calls", budget.tool_calls);
    inner.integer("wall_ms", budget.wall_ms);
  });
}

void encode_bounds(JsonOut& out, const std::vector<PermissionBound>& bounds) {
  if (bounds.empty()) return;
  out.key("bounds").array();
  for (const PermissionBound& bound : bounds) {
    out.object();
    encode_rules(out, "rules", bound.rules);
    out.field("otherwise", name(bound.otherwise)).end();
  }
  out.end();
}

void decode_bounds(Fields& outer, std::vector<PermissionBound>& bounds) {
  outer.each("bounds", [&](const json::value& element) {
    PermissionBound& bound = bounds.emplace_back();
    Fields fields(element);
    decode_rules(fields, "rules", bound.rules);
    fields.name_of("otherwise", bound.otherwise, parse_permission);
    if (!fields.ok()) outer.fail();
  });
}

}  // namespace

std::string encode_launch(const Launch& launch) {
  std::string text;
  text.reserve(512 + launch.prompt.size() + launch.command.size());
  JsonOut out(text);
  out.object();
  Sparse fields(out);
  fields.name_of("kind", launch.kind);
  fields.field("agent_id", launch.agent_id);
  fields.field("agent", launch.agent);
  fields.field("title", launch.title);
  fields.field("description", launch.description);
  fields.field("prompt", launch.prompt);
  fields.field("content", launch.content);
  fields.field("command", launch.command);
  fields.texts("argv", launch.argv);
  fields.field("model", launch.model);
  fields.field("work_dir", launch.work_dir);
  fields.texts("add_dirs", launch.add_dirs);
  fields.map("env", launch.env);
  fields.texts("pass_env", launch.pass_env);
  fields.field("enable_skills", launch.enable_skills);
  fields.field("enable_mcp", launch.enable_mcp);
  fields.field("fork", launch.fork);
  fields.id("parent_session_id", launch.parent_session_id);
  fields.id("parent_message_id", launch.parent_message_id);
  fields.ids("ancestors", launch.ancestors);
  fields.ids("payers", launch.payers);
  encode_bounds(out, launch.bounds);
  fields.id("batch_id", launch.batch_id);
  fields.map("labels", launch.labels);
  fields.field("timeout_ms", launch.timeout_ms);
  fields.field("idle_timeout_ms", launch.idle_timeout_ms);
  fields.name_of("on_hang", launch.on_hang);
  fields.field("max_restarts", launch.max_restarts);
  fields.field("progress_every_ms", launch.progress_every_ms);
  fields.field("retention_ms", launch.retention_ms);
  encode_limits(out, launch.limits);
  encode_budget(out, launch.budget);
  if (launch.permission) out.field("permission", name(*launch.permission));
  encode_rules(out, "permission_rules", launch.permission_rules);
  fields.name_of("sandbox", launch.sandbox);
  fields.field("priority", launch.priority);
  fields.field("authorize_over_limit", launch.authorize_over_limit);
  fields.field("allow_interactive", launch.allow_interactive);
  fields.texts("notify_on", launch.notify_on);
  fields.texts("artifacts", launch.artifacts);
  out.end();
  return text;
}

LaunchWork decode_launch_work(std::string_view text) {
  LaunchWork work;
  if (const auto value = parse(text)) {
    Fields fields(*value);
    fields.text("prompt", work.prompt);
    fields.text("command", work.command);
  }
  return work;
}

Result<Launch> decode_launch(std::string_view text) {
  const auto value = parse(text);
  if (!value) return damaged("launch");
  Launch launch;
  Fields fields(*value);
  fields.name_of("kind", launch.kind, parse_task_kind);
  fields.text("agent_id", launch.agent_id);
  fields.text("agent", launch.agent);
  fields.text("title", launch.title);
  fields.text("description", launch.description);
  fields.text("prompt", launch.prompt);
  fields.text("content", launch.content);
  fields.text("command", launch.command);
  fields.texts("argv", launch.argv);
  fields.text("model", launch.model);
  fields.text("work_dir", launch.work_dir);
  fields.texts("add_dirs", launch.add_dirs);
  fields.map("env", launch.env);
  fields.texts("pass_env", launch.pass_env);
  fields.flag("enable_skills", launch.enable_skills);
  fields.flag("enable_mcp", launch.enable_mcp);
  fields.flag("fork", launch.fork);
  fields.id("parent_session_id", launch.parent_session_id);
  fields.id("parent_message_id", launch.parent_message_id);
  fields.ids("ancestors", launch.ancestors);
  fields.ids("payers", launch.payers);
  decode_bounds(fields, launch.bounds);
  fields.id("batch_id", launch.batch_id);
  fields.map("labels", launch.labels);
  fields.integer("timeout_ms", launch.timeout_ms);
  fields.integer("idle_timeout_ms", launch.idle_timeout_ms);
  fields.name_of("on_hang", launch.on_hang, parse_on_hang);
  fields.integer("max_restarts", launch.max_restarts);
  fields.integer("progress_every_ms", launch.progress_every_ms);
  fields.integer("retention_ms", launch.retention_ms);
  decode_limits(fields, launch.limits);
  decode_budget(fields, launch.budget);
  if (fields.find("permission")) {
    fields.name_of("permission", launch.permission.emplace(), parse_permission);
  }
  decode_rules(fields, "permission_rules", launch.permission_rules);
  fields.name_of("sandbox", launch.sandbox, parse_sandbox);
  fields.integer("priority", launch.priority);
  fields.flag("authorize_over_limit", launch.authorize_over_limit);
  fields.flag("allow_interactive", launch.allow_interactive);
  fields.texts("notify_on", launch.notify_on);
  fields.texts("artifacts", launch.artifacts);
  if (!fields.ok()) return damaged("launch");
  return launch;
}

std::string encode_agent(const Agent& agent) {
  std::string text;
  JsonOut out(text);
  out.object().field("id", agent.id).field("name", agent.name).field("driver", agent.driver);
  Sparse fields(out);
  fields.field("model", agent.model);
  fields.field("description", agent.description);
  if (agent.permission) out.field("permission", name(*agent.permission));
  encode_rules(out, "permission_rules", agent.permission_rules);
  fields.field("max_concurrent", agent.max_concurrent);
  fields.field("prompt", agent.prompt);
  fields.texts("tools", agent.tools);
  encode_limits(out, agent.limits);
  encode_budget(out, agent.budget);
  fields.field("max_steps", agent.max_steps);
  fields.field("enable_skills", agent.enable_skills);
  fields.field("enable_mcp", agent.enable_mcp);
  fields.map("options", agent.options);
  out.end();
  return text;
}

Result<Agent> decode_agent(std::string_view text) {
  const auto value = parse(text);
  if (!value) return damaged("agent");
  Agent agent{.builtin = false};
  Fields fields(*value);
  fields.text("id", agent.id);
  fields.text("name", agent.name);
  fields.text("driver", agent.driver);
  fields.text("model", agent.model);
  fields.text("description", agent.description);
  if (fields.find("permission")) fields.name_of("permission", agent.permission.emplace(), parse_permission);
  decode_rules(fields, "permission_rules", agent.permission_rules);
  fields.integer("max_concurrent", agent.max_concurrent);
  fields.text("prompt", agent.prompt);
  fields.texts("tools", agent.tools);
  decode_limits(fields, agent.limits);
  decode_budget(fields, agent.budget);
  fields.integer("max_steps", agent.max_steps);
  fields.flag("enable_skills", agent.enable_skills);
  fields.flag("enable_mcp", agent.enable_mcp);
  fields.map("options", agent.options);
  if (!fields.ok() || agent.id.empty()) return damaged("agent");
  return agent;
}

}  // namespace errand
