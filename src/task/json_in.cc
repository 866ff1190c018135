#include "task/json_in.h"

#include <charconv>
#include <climits>

#include "task/json_fields.h"

namespace errand {

using namespace stored;

namespace {

// A list of objects, each read by `read(fields, element)`. `what` is what a damaged one is called.
template <class T, class Read>
Result<std::vector<T>> decode_list(std::string_view text, std::string_view what, Read read) {
  const auto value = parse(text);
  std::vector<T> list;
  bool ok = true;
  const auto take = [&](const json::value& element) {
    Fields fields(element);
    read(fields, list.emplace_back());
    ok = ok && fields.ok();
  };
  if (!value || !each_of(*value, take) || !ok) return damaged(what);
  return list;
}

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

// Every text by its name, for both directions.
template <class I, class Visit>
void isolation_fields(I& isolation, Visit field) {
  field("kind", isolation.kind);
  field("state", isolation.state);
  field("path", isolation.path);
  field("work_dir", isolation.work_dir);
  field("branch", isolation.branch);
  field("base", isolation.base);
  field("repo", isolation.repo);
  field("target", isolation.target);
}

// What else of a task moves with its progress: kept in the same column.
void encode_moving(JsonOut& out, const Task& task) {
  if (task.wait) {
    out.key("wait").object().field("kind", name(task.wait->kind));
    Sparse fields(out);
    fields.field("text", task.wait->text);
    fields.time("until", task.wait->until);
    fields.time("since", task.wait->since);
    out.end();
  }
  Sparse(out).time("deadline_at", task.deadline_at);
  if (task.isolation) {
    out.key("isolation").object();
    isolation_fields(*task.isolation, [&](const char* field, const std::string& text) {
      if (!text.empty()) out.field(std::string_view(field), text);
    });
    if (task.isolation->bytes > 0) out.field("bytes", task.isolation->bytes);
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
      inner.time("since", wait.since);
    });
  }
  fields.time("deadline_at", task.deadline_at);
  if (fields.find("isolation"))
    fields.inner("isolation", [&](Fields& inner) {
      Isolation& isolation = task.isolation.emplace();
      isolation_fields(isolation, [&](const char* field, std::string& into) { inner.text(field, into); });
      inner.integer("bytes", isolation.bytes);
    });
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

}  // namespace

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
  fields.field("cache_read_tokens", progress.usage.cache_read_tokens);
  fields.field("cache_write_tokens", progress.usage.cache_write_tokens);
  fields.field("unpriced", progress.usage.unpriced);
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
  const auto value = parse(text);
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
  fields.integer("cache_read_tokens", progress.usage.cache_read_tokens);
  fields.integer("cache_write_tokens", progress.usage.cache_write_tokens);
  fields.flag("unpriced", progress.usage.unpriced);
  fields.integer("output_bytes", progress.output_bytes);
  fields.integer("output_lines", progress.output_lines);
  fields.flag("output_truncated", progress.output_truncated);
  fields.number("cpu_s", progress.cpu_s);
  fields.integer("memory_bytes", progress.memory_bytes);
  fields.time("last_update", progress.last_update);
  fields.integers("attempt_ends", progress.attempt_ends);
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
    fields.field("work_dir", ask.work_dir);
    fields.field("diff", ask.diff);
    fields.field("reads", ask.reads);
    out.end();
  }
  out.end();
  return text;
}

Result<std::vector<Ask>> decode_asks(std::string_view text) {
  return decode_list<Ask>(text, "asks", [](Fields& fields, Ask& ask) {
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
    fields.text("work_dir", ask.work_dir);
    fields.text("diff", ask.diff);
    fields.flag("reads", ask.reads);
  });
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
  return decode_list<WaitingMessage>(text, "waiting messages", [](Fields& fields, WaitingMessage& message) {
    fields.id("id", message.id);
    fields.name_of("when", message.when, parse_when);
    fields.flag("taken", message.taken);
    fields.id("notice", message.notice);
  });
}

std::string encode_error(const TaskError& error) {
  std::string text;
  JsonOut out(text);
  // `details` is kept as text, not as a value: so it comes back byte for byte.
  out.object().field("code", error.code).field("message", error.message).field("details", error.details).end();
  return text;
}

Result<TaskError> decode_error(std::string_view text) {
  const auto value = parse(text);
  if (!value) return damaged("error");
  TaskError error;
  Fields fields(*value);
  fields.text("code", error.code);
  fields.text("message", error.message);
  fields.text("details", error.details);
  if (!fields.ok()) return damaged("error");
  return error;
}

Result<OutputRange> decode_output(std::string_view data) {
  const auto value = parse(data);
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
