#include "api/launch.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/hash.h"
#include "base/home.h"
#include "base/text.h"
#include "task/decide.h"
#include "task/json_in.h"

namespace errand::api {
namespace {

constexpr TextRule prose{.bytes_max = prompt_bytes_max};
constexpr TextRule id_rule{.bytes_max = 200, .one_line = true};
constexpr TextRule path_rule{.bytes_max = 4096};
constexpr TextRule name_rule{.bytes_max = 256, .one_line = true};
// What the kernel takes as one argument or variable.
constexpr size_t argument_bytes_max = 128 * 1024;
constexpr int64_t count_max = 1'000'000'000;
constexpr int64_t bytes_max = 1LL << 50;

bool is_variable_name(std::string_view name) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
  return !name.empty() && letter(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [&](unsigned char c) { return letter(c) || std::isdigit(c); });
}

bool leaves_its_folder(std::string_view glob) {
  if (glob.starts_with('/')) return true;
  const auto segments = split(glob, '/');
  return std::ranges::find(segments, "..") != segments.end();
}

}  // namespace

void read_command(Fields& fields, Launch& launch) {
  if (fields.is_list("command")) {
    fields.texts("command", launch.argv, 4096, {.bytes_max = argument_bytes_max, .may_be_blank = true});
    if (fields.failed()) return;
    if (launch.argv.empty() || trim(launch.argv.front()).empty()) {
      return fields.refuse("command", "must begin with the name of a program", "empty");
    }
    launch.command = join_words(launch.argv);
  } else {
    // One argument of /bin/sh -c.
    fields.text("command", launch.command, {.bytes_max = argument_bytes_max});
  }
}

namespace {

void read_work(Fields& fields, Launch& launch) {
  const bool command_given = fields.has("command");
  const bool message_given = fields.has("message") || fields.has("content");
  fields.text("agent_id", launch.agent_id, name_rule);
  if (fields.has("kind")) {
    fields.name_of("kind", launch.kind, parse_task_kind, "`agent` or `command`");
  } else if (launch.agent_id == "command" || (command_given && !message_given && launch.agent_id.empty())) {
    launch.kind = TaskKind::command;
  }
  read_command(fields, launch);
  if (launch.kind == TaskKind::command) {
    if (message_given)
      fields.refuse_all("A command task takes `command`, not `message` or `content`.", "invalid_field");
    if (!command_given)
      fields.refuse("command", "must be given: a text for /bin/sh, or a list of words", "missing_field");
    if (launch.agent_id.empty()) launch.agent_id = "command";
    if (launch.agent_id != "command") fields.refuse("agent_id", "must be left out for a command task");
  } else {
    if (command_given) {
      fields.refuse_all("An agent task takes `message`, not `command`; for a command say `\"kind\":\"command\"`.",
                        "invalid_field");
    }
    if (launch.agent_id.empty()) {
      fields.refuse("agent_id", "must be given: GET /api/agents lists those that can be used", "missing_field");
    }
    Content content;
    read_message_or_content(fields, content);
    launch.prompt = std::move(content.text);
    launch.content = std::move(content.json);
  }
}

}  // namespace

void read_paths(Fields& fields, Launch& launch, const std::string& here) {
  const auto resolve = [&](std::string& path) {
    path = from_home(path);
    if (here.empty() || path.empty() || path.starts_with('/')) return;
    path = (std::filesystem::path(here) / path).lexically_normal().string();
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  };
  fields.text("work_dir", launch.work_dir, path_rule);
  resolve(launch.work_dir);
  if (!launch.work_dir.empty() && !is_absolute_path(launch.work_dir)) {
    fields.refuse("work_dir", "must be an absolute path, or begin with ~/");
  }
  fields.texts("add_dirs", launch.add_dirs, 100, path_rule);
  for (std::string& dir : launch.add_dirs) {
    resolve(dir);
    if (!is_absolute_path(dir)) fields.refuse("add_dirs", "must have absolute paths only");
  }
  fields.texts("artifacts", launch.artifacts, 100, path_rule);
  for (const std::string& glob : launch.artifacts) {
    if (leaves_its_folder(glob)) fields.refuse("artifacts", "must have patterns below the work dir only");
  }
}

void read_environment(Fields& fields, Launch& launch) {
  fields.map("env", launch.env, 1000, {.bytes_max = argument_bytes_max, .may_be_blank = true});
  for (const auto& [name, value] : launch.env) {
    if (!is_variable_name(name))
      fields.refuse("env", "must have names of letters, digits and _ that begin with no digit");
  }
  fields.texts("pass_env", launch.pass_env, 1000, name_rule);
  for (const std::string& name : launch.pass_env) {
    if (!is_variable_name(name)) {
      fields.refuse("pass_env", "must have names of letters, digits and _ that begin with no digit");
    }
  }
}

void read_batch(Fields& fields, Launch& launch) {
  fields.text("batch_id", launch.batch_id.value, id_rule);
  if (!is_plain_id(launch.batch_id.value)) {
    fields.refuse("batch_id", "must be `new`, or made of letters, digits and _ - . :");
  }
}

void read_labels(Fields& fields, Launch& launch) {
  fields.map("labels", launch.labels, labels_max, {.bytes_max = 1024, .may_be_blank = true});
  for (const auto& [name, value] : launch.labels)
    if (!is_label(name)) fields.refuse("labels", label_rule);
}

bool is_label(std::string_view name) {
  return !name.empty() && name.size() <= 100 && is_utf8(name) && name.find(':') == std::string_view::npos;
}

void read_limits(Fields& fields, Limits& limits) {
  fields.inner("limits", [&](Fields& inner) {
    // 0 says "none", which is -1 inside.
    const auto limit = [&](const char* name, int64_t& into, int64_t most) {
      if (!inner.has(name)) return;
      inner.integer(name, into, 0, most);
      if (into == 0) into = -1;
    };
    limit("cpu_s", limits.cpu_s, count_max);
    limit("memory_bytes", limits.memory_bytes, bytes_max);
    limit("processes", limits.processes, count_max);
    limit("open_files", limits.open_files, count_max);
    inner.integer("output_bytes", limits.output_bytes, 1, bytes_max);
    inner.integer("nice", limits.nice, -20, 19);
  });
}

void read_budget(Fields& fields, Budget& budget) {
  fields.inner("budget", [&](Fields& inner) {
    inner.integer("tokens", budget.tokens, 1, bytes_max);
    inner.positive("cost_usd", budget.cost_usd, 1e9);
    inner.integer("turns", budget.turns, 1, count_max);
    inner.integer("tool_calls", budget.tool_calls, 1, count_max);
    inner.seconds_or_none("wall_s", budget.wall_ms);
    budget.wall_ms = std::max<Millis>(budget.wall_ms, 0);
  });
}

void read_permission(Fields& fields, std::optional<Permission>& otherwise, std::vector<PermissionRule>& rules) {
  if (fields.is_list("permission")) {
    fields.each("permission", 1000, [&](Fields& inner) {
      PermissionRule& rule = rules.emplace_back();
      if (!inner.has("tool")) inner.refuse("tool", "must be given: a tool's name, or `*`", "missing_field");
      if (!inner.has("decision")) inner.refuse("decision", "must be given: `ask`, `allow` or `deny`", "missing_field");
      inner.text("tool", rule.tool, name_rule);
      inner.text("pattern", rule.pattern, {.may_be_blank = true});
      inner.name_of("decision", rule.decision, parse_permission, "`ask`, `allow` or `deny`");
    });
  } else if (fields.has("permission")) {
    fields.name_of("permission", otherwise.emplace(), parse_permission, "`ask`, `allow`, `deny`, or a list of rules");
  }
}

void read_bounds(Fields& fields, Launch& launch, std::string_view timeout_field) {
  fields.seconds_or_none(timeout_field, launch.timeout_ms);
  fields.seconds_or_none("idle_timeout_s", launch.idle_timeout_ms);
  fields.name_of("on_hang", launch.on_hang, parse_on_hang, "`fail` or `restart`");
  fields.integer("max_restarts", launch.max_restarts, 1, 100);
  fields.seconds_or_none("progress_every_s", launch.progress_every_ms);
  if (launch.progress_every_ms < 0) launch.progress_every_ms = 0;
  fields.seconds_or_none("retention_s", launch.retention_ms);
  read_limits(fields, launch.limits);
  read_budget(fields, launch.budget);
}

namespace {

void read_relations(Fields& fields, Launch& launch) {
  fields.flag("fork", launch.fork);
  fields.text("parent_session_id", launch.parent_session_id.value, id_rule);
  fields.text("parent_message_id", launch.parent_message_id.value, id_rule);
  if (!is_plain_id(launch.parent_session_id.value)) {
    fields.refuse("parent_session_id", "must be made of letters, digits and _ - . :");
  }
  if (launch.fork && launch.parent_session_id.empty()) {
    fields.refuse("parent_session_id", "must be given with `fork`: it names the conversation to copy", "missing_field");
  }
  read_batch(fields, launch);
  read_labels(fields, launch);
}

void read_part(Fields& inner, Part& part) {
  inner.name_of("type", part.type, parse_part_type, "`text` or `file`");
  if (!inner.has("type")) inner.refuse("type", "must be given: `text` or `file`", "missing_field");
  if (part.type == PartType::text) {
    if (!inner.has("text")) inner.refuse("text", "must be given", "missing_field");
    inner.text("text", part.text, prose);
  } else if (part.type == PartType::file) {
    if (!inner.has("url")) inner.refuse("url", "must be given: a data: or file: URL", "missing_field");
    inner.text("url", part.url, prose);
    if (!part.url.empty() && !part.url.starts_with("data:") && !part.url.starts_with("file:///")) {
      inner.refuse("url", "must be a data: URL, or a file: URL with an absolute path");
    }
    inner.text("name", part.name, name_rule);
    inner.text("media_type", part.media_type, name_rule);
    part.size = static_cast<int64_t>(part.url.starts_with("data:") ? part.url.size() : 0);
  } else {
    inner.refuse("type", "must be `text` or `file`", "out_of_range");
  }
}

void append_hex(std::string& out, uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[(number >> shift) & 15]);
}

}  // namespace

bool is_plain_id(std::string_view id) {
  return std::ranges::all_of(
      id, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':'; });
}

std::string join_words(const std::vector<std::string>& argv) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::string_view("_-+=.,/:@%").contains(c); };
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && std::ranges::all_of(word, plain)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

void read_content(Fields& fields, Content& into) {
  if (!fields.has("content")) return;
  std::vector<Part> parts;
  fields.each("content", content_parts_max, [&](Fields& inner) { read_part(inner, parts.emplace_back()); });
  if (fields.failed()) return;
  if (parts.empty()) return fields.refuse("content", "must have at least one part", "empty");
  Message message;
  message.parts = std::move(parts);
  into.text = text_of(message);
  into.json = encode_parts(message.parts);
}

void read_message_or_content(Fields& fields, Content& into) {
  const bool both = fields.has("message") && fields.has("content");
  if (both) fields.refuse_all("Give `message` or `content`, not both.", "invalid_field");
  if (!fields.has("message") && !fields.has("content")) {
    fields.refuse("message", "must be given (or `content`, a list of parts)", "missing_field");
  }
  fields.text("message", into.text, prose);
  read_content(fields, into);
}

void read_launch(Fields& fields, Launch& launch) {
  read_work(fields, launch);
  fields.text("title", launch.title, {.bytes_max = 4096, .may_be_blank = true});
  fields.text("description", launch.description, {.bytes_max = 64 * 1024, .may_be_blank = true});
  fields.text("model", launch.model, name_rule);
  fields.name_of("surface", launch.surface, parse_surface, "`rest`, `cli`, `page` or `tools`");
  read_paths(fields, launch);
  read_environment(fields, launch);
  fields.flag("enable_skills", launch.enable_skills);
  fields.flag("enable_mcp", launch.enable_mcp);
  read_relations(fields, launch);
  read_bounds(fields, launch);
  read_permission(fields, launch.permission, launch.permission_rules);
  fields.name_of("sandbox", launch.sandbox, parse_sandbox, "`off`, `workspace` or `strict`");
  fields.name_of("isolate", launch.isolate, parse_isolate, "`none` or `worktree`");
  fields.name_of("isolate_base", launch.isolate_base, parse_isolate_base, "`head` or `dirty`");
  fields.text("isolate_setup", launch.isolate_setup, {.bytes_max = 64 * 1024});
  fields.integer("priority", launch.priority, -1000, 1000);
  fields.flag("authorize_over_limit", launch.authorize_over_limit);
  fields.flag("allow_interactive", launch.allow_interactive);
  fields.texts("notify_on", launch.notify_on, 100, {.bytes_max = 1024});
  if (launch.kind == TaskKind::agent && !launch.notify_on.empty()) {
    fields.refuse("notify_on", "is for command tasks: it watches the lines that a command prints");
  }
}

Result<Launch> parse_launch(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  Launch launch;
  Fields fields(document->value());
  read_launch(fields, launch);
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return launch;
}

std::string fingerprint(const Launch& launch) {
  const std::string text = encode_launch(launch);
  std::string print;
  append_hex(print, fnv_hash(text));
  append_hex(print, fnv_hash(text, 0x9ae16a3b2f90404f));
  return print;
}

}  // namespace errand::api
