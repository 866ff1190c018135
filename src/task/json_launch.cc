// A launch, and a configured agent, as they are stored.
#include <concepts>
#include <optional>

#include "task/json_fields.h"
#include "task/json_in.h"

namespace errand {

using namespace stored;

namespace {

void encode_bounds(JsonOut& out, const std::vector<PermissionBound>& bounds) {
  if (bounds.empty()) return;
  out.key("bounds").array();
  for (const PermissionBound& bound : bounds) {
    out.object();
    encode_rules(out, "rules", bound.rules);
    encode_rules(out, "granted", bound.granted);
    out.field("otherwise", name(bound.otherwise)).end();
  }
  out.end();
}

void decode_bounds(Fields& outer, std::vector<PermissionBound>& bounds) {
  outer.each("bounds", [&](const json::value& element) {
    PermissionBound& bound = bounds.emplace_back();
    Fields fields(element);
    decode_rules(fields, "rules", bound.rules);
    decode_rules(fields, "granted", bound.granted);
    fields.name_of("otherwise", bound.otherwise, parse_permission);
    if (!fields.ok()) outer.fail();
  });
}

// Writing and reading by one list of fields: what is written is what is read back. Fields are written in the order of
// the list, and only where they differ from the default.
class Writing {
 public:
  explicit Writing(JsonOut& out) : out_(out), sparse_(out) {}

  template <size_t N, class T>
  void field(const char (&name)[N], const T& value) {
    sparse_.field(name, value);
  }
  // Also where it is the default.
  template <size_t N>
  void always(const char (&name)[N], const std::string& value) {
    out_.field(name, value);
  }
  template <size_t N>
  void texts(const char (&name)[N], const std::vector<std::string>& value) {
    sparse_.texts(name, value);
  }
  template <size_t N>
  void map(const char (&name)[N], const StringMap& value) {
    sparse_.map(name, value);
  }
  template <size_t N, class Tag>
  void id(const char (&name)[N], const Id<Tag>& value) {
    sparse_.id(name, value);
  }
  template <size_t N, class Tag>
  void ids(const char (&name)[N], const std::vector<Id<Tag>>& value) {
    sparse_.ids(name, value);
  }
  template <size_t N, class E, class Parse>
  void name_of(const char (&name)[N], E value, Parse) {
    sparse_.name_of(name, value);
  }
  template <size_t N, class T, class List>
  void inner(const char (&name)[N], const T& value, List list) {
    if (value == T{}) return;
    out_.key(name).object();
    list(*this, value);
    out_.end();
  }
  void permission(const std::optional<Permission>& value) {
    if (value) out_.field("permission", name(*value));
  }
  void rules(const char* name, const std::vector<PermissionRule>& value) { encode_rules(out_, name, value); }
  void bounds(const std::vector<PermissionBound>& value) { encode_bounds(out_, value); }

 private:
  JsonOut& out_;
  Sparse sparse_;
};

class Reading {
 public:
  explicit Reading(Fields& fields) : fields_(fields) {}

  void field(const char* name, std::string& into) { fields_.text(name, into); }
  void field(const char* name, bool& into) { fields_.flag(name, into); }
  void field(const char* name, double& into) { fields_.number(name, into); }
  template <std::integral Int>
  void field(const char* name, Int& into) {
    fields_.integer(name, into);
  }
  void always(const char* name, std::string& into) { fields_.text(name, into); }
  void texts(const char* name, std::vector<std::string>& into) { fields_.texts(name, into); }
  void map(const char* name, StringMap& into) { fields_.map(name, into); }
  template <class Tag>
  void id(const char* name, Id<Tag>& into) {
    fields_.id(name, into);
  }
  template <class Tag>
  void ids(const char* name, std::vector<Id<Tag>>& into) {
    fields_.ids(name, into);
  }
  template <class E, class Parse>
  void name_of(const char* name, E& into, Parse parse_enum) {
    fields_.name_of(name, into, parse_enum);
  }
  template <class T, class List>
  void inner(const char* name, T& into, List list) {
    fields_.inner(name, [&](Fields& own) {
      Reading reading(own);
      list(reading, into);
    });
  }
  void permission(std::optional<Permission>& into) {
    if (fields_.find("permission")) fields_.name_of("permission", into.emplace(), parse_permission);
  }
  void rules(const char* name, std::vector<PermissionRule>& into) { decode_rules(fields_, name, into); }
  void bounds(std::vector<PermissionBound>& into) { decode_bounds(fields_, into); }

 private:
  Fields& fields_;
};

constexpr auto limits_fields = [](auto& fields, auto& limits) {
  fields.field("cpu_s", limits.cpu_s);
  fields.field("memory_bytes", limits.memory_bytes);
  fields.field("processes", limits.processes);
  fields.field("open_files", limits.open_files);
  fields.field("output_bytes", limits.output_bytes);
  fields.field("nice", limits.nice);
};

constexpr auto budget_fields = [](auto& fields, auto& budget) {
  fields.field("tokens", budget.tokens);
  fields.field("cost_usd", budget.cost_usd);
  fields.field("turns", budget.turns);
  fields.field("tool_calls", budget.tool_calls);
  fields.field("wall_ms", budget.wall_ms);
};

// The order is part of a launch's fingerprint (api/launch.h).
constexpr auto launch_fields = [](auto& fields, auto& launch) {
  fields.name_of("kind", launch.kind, parse_task_kind);
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
  fields.bounds(launch.bounds);
  fields.id("batch_id", launch.batch_id);
  fields.map("labels", launch.labels);
  fields.field("timeout_ms", launch.timeout_ms);
  fields.field("idle_timeout_ms", launch.idle_timeout_ms);
  fields.name_of("on_hang", launch.on_hang, parse_on_hang);
  fields.field("max_restarts", launch.max_restarts);
  fields.field("progress_every_ms", launch.progress_every_ms);
  fields.field("retention_ms", launch.retention_ms);
  fields.inner("limits", launch.limits, limits_fields);
  fields.inner("budget", launch.budget, budget_fields);
  fields.permission(launch.permission);
  fields.rules("permission_rules", launch.permission_rules);
  fields.name_of("sandbox", launch.sandbox, parse_sandbox);
  fields.name_of("isolate", launch.isolate, parse_isolate);
  fields.name_of("isolate_base", launch.isolate_base, parse_isolate_base);
  fields.field("isolate_setup", launch.isolate_setup);
  fields.field("priority", launch.priority);
  fields.field("authorize_over_limit", launch.authorize_over_limit);
  fields.field("allow_interactive", launch.allow_interactive);
  fields.texts("notify_on", launch.notify_on);
  fields.texts("artifacts", launch.artifacts);
  fields.name_of("surface", launch.surface, parse_surface);
};

constexpr auto agent_fields = [](auto& fields, auto& agent) {
  fields.always("id", agent.id);
  fields.always("name", agent.name);
  fields.always("driver", agent.driver);
  fields.field("model", agent.model);
  fields.field("description", agent.description);
  fields.permission(agent.permission);
  fields.rules("permission_rules", agent.permission_rules);
  fields.field("max_concurrent", agent.max_concurrent);
  fields.field("prompt", agent.prompt);
  fields.texts("tools", agent.tools);
  fields.inner("limits", agent.limits, limits_fields);
  fields.inner("budget", agent.budget, budget_fields);
  fields.field("max_steps", agent.max_steps);
  fields.field("enable_skills", agent.enable_skills);
  fields.field("enable_mcp", agent.enable_mcp);
  fields.name_of("isolate", agent.isolate, parse_isolate);
  fields.name_of("isolate_base", agent.isolate_base, parse_isolate_base);
  fields.field("isolate_setup", agent.isolate_setup);
  fields.map("options", agent.options);
};

}  // namespace

std::string encode_launch(const Launch& launch) {
  std::string text;
  text.reserve(512 + launch.prompt.size() + launch.command.size());
  JsonOut out(text);
  out.object();
  Writing writing(out);
  launch_fields(writing, launch);
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
  Reading reading(fields);
  launch_fields(reading, launch);
  if (!fields.ok()) return damaged("launch");
  return launch;
}

std::string encode_agent(const Agent& agent) {
  std::string text;
  JsonOut out(text);
  out.object();
  Writing writing(out);
  agent_fields(writing, agent);
  out.end();
  return text;
}

Result<Agent> decode_agent(std::string_view text) {
  const auto value = parse(text);
  if (!value) return damaged("agent");
  Agent agent{.builtin = false};
  Fields fields(*value);
  Reading reading(fields);
  agent_fields(reading, agent);
  if (!fields.ok() || agent.id.empty()) return damaged("agent");
  return agent;
}

}  // namespace errand
