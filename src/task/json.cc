#include "task/json.h"

#include <algorithm>

#include "base/json_out.h"
#include "base/text.h"
#include "task/json_isolation.h"
#include "task/permission.h"

namespace errand {
namespace {

// In lists and events: what is longer is cut, so that neither grows with what a caller or an agent wrote.
constexpr size_t list_characters_max = 4'000;
constexpr size_t brief_characters_max = 500;

void write_labels(JsonOut& out, const StringMap& labels) {
  out.key("labels").object();
  for (const auto& [label, text] : labels) out.field(label, text);
  out.end();
}

// What whoever is asked decides about (R14.3).
void write_matter(JsonOut& out, const Ask& ask, const std::string& work_dir, size_t diff_characters) {
  if (ask.kind != AskKind::permission) return;
  out.text_or_null("tool", ask.tool);
  out.text_or_null("work_dir", ask.work_dir.empty() ? work_dir : ask.work_dir);
  out.text_or_null("diff", first_characters(ask.diff, diff_characters));
  out.key("patterns").array();
  for (const ProposedPattern& proposed : proposed_patterns(ask.tool, ask.subject))
    out.object().field("pattern", proposed.pattern).field("text", proposed.text).end();
  out.end();
}

void write_waiting_for(JsonOut& out, const Task& task, size_t diff_characters) {
  out.key("waiting_for");
  const Ask* const open = open_ask(task);
  if (open == nullptr && task.wait) {
    out.object().field("kind", name(task.wait->kind));
    out.field("text", first_characters(task.wait->text, list_characters_max));
    out.field("until", task.wait->until).end();
    return;
  }
  if (open == nullptr) {
    out.null();
    return;
  }
  const Ask& ask = *open;
  out.object().field("kind", name(ask.kind)).field("request_id", ask.request_id);
  out.field("text", first_characters(ask.text, list_characters_max));
  out.key("options").array();
  for (const std::string& option : ask.options) out.value(option);
  out.end();
  out.field("until", ask.until);
  write_matter(out, ask, folder_of(task), diff_characters);
  out.end();
}

// The fields that are small whatever the caller sent.
void write_head(JsonOut& out, const Task& task, size_t diff_characters) {
  const Launch& launch = task.launch;
  out.field("id", task.id).field("kind", name(launch.kind)).field("status", name(task.state));
  out.text_or_null("reason", task.reason);
  write_waiting_for(out, task, diff_characters);
  out.field("stopping", task.stopping);
  out.field("agent_id", launch.agent_id).field("agent", agent_name(launch));
  out.text_or_null("model", launch.model);
  out.field("title", task.title).field("pinned", task.pinned).field("archived", task.archived);
}

void write_middle(JsonOut& out, const Task& task, std::optional<int64_t> queue_position) {
  const Launch& launch = task.launch;
  out.text_or_null("work_dir", launch.work_dir);
  write_isolation(out, task.isolation);
  out.field("session_id", task.session_id).field("parent_session_id", launch.parent_session_id);
  out.field("parent_message_id", launch.parent_message_id).field("batch_id", launch.batch_id);
  write_labels(out, launch.labels);
  out.field("is_forked", task.is_forked).field("resume_count", task.resume_count);
  out.field("attempt", task.attempt).field("turn", task.turn).field("queue_position", queue_position);
  out.field("created_at", task.created_at).field("started_at", task.started_at);
  out.field("deadline_at", task.deadline_at);
  out.field("completed_at", task.completed_at).field("updated_at", task.updated_at);
  out.field("retrieved_at", task.retrieved_at).field("expires_at", task.expires_at);
}

void write_tail(JsonOut& out, const Task& task, Time now) {
  out.field("exit_code", task.exit_code).field("signal", task.signal);
  out.key("progress");
  write_progress(out, task.progress, now);
}

void bound_or_null(JsonOut& out, std::string_view field, auto bound) {
  out.key(field);
  if (bound > 0) {
    out.value(bound);
  } else {
    out.null();
  }
}

// What holds for a command, and what an agent may use.
void write_bounds(JsonOut& out, const Launch& launch) {
  out.key("limits");
  if (launch.kind == TaskKind::command) {
    write_limits(out, launch.limits);
    out.field("sandbox", name(launch.sandbox));
  } else {
    out.null().key("sandbox").null();
  }
  out.key("budget");
  if (launch.budget == Budget{}) {
    out.null();
  } else {
    write_budget(out, launch.budget);
  }
}

// Writes a task's long texts, each up to a bound, and remembers which were cut.
class LongTexts {
 public:
  LongTexts(JsonOut& out, size_t characters_max) : out_(out), max_(characters_max) {}

  void text(std::string_view field, std::string_view text) {
    if (text.empty()) {
      out_.key(field).null();
    } else {
      whole_or_head(field, text);
    }
  }

  void result(const std::optional<std::string>& result) {
    if (result) {
      whole_or_head("result", *result);
    } else {
      out_.key("result").null();
    }
  }

  void error(const std::optional<TaskError>& error) {
    out_.key("error");
    if (!error) {
      out_.null();
      return;
    }
    out_.object().field("code", error->code);
    whole_or_head("message", error->message);
    out_.key("details");
    if (error->details.empty()) {
      out_.null();
    } else if (error->details.size() > max_) {  // JSON cannot be cut: it is left out.
      out_.null();
      cut_.push_back("error.details");
    } else {
      out_.raw(error->details);
    }
    out_.end();
  }

  const std::vector<std::string_view>& cut() const { return cut_; }
  size_t characters_max() const { return max_; }

 private:
  void whole_or_head(std::string_view field, std::string_view text) {
    // A text of no more bytes than that has no more characters.
    const std::string_view shown = text.size() <= max_ ? text : first_characters(text, max_);
    if (shown.size() < text.size()) cut_.push_back(field);
    out_.field(field, shown);
  }

  JsonOut& out_;
  size_t max_;
  std::vector<std::string_view> cut_;
};

void write_whole(JsonOut& out, const Task& task, const TaskMoment& moment, LongTexts& texts) {
  write_head(out, task, texts.characters_max());
  texts.text("description", task.launch.description);
  texts.text("prompt", task.launch.prompt);
  texts.text("command", task.launch.command);
  write_bounds(out, task.launch);
  write_middle(out, task, moment.queue_position);
  out.text_or_null("queue_reason", moment.queue_reason);
  texts.result(task.result);
  texts.error(task.error);
  write_tail(out, task, moment.now);
  out.field("seq", task.last_seq);
}

void write_part(JsonOut& out, const Part& part) {
  out.object().field("type", name(part.type));
  switch (part.type) {
    case PartType::text:
    case PartType::reasoning:
      out.field("text", part.text);
      break;
    case PartType::notice:
      out.field("text", part.text);
      if (!part.name.empty()) out.field("name", part.name);
      break;
    case PartType::tool_call:
      out.field("call_id", part.call_id).field("name", part.name);
      out.key("input").raw(part.input.empty() ? "{}" : part.input);
      break;
    case PartType::tool_result:
      out.field("call_id", part.call_id).field("output", part.text).field("truncated", part.truncated);
      out.field("size", part.size).field("is_error", part.is_error).field("ms", part.ms);
      break;
    case PartType::file:
      out.field("name", part.name).field("media_type", part.media_type).field("url", part.url);
      out.field("size", part.size);
      break;
  }
  out.end();
}

// `room` is about how long it gets: one piece of memory instead of seven that double.
template <class Fill>
Event make_event(EventType type, Time now, Fill fill, size_t room = 0) {
  Event event;
  event.type = type;
  event.at = now;
  event.data.reserve(room);
  JsonOut out(event.data);
  out.object();
  fill(out);
  out.end();
  return event;
}

}  // namespace

void write_isolation(JsonOut& out, const std::optional<Isolation>& isolation) {
  out.key("isolation");
  if (!isolation) {
    out.null();
    return;
  }
  out.object().field("kind", isolation->kind).field("state", isolation->state);
  out.text_or_null("path", isolation->path).text_or_null("work_dir", isolation->work_dir);
  out.text_or_null("branch", isolation->branch).text_or_null("base", isolation->base);
  out.text_or_null("repo", isolation->repo).text_or_null("target", isolation->target);
  out.key("bytes");
  if (isolation->bytes > 0)
    out.value(isolation->bytes);
  else
    out.null();
  out.end();
}

void write_limits(JsonOut& out, const Limits& limits) {
  out.object();
  bound_or_null(out, "cpu_s", limits.cpu_s);
  bound_or_null(out, "memory_bytes", limits.memory_bytes);
  bound_or_null(out, "processes", limits.processes);
  bound_or_null(out, "open_files", limits.open_files);
  bound_or_null(out, "output_bytes", limits.output_bytes);
  out.field("nice", limits.nice).end();
}

void write_budget(JsonOut& out, const Budget& budget) {
  out.object();
  bound_or_null(out, "tokens", budget.tokens);
  bound_or_null(out, "cost_usd", budget.cost_usd);
  bound_or_null(out, "turns", budget.turns);
  bound_or_null(out, "tool_calls", budget.tool_calls);
  bound_or_null(out, "wall_s", static_cast<double>(budget.wall_ms) / 1000);
  out.end();
}

void write_task(JsonOut& out, const Task& task, const TaskMoment& moment) {
  LongTexts texts(out, std::string::npos);
  out.object();
  write_whole(out, task, moment, texts);
  out.end();
}

void write_task_in_list(JsonOut& out, const Task& task, const TaskMoment& moment) {
  LongTexts texts(out, list_characters_max);
  out.object();
  write_whole(out, task, moment, texts);
  if (!texts.cut().empty()) {
    out.key("cut").array();
    for (const std::string_view field : texts.cut()) out.value(field);
    out.end();
  }
  out.end();
}

void write_task_brief(JsonOut& out, const Task& task, Time now) {
  out.object();
  write_head(out, task, 0);  // Its ask.created event has the diff.
  write_middle(out, task, std::nullopt);
  out.key("error");
  if (task.error) {
    out.object().field("code", task.error->code);
    out.field("message", first_characters(task.error->message, brief_characters_max)).end();
  } else {
    out.null();
  }
  write_tail(out, task, now);
  out.end();
}

void write_question(JsonOut& out, const Ask& ask, const std::string& work_dir) {
  out.field("request_id", ask.request_id).field("kind", name(ask.kind)).field("text", ask.text);
  out.key("options").array();
  for (const std::string& option : ask.options) out.value(option);
  out.end();
  out.field("asked_at", ask.at).field("until", ask.until);
  write_matter(out, ask, work_dir, std::string::npos);
}

void write_artifact(JsonOut& out, const Artifact& artifact) {
  const bool log = artifact.source == ArtifactSource::log;
  out.object().field("id", artifact.id).field("name", artifact.name);
  out.field("kind", log ? "log" : "file").field("source", name(artifact.source));
  if (log) out.field("run", artifact.run);
  out.field("size", artifact.size).field("media_type", artifact.media_type);
  out.text_or_null("sha256", artifact.sha256);
  out.field("modified_at", artifact.modified).end();
}

void write_progress(JsonOut& out, const Progress& progress, Time now) {
  out.object().field("tool_calls", progress.tool_calls);
  out.key("recent_tools").array();
  for (const ToolUse& tool : progress.recent_tools) {
    out.object().field("name", tool.name).field("summary", tool.summary).field("at", tool.at).end();
  }
  out.end();
  out.field("turns", progress.turns);
  out.key("usage").object();
  out.field("input_tokens", progress.usage.input_tokens).field("output_tokens", progress.usage.output_tokens);
  out.field("cache_read_tokens", progress.usage.cache_read_tokens);
  out.field("cache_write_tokens", progress.usage.cache_write_tokens);
  // What has no price is unknown, never 0 (R15.3).
  if (progress.usage.unpriced && progress.usage.cost_usd <= 0) {
    out.key("cost_usd").null();
  } else {
    out.field("cost_usd", progress.usage.cost_usd);
  }
  out.field("unpriced", progress.usage.unpriced).end();
  out.field("output_bytes", progress.output_bytes).field("output_lines", progress.output_lines);
  if (progress.output_truncated) out.field("output_truncated", true);
  out.field("cpu_s", progress.cpu_s).field("memory_bytes", progress.memory_bytes);
  out.field("last_update", progress.last_update);
  if (progress.last_update) {
    // A clock that was set back must not show a negative age.
    out.field("idle_s", static_cast<double>(std::max<Millis>(0, now - progress.last_update)) / 1000);
  } else {
    out.key("idle_s").null();
  }
  out.end();
}

void write_message(JsonOut& out, const Message& message) {
  out.object().field("id", message.id).field("session_id", message.session_id).field("seq", message.seq);
  out.field("role", name(message.role)).field("turn", message.turn);
  out.field("created_at", message.created_at).field("completed_at", message.completed_at);
  out.field("interrupted", message.interrupted);
  out.key("parts");
  write_parts(out, message.parts);
  out.end();
}

void write_parts(JsonOut& out, const std::vector<Part>& parts) {
  out.array();
  for (const Part& part : parts) write_part(out, part);
  out.end();
}

void write_notice(JsonOut& out, const Notice& notice) {
  out.object().field("id", notice.id).field("session_id", notice.session_id).field("seq", notice.seq);
  out.field("task_id", notice.task_id).field("turn", notice.turn).field("kind", name(notice.kind));
  out.field("text", notice.text);
  out.key("data").raw(notice.data.empty() ? "{}" : notice.data);
  out.field("created_at", notice.created_at).field("taken_at", notice.taken_at).end();
}

void write_batch_counts(JsonOut& out, const BatchCounts& counts) {
  out.object();
  for (int i = 0; i < task_state_count; ++i) out.field(name(static_cast<TaskState>(i)), counts.by_state[i]);
  out.end();
}

Event task_event(EventType created_or_status, const Task& after, Time now) {
  Event event = make_event(
      created_or_status, now,
      [&](JsonOut& out) {
        out.key("task");
        write_task_brief(out, after, now);
      },
      1000);
  event.task_id = after.id;
  return event;
}

Event progress_event(const Task& after, Time now) {
  Event event = make_event(EventType::task_progress, now, [&](JsonOut& out) {
    out.key("progress");
    write_progress(out, after.progress, now);
  });
  event.task_id = after.id;
  return event;
}

Event warning_event(std::string_view code, std::string_view text, Time now) {
  return make_event(EventType::task_warning, now, [&](JsonOut& out) { out.field("code", code).field("text", text); });
}

Event match_event(std::string_view pattern, std::string_view line, int64_t more, Time now) {
  return make_event(EventType::task_match, now,
                    [&](JsonOut& out) { out.field("pattern", pattern).field("line", line).field("more", more); });
}

Event message_event(EventType created_or_completed, const Message& message, Time now) {
  size_t room = 400;
  for (const Part& part : message.parts) room += part.text.size();
  return make_event(
      created_or_completed, now,
      [&](JsonOut& out) {
        out.key("message");
        write_message(out, message);
      },
      room);
}

Event delta_event(const MessageId& message, int part, std::string_view text, Time now, PartType type) {
  return make_event(EventType::message_delta, now, [&](JsonOut& out) {
    out.field("message_id", message).field("part", part).field("type", name(type)).field("text", text);
  });
}

Event tool_started_event(const MessageId& message, const Part& call, Time now) {
  return make_event(EventType::tool_started, now, [&](JsonOut& out) {
    out.field("message_id", message).field("call_id", call.call_id).field("name", call.name);
    out.key("input").raw(call.input.empty() ? "{}" : call.input);
  });
}

Event tool_completed_event(const Part& result, Time now) {
  return make_event(EventType::tool_completed, now, [&](JsonOut& out) {
    out.field("call_id", result.call_id).field("output", result.text).field("truncated", result.truncated);
    out.field("size", result.size).field("is_error", result.is_error).field("ms", result.ms);
  });
}

Event output_event(std::string_view stream, int run, int64_t offset, int64_t length, Time now) {
  return make_event(EventType::output, now, [&](JsonOut& out) {
    out.field("stream", stream).field("run", run).field("offset", offset).field("length", length);
  });
}

Event ask_created_event(const Ask& ask, const std::string& work_dir, Time now) {
  return make_event(EventType::ask_created, now, [&](JsonOut& out) {
    out.field("request_id", ask.request_id).field("kind", name(ask.kind)).field("text", ask.text);
    out.key("options").array();
    for (const std::string& option : ask.options) out.value(option);
    out.end();
    write_matter(out, ask, work_dir, std::string::npos);
  });
}

Event ask_answered_event(const Ask& ask, std::string_view by, Time now, std::string_view scope) {
  return make_event(EventType::ask_answered, now, [&](JsonOut& out) {
    out.field("request_id", ask.request_id).field("decision", ask.decision).field("by", by);
    if (!scope.empty()) out.field("scope", scope);
    if (!ask.reply.empty()) out.field(ask.decision == "answer" ? "answer" : "message", ask.reply);
  });
}

Event notice_event(EventType created_or_taken, const NoticeId& notice, Time now) {
  return make_event(created_or_taken, now, [&](JsonOut& out) { out.field("notice_id", notice); });
}

Event end_event(TaskState state, Time now) {
  return make_event(EventType::end, now, [&](JsonOut& out) { out.field("status", name(state)); });
}

}  // namespace errand
