#include "api/replies.h"

#include <algorithm>
#include <utility>

#include "base/json_out.h"
#include "base/text.h"
#include "task/notice.h"

namespace errand::api {
namespace {

// What the results of a batch may have together, in characters: enough for any that is meant to be read.
constexpr size_t batch_results_characters_max = 8u << 20;

template <class Fill>
std::string object(Fill fill) {
  std::string text;
  JsonOut out(text);
  out.object();
  fill(out);
  out.end();
  return text;
}

void write_error(JsonOut& out, const std::optional<TaskError>& error) {
  out.key("error");
  if (!error) {
    out.null();
    return;
  }
  out.object().field("code", error->code).field("message", error->message).key("details");
  if (error->details.empty()) {
    out.null();
  } else {
    out.raw(error->details);
  }
  out.end();
}

void write_result(JsonOut& out, const ResultView& result, size_t characters_max) {
  const Task& task = result.view.task;
  out.field("task_id", task.id).field("status", name(task.state)).text_or_null("reason", task.reason);
  out.key("result");
  if (at_work(task.state) || !task.result) {
    // A task that was resumed still has the result of its last turn; it is not what was asked for.
    out.null();
  } else if (task.result->size() <= characters_max) {
    out.value(*task.result);
  } else {
    out.value(
        bounded(*task.result, characters_max, "Read the whole with GET /api/tasks/" + task.id.value + "/result."));
  }
  write_error(out, task.error);
  out.field("exit_code", task.exit_code).field("signal", task.signal);
  out.field("retrieved_at", task.retrieved_at);
  out.key("progress");
  write_progress(out, task.progress, result.view.moment.now);
  out.field("timed_out", result.timed_out).field("seq", task.last_seq);
}

void write_batch(JsonOut& out, const BatchId& id, const BatchCounts& counts) {
  out.field("batch_id", id).field("total", counts.total()).field("at_work", counts.working()).key("counts");
  write_batch_counts(out, counts);
}

// What stands after "data: " in a frame's body.
std::string_view frame_data(const Frame& frame) {
  constexpr std::string_view mark = "\ndata: ";
  const std::string_view body = frame.body;
  const size_t at = body.find(mark);
  if (at == std::string_view::npos) return "{}";
  return trim(body.substr(at + mark.size()));
}

}  // namespace

std::string task_reply(const TaskView& view) {
  std::string text;
  text.reserve(2048);
  JsonOut out(text);
  write_task(out, view.task, view.moment);
  return text;
}

std::string list_reply(const TaskListReply& list, const std::vector<TaskMoment>& moments) {
  return object([&](JsonOut& out) {
    out.key("tasks").array();
    for (size_t i = 0; i < list.page.tasks.size(); ++i) write_task_in_list(out, list.page.tasks[i], moments[i]);
    out.end();
    out.text_or_null("next_cursor", list.page.next_cursor);
    if (list.total) out.field("total", *list.total);
    if (list.counts) {
      out.key("counts");
      write_counts(out, *list.counts);
      out.field("needs_input", list.needs_input);
    }
    if (list.batches) {
      out.key("batches").array();
      for (const auto& [id, counts] : *list.batches) {
        out.object();
        write_batch(out, id, counts);
        out.end();
      }
      out.end();
    }
  });
}

std::string inbox_reply(const std::vector<TaskView>& asking, const std::vector<TaskView>& failures, bool more) {
  return object([&](JsonOut& out) {
    out.key("questions").array();
    for (const TaskView& view : asking)
      for (const Ask& ask : view.task.asks) {
        if (!ask.decision.empty()) continue;
        out.object().key("task");
        write_task_in_list(out, view.task, view.moment);
        write_question(out, ask, folder_of(view.task));
        out.end();
      }
    out.end();
    out.key("failures").array();
    for (const TaskView& view : failures) write_task_in_list(out, view.task, view.moment);
    out.end();
    out.field("more", more);
  });
}

std::string message_taken_reply(const MessageTaken& taken) {
  return object([&](JsonOut& out) {
    out.key("task");
    write_task(out, taken.view.task, taken.view.moment);
    out.field("turn", taken.turn).field("message_id", taken.message_id);
  });
}

std::string result_reply(const ResultView& result) {
  return object([&](JsonOut& out) { write_result(out, result, std::string::npos); });
}

std::string cleared_reply(const Cleared& cleared) {
  return object([&](JsonOut& out) { out.field("removed", cleared.removed).field("left", cleared.left); });
}

std::string quotas_reply(const std::vector<Quota>& quotas) {
  return object([&](JsonOut& out) {
    out.key("quotas").array();
    for (const Quota& quota : quotas) {
      out.object().field("account", quota.account).field("driver", quota.driver);
      out.text_or_null("model", quota.model);
      out.text_or_null("base_url", quota.base_url);
      out.field("text", quota.text).field("since", quota.since).field("until", quota.until);
      out.key("task_ids").array();
      for (const TaskId& id : quota.tasks) out.value(id.value);
      out.end().field("waiting", quota.waiting).field("queued", quota.queued).end();
    }
    out.end();
  });
}

std::string quotas_cleared_reply(int64_t cleared) {
  return object([&](JsonOut& out) { out.field("cleared", cleared); });
}

int64_t running_count(const StateCounts& counts) {
  return counts.by_state[std::to_underlying(TaskState::running)] +
         counts.by_state[std::to_underlying(TaskState::resumed)];
}

std::string running_reply(const StateCounts& counts) { return count_reply("count", running_count(counts)); }

void write_counts(JsonOut& out, const StateCounts& counts) {
  out.object();
  for (int i = 0; i < task_state_count; ++i) out.field(name(static_cast<TaskState>(i)), counts.by_state[i]);
  out.end();
}

std::string messages_reply(const MessagePage& page) {
  return object([&](JsonOut& out) {
    out.key("messages").array();
    for (const Message& message : page.messages) write_message(out, message);
    out.end();
    out.field("more", page.more).field("seq", page.task_seq);
  });
}

std::string events_reply(const std::vector<FramePtr>& frames, int64_t after) {
  return object([&](JsonOut& out) {
    out.key("events").array();
    for (const FramePtr& frame : frames) out.raw(frame_data(*frame));
    out.end();
    out.field("next_after", frames.empty() ? after : frames.back()->seq);
  });
}

std::string batch_reply(const BatchId& id, const BatchCounts& counts) {
  return object([&](JsonOut& out) { write_batch(out, id, counts); });
}

std::string batches_reply(const BatchPage& page) {
  return object([&](JsonOut& out) {
    out.key("batches").array();
    for (const BatchInfo& info : page.batches) {
      out.object();
      write_batch(out, info.id, info.counts);
      out.field("title", info.title).field("created_at", info.created_at).end();
    }
    out.end();
    out.text_or_null("next_cursor", page.next_cursor);
  });
}

namespace {

void write_usage_sum(JsonOut& out, const UsageSum& sum) {
  out.field("calls", sum.calls).field("unpriced_calls", sum.unpriced);
  out.field("input_tokens", sum.tokens.input).field("output_tokens", sum.tokens.output);
  out.field("cache_read_tokens", sum.tokens.cache_read).field("cache_write_tokens", sum.tokens.cache_write);
  // What has no price is unknown, never 0 (R15.3); where some of it has, this is the least that it cost.
  if (sum.calls > 0 && sum.unpriced == sum.calls) {
    out.key("cost_usd").null();
  } else {
    out.field("cost_usd", sum.cost_usd);
  }
}

}  // namespace

std::string usage_reply(const UsageQuery& query, const UsageReport& report) {
  return object([&](JsonOut& out) {
    out.field("by", name(query.by)).field("from", query.from).field("to", query.to);
    out.key("groups").array();
    for (const UsageSum& sum : report.groups) {
      out.object().field("key", sum.key);
      write_usage_sum(out, sum);
      out.end();
    }
    out.end().key("total").object();
    write_usage_sum(out, report.total);
    out.end().field("more", report.more);
  });
}

std::string batch_results_reply(const BatchId& id, const BatchCounts& counts, const std::vector<ResultView>& results,
                                bool more) {
  const size_t share = batch_results_characters_max / std::max<size_t>(1, results.size());
  return object([&](JsonOut& out) {
    write_batch(out, id, counts);
    out.key("results").array();
    for (const ResultView& result : results) {
      out.object();
      write_result(out, result, std::max(result_cap, share));
      out.end();
    }
    out.end();
    out.field("more", more);
  });
}

std::string count_reply(std::string_view field, int64_t count) {
  return object([&](JsonOut& out) { out.field(field, count); });
}

std::string session_reply(const Session& session) {
  return object([&](JsonOut& out) {
    out.field("id", session.id).field("task_id", session.task_id).field("origin", session.origin);
    out.text_or_null("title", session.title);
    out.field("created_at", session.created_at);
    out.field("last_message", session.last_message).field("last_notice", session.last_notice);
  });
}

std::string notices_reply(const std::vector<Notice>& notices, int64_t after) {
  return object([&](JsonOut& out) {
    out.key("notices").array();
    for (const Notice& notice : notices) write_notice(out, notice);
    out.end();
    out.field("next_after", notices.empty() ? after : notices.back().seq);
  });
}

std::string notice_reply(const Notice& notice) {
  std::string text;
  JsonOut out(text);
  write_notice(out, notice);
  return text;
}

}  // namespace errand::api
