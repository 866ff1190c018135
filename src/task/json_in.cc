#include "task/json_in.h"

#include <charconv>
#include <climits>

#include <boost/json.hpp>

#include "base/json_out.h"

namespace errand {
namespace {

namespace json = boost::json;

// Deeper than anything that is let in (api/ allows 64 levels), so that what was stored can always be read.
constexpr size_t depth_max = 128;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Code::internal, "The stored " + std::string(what) + " cannot be read: the store is damaged.", "corrupt");
}

std::optional<json::value> parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::error_code error;
  try {
    json::value value = json::parse(text, error, {}, options);
    if (error) return std::nullopt;
    return value;
  } catch (const std::exception&) {  // Out of memory, or a size that the library refuses.
    return std::nullopt;
  }
}

// Reads fields of one object. An absent field keeps its default; one of a wrong type makes the whole unreadable.
class Fields {
 public:
  explicit Fields(const json::value& value) : object_(value.if_object()) { ok_ = object_ != nullptr; }

  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

  void text(const char* name, std::string& into) {
    if (const json::value* value = find(name)) take_text(*value, into);
  }
  template <class Tag>
  void id(const char* name, Id<Tag>& into) {
    text(name, into.value);
  }
  template <class Int>
  void integer(const char* name, Int& into) {
    if (const json::value* value = find(name)) take_integer(*value, into);
  }
  void number(const char* name, double& into) {
    const json::value* value = find(name);
    if (!value) return;
    json::error_code error;
    const auto number = value->to_number<double>(error);
    if (error) return fail();
    into = number;
  }
  void flag(const char* name, bool& into) {
    const json::value* value = find(name);
    if (!value) return;
    if (const bool* flag = value->if_bool()) {
      into = *flag;
    } else {
      fail();
    }
  }
  void time(const char* name, Time& into) { integer(name, into.ms); }
  template <class E, class Parse>
  void name_of(const char* name, E& into, Parse parse_enum) {
    std::string text_value;
    if (!find(name)) return;
    text(name, text_value);
    if (const auto value = parse_enum(text_value)) {
      into = *value;
    } else {
      fail();
    }
  }
  void texts(const char* name, std::vector<std::string>& into) {
    each(name, [&](const json::value& value) { take_text(value, into.emplace_back()); });
  }
  void map(const char* name, StringMap& into) {
    const json::value* value = find(name);
    if (!value) return;
    const json::object* object = value->if_object();
    if (!object) return fail();
    for (const auto& [key, text_value] : *object) take_text(text_value, into[std::string(key)]);
  }
  template <class Visit>
  void each(const char* name, Visit visit) {
    const json::value* value = find(name);
    if (!value) return;
    const json::array* array = value->if_array();
    if (!array) return fail();
    for (const json::value& element : *array) visit(element);
  }
  // An object inside, read by `visit(Fields&)`.
  template <class Visit>
  void inner(const char* name, Visit visit) {
    const json::value* value = find(name);
    if (!value) return;
    Fields fields(*value);
    visit(fields);
    if (!fields.ok()) fail();
  }
  const json::value* find(const char* name) const { return object_ ? object_->if_contains(name) : nullptr; }

 private:
  void take_text(const json::value& value, std::string& into) {
    if (const json::string* text = value.if_string()) {
      into.assign(text->data(), text->size());
    } else {
      fail();
    }
  }
  template <class Int>
  void take_integer(const json::value& value, Int& into) {
    json::error_code error;
    const auto number = value.to_number<Int>(error);
    if (error) return fail();
    into = number;
  }

  const json::object* object_;
  bool ok_ = true;
};

// Writes a field only where it differs from the default: most launches say little.
class Sparse {
 public:
  explicit Sparse(JsonOut& out) : out_(out) {}
  template <class T>
  void field(std::string_view name, const T& value, const T& usual = T{}) {
    if (!(value == usual)) out_.field(name, value);
  }
  void time(std::string_view name, Time time) { field(name, time.ms); }
  template <class Tag>
  void id(std::string_view name, const Id<Tag>& id) {
    if (id) out_.field(name, id);
  }
  template <class E>
  void name_of(std::string_view field_name, E value) {
    if (value != E{}) out_.field(field_name, name(value));
  }
  void texts(std::string_view name, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out_.key(name).array();
    for (const std::string& text : texts) out_.value(text);
    out_.end();
  }
  void map(std::string_view name, const StringMap& map) {
    if (map.empty()) return;
    out_.key(name).object();
    for (const auto& [key, text] : map) out_.field(key, text);
    out_.end();
  }

 private:
  JsonOut& out_;
};

void encode_artifacts(JsonOut& out, const ArtifactSummary& artifacts) {
  if (artifacts == ArtifactSummary{}) return;
  out.key("artifacts").object();
  Sparse fields(out);
  fields.field("count", artifacts.count);
  fields.field("bytes", artifacts.bytes);
  fields.field("left_out", artifacts.left_out);
  out.key("first").array();
  for (const Artifact& file : artifacts.first) {
    out.object();
    Sparse inner(out);
    inner.field("id", file.id);
    inner.field("name", file.name);
    inner.name_of("source", file.source);
    inner.field("run", file.run);
    inner.field("size", file.size);
    inner.field("media_type", file.media_type);
    inner.field("sha256", file.sha256);
    inner.time("modified", file.modified);
    out.end();
  }
  out.end().end();
}

void decode_artifacts(Fields& outer, ArtifactSummary& artifacts) {
  outer.inner("artifacts", [&](Fields& fields) {
    fields.integer("count", artifacts.count);
    fields.integer("bytes", artifacts.bytes);
    fields.integer("left_out", artifacts.left_out);
    fields.each("first", [&](const json::value& element) {
      Artifact& file = artifacts.first.emplace_back();
      file.source = ArtifactSource{};
      Fields inner(element);
      inner.text("id", file.id);
      inner.text("name", file.name);
      inner.name_of("source", file.source, parse_artifact_source);
      inner.integer("run", file.run);
      inner.integer("size", file.size);
      inner.text("media_type", file.media_type);
      inner.text("sha256", file.sha256);
      inner.time("modified", file.modified);
      if (!inner.ok()) fields.fail();
    });
  });
}

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

void encode_rules(JsonOut& out, std::string_view field, const std::vector<PermissionRule>& rules) {
  if (rules.empty()) return;
  out.key(field).array();
  for (const PermissionRule& rule : rules) {
    out.object().field("tool", rule.tool).field("pattern", rule.pattern);
    out.field("decision", name(rule.decision)).end();
  }
  out.end();
}

void decode_rules(Fields& outer, const char* field, std::vector<PermissionRule>& rules) {
  outer.each(field, [&](const json::value& element) {
    PermissionRule& rule = rules.emplace_back();
    Fields inner(element);
    inner.text("tool", rule.tool);
    inner.text("pattern", rule.pattern);
    inner.name_of("decision", rule.decision, parse_permission);
    if (!inner.ok()) outer.fail();
  });
}

// What else of a task moves with its progress: kept in the same column.
void encode_moving(JsonOut& out, const Task& task) {
  if (task.wait) {
    out.key("wait").object().field("kind", name(task.wait->kind));
    Sparse fields(out);
    fields.field("text", task.wait->text);
    fields.time("until", task.wait->until);
    out.end();
  }
  encode_rules(out, "granted", task.granted);
  if (task.repeat != Repeat{}) {
    // As text: JSON's numbers have no 64 bits.
    out.key("repeat").object().field("call", std::to_string(task.repeat.call));
    out.field("result", std::to_string(task.repeat.result)).field("count", task.repeat.count).end();
  }
}

void decode_moving(Fields& fields, Task& task) {
  if (fields.find("wait")) {
    Wait& wait = task.wait.emplace();
    fields.inner("wait", [&](Fields& inner) {
      inner.name_of("kind", wait.kind, parse_wait_kind);
      inner.text("text", wait.text);
      inner.time("until", wait.until);
    });
  }
  decode_rules(fields, "granted", task.granted);
  fields.inner("repeat", [&](Fields& inner) {
    const auto hash = [&](const char* field, uint64_t& into) {
      std::string digits;
      inner.text(field, digits);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
      if (error != std::errc() || end != digits.data() + digits.size()) inner.fail();
    };
    hash("call", task.repeat.call);
    hash("result", task.repeat.result);
    inner.integer("count", task.repeat.count);
  });
}

void decode_part(const json::value& value, Part& part, bool& ok) {
  Fields fields(value);
  fields.name_of("type", part.type, parse_part_type);
  fields.text("text", part.text);
  fields.text("call_id", part.call_id);
  fields.text("name", part.name);
  fields.text("input", part.input);
  fields.flag("is_error", part.is_error);
  fields.flag("truncated", part.truncated);
  fields.integer("size", part.size);
  fields.integer("ms", part.ms);
  fields.text("media_type", part.media_type);
  fields.text("url", part.url);
  fields.text("opaque", part.opaque);
  ok = ok && fields.ok();
}

bool is_prose(const Part& part) { return part.type == PartType::text || part.type == PartType::reasoning; }

void apply_delta(Message& open, Fields& fields) {
  size_t index = 0;
  Part piece;
  fields.integer("part", index);
  fields.name_of("type", piece.type, parse_part_type);
  fields.text("text", piece.text);
  if (!fields.ok()) return;
  std::vector<Part>& parts = open.parts;
  if (index < parts.size() && is_prose(parts[index])) {
    parts[index].text += piece.text;
  } else if (!parts.empty() && parts.back().type == piece.type) {
    // An index that does not fit (a damaged event) must not tear a text apart.
    parts.back().text += piece.text;
  } else {
    parts.push_back(std::move(piece));
  }
}

}  // namespace

std::string encode_launch(const Launch& launch) {
  std::string text;
  JsonOut out(text);
  out.object();
  Sparse fields(out);
  fields.name_of("kind", launch.kind);
  fields.field("agent_id", launch.agent_id);
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
  if (!launch.ancestors.empty()) {
    out.key("ancestors").array();
    for (const TaskId& id : launch.ancestors) out.value(id.value);
    out.end();
  }
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

Result<Launch> decode_launch(std::string_view text) {
  const std::optional<json::value> value = parse(text);
  if (!value) return damaged("launch");
  Launch launch;
  Fields fields(*value);
  fields.name_of("kind", launch.kind, parse_task_kind);
  fields.text("agent_id", launch.agent_id);
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
  std::vector<std::string> ancestors;
  fields.texts("ancestors", ancestors);
  for (std::string& id : ancestors) launch.ancestors.emplace_back(std::move(id));
  fields.id("batch_id", launch.batch_id);
  fields.map("labels", launch.labels);
  fields.integer("timeout_ms", launch.timeout_ms);
  fields.integer("idle_timeout_ms", launch.idle_timeout_ms);
  fields.name_of("on_hang", launch.on_hang, parse_on_hang);
  fields.integer("max_restarts", launch.max_restarts);
  fields.integer("progress_every_ms", launch.progress_every_ms);
  fields.integer("retention_ms", launch.retention_ms);
  fields.inner("limits", [&](Fields& inner) {
    inner.integer("cpu_s", launch.limits.cpu_s);
    inner.integer("memory_bytes", launch.limits.memory_bytes);
    inner.integer("processes", launch.limits.processes);
    inner.integer("open_files", launch.limits.open_files);
    inner.integer("output_bytes", launch.limits.output_bytes);
    inner.integer("nice", launch.limits.nice);
  });
  fields.inner("budget", [&](Fields& inner) {
    inner.integer("tokens", launch.budget.tokens);
    inner.number("cost_usd", launch.budget.cost_usd);
    inner.integer("turns", launch.budget.turns);
    inner.integer("tool_calls", launch.budget.tool_calls);
    inner.integer("wall_ms", launch.budget.wall_ms);
  });
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

std::string encode_progress(const Task& task) {
  const Progress& progress = task.progress;
  std::string text;
  JsonOut out(text);
  out.object();
  Sparse fields(out);
  fields.field("tool_calls", progress.tool_calls);
  if (!progress.recent_tools.empty()) {
    out.key("recent_tools").array();
    for (const ToolUse& tool : progress.recent_tools) {
      out.object().field("name", tool.name).field("summary", tool.summary).field("at", tool.at.ms).end();
    }
    out.end();
  }
  fields.field("turns", progress.turns);
  fields.field("input_tokens", progress.usage.input_tokens);
  fields.field("output_tokens", progress.usage.output_tokens);
  fields.field("cost_usd", progress.usage.cost_usd);
  fields.field("output_bytes", progress.output_bytes);
  fields.field("output_lines", progress.output_lines);
  fields.field("output_truncated", progress.output_truncated);
  fields.field("cpu_s", progress.cpu_s);
  fields.field("memory_bytes", progress.memory_bytes);
  fields.time("last_update", progress.last_update);
  if (!progress.attempt_ends.empty()) {
    out.key("attempt_ends").array();
    for (const int run : progress.attempt_ends) out.value(run);
    out.end();
  }
  encode_artifacts(out, progress.artifacts);
  encode_moving(out, task);
  out.end();
  return text == "{}" ? std::string() : text;
}

Status decode_progress(std::string_view text, Task& task) {
  if (text.empty()) return {};
  const std::optional<json::value> value = parse(text);
  if (!value) return damaged("progress");
  Progress& progress = task.progress;
  Fields fields(*value);
  fields.integer("tool_calls", progress.tool_calls);
  fields.each("recent_tools", [&](const json::value& element) {
    ToolUse& tool = progress.recent_tools.emplace_back();
    Fields inner(element);
    inner.text("name", tool.name);
    inner.text("summary", tool.summary);
    inner.time("at", tool.at);
    if (!inner.ok()) fields.fail();
  });
  fields.integer("turns", progress.turns);
  fields.integer("input_tokens", progress.usage.input_tokens);
  fields.integer("output_tokens", progress.usage.output_tokens);
  fields.number("cost_usd", progress.usage.cost_usd);
  fields.integer("output_bytes", progress.output_bytes);
  fields.integer("output_lines", progress.output_lines);
  fields.flag("output_truncated", progress.output_truncated);
  fields.number("cpu_s", progress.cpu_s);
  fields.integer("memory_bytes", progress.memory_bytes);
  fields.time("last_update", progress.last_update);
  fields.each("attempt_ends", [&](const json::value& element) {
    const auto* run = element.if_int64();
    if (run == nullptr || *run < 0 || *run > INT_MAX) return fields.fail();
    progress.attempt_ends.push_back(static_cast<int>(*run));
  });
  decode_artifacts(fields, progress.artifacts);
  decode_moving(fields, task);
  if (!fields.ok()) return damaged("progress");
  return {};
}

std::string encode_asks(const std::vector<Ask>& asks) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const Ask& ask : asks) {
    out.object();
    Sparse fields(out);
    fields.field("request_id", ask.request_id);
    out.field("kind", name(ask.kind));
    fields.field("text", ask.text);
    fields.texts("options", ask.options);
    fields.time("at", ask.at);
    fields.field("decision", ask.decision);
    fields.field("reply", ask.reply);
    fields.field("tool", ask.tool);
    fields.field("subject", ask.subject);
    fields.time("until", ask.until);
    out.end();
  }
  out.end();
  return text;
}

Result<std::vector<Ask>> decode_asks(std::string_view text) {
  const std::optional<json::value> value = parse(text);
  if (!value || !value->is_array()) return damaged("asks");
  std::vector<Ask> asks;
  for (const json::value& element : value->get_array()) {
    Ask& ask = asks.emplace_back();
    Fields fields(element);
    fields.text("request_id", ask.request_id);
    fields.name_of("kind", ask.kind, parse_ask_kind);
    fields.text("text", ask.text);
    fields.texts("options", ask.options);
    fields.time("at", ask.at);
    fields.text("decision", ask.decision);
    fields.text("reply", ask.reply);
    fields.text("tool", ask.tool);
    fields.text("subject", ask.subject);
    fields.time("until", ask.until);
    if (!fields.ok()) return damaged("asks");
  }
  return asks;
}

std::string encode_waiting(const std::vector<WaitingMessage>& waiting) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const WaitingMessage& message : waiting) {
    out.object().field("id", message.id.value).field("when", name(message.when));
    if (message.taken) out.field("taken", true);
    if (message.notice) out.field("notice", message.notice);
    out.end();
  }
  out.end();
  return text;
}

Result<std::vector<WaitingMessage>> decode_waiting(std::string_view text) {
  const std::optional<json::value> value = parse(text);
  if (!value || !value->is_array()) return damaged("waiting messages");
  std::vector<WaitingMessage> waiting;
  for (const json::value& element : value->get_array()) {
    WaitingMessage& message = waiting.emplace_back();
    Fields fields(element);
    fields.id("id", message.id);
    fields.name_of("when", message.when, parse_when);
    fields.flag("taken", message.taken);
    fields.id("notice", message.notice);
    if (!fields.ok()) return damaged("waiting messages");
  }
  return waiting;
}

std::string encode_error(const TaskError& error) {
  std::string text;
  JsonOut out(text);
  // `details` is kept as text, not as a value: so it comes back byte for byte.
  out.object().field("code", error.code).field("message", error.message).field("details", error.details).end();
  return text;
}

Result<TaskError> decode_error(std::string_view text) {
  const std::optional<json::value> value = parse(text);
  if (!value) return damaged("error");
  TaskError error;
  Fields fields(*value);
  fields.text("code", error.code);
  fields.text("message", error.message);
  fields.text("details", error.details);
  if (!fields.ok()) return damaged("error");
  return error;
}

std::string encode_parts(const std::vector<Part>& parts) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const Part& part : parts) {
    out.object().field("type", name(part.type));
    Sparse fields(out);
    fields.field("text", part.text);
    fields.field("call_id", part.call_id);
    fields.field("name", part.name);
    fields.field("input", part.input);
    fields.field("is_error", part.is_error);
    fields.field("truncated", part.truncated);
    fields.field("size", part.size);
    fields.field("ms", part.ms);
    fields.field("media_type", part.media_type);
    fields.field("url", part.url);
    fields.field("opaque", part.opaque);
    out.end();
  }
  out.end();
  return text;
}

Result<std::vector<Part>> decode_parts(std::string_view text) {
  const std::optional<json::value> value = parse(text);
  if (!value || !value->is_array()) return damaged("message");
  std::vector<Part> parts;
  bool ok = true;
  for (const json::value& element : value->get_array()) decode_part(element, parts.emplace_back(), ok);
  if (!ok) return damaged("message");
  return parts;
}

void apply_event(Message& open, const Event& event) {
  if (event.type != EventType::message_delta && event.type != EventType::tool_started &&
      event.type != EventType::tool_completed) {
    return;
  }
  const std::optional<json::value> value = parse(event.data);
  if (!value) return;
  Fields fields(*value);
  if (event.type == EventType::message_delta) return apply_delta(open, fields);

  Part part;
  fields.text("call_id", part.call_id);
  if (event.type == EventType::tool_started) {
    part.type = PartType::tool_call;
    fields.text("name", part.name);
    if (const json::value* input = fields.find("input")) part.input = json::serialize(*input);
  } else {
    part.type = PartType::tool_result;
    fields.text("output", part.text);
    fields.flag("truncated", part.truncated);
    fields.integer("size", part.size);
    fields.flag("is_error", part.is_error);
    fields.integer("ms", part.ms);
  }
  if (fields.ok()) open.parts.push_back(std::move(part));
}

Result<OutputRange> decode_output(std::string_view data) {
  const std::optional<json::value> value = parse(data);
  if (!value) return damaged("output event");
  OutputRange range;
  Fields fields(*value);
  fields.text("stream", range.stream);
  fields.integer("run", range.run);
  fields.integer("offset", range.offset);
  fields.integer("length", range.length);
  if (!fields.ok() || range.offset < 0 || range.length < 0) return damaged("output event");
  return range;
}

}  // namespace errand
