// background_output (R8.2): results and progress, of one task, several, or a batch; at once, or when they are there.
#include <algorithm>

#include "base/json_out.h"
#include "base/text.h"
#include "task/notice.h"
#include "tools/ask_watch.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

constexpr size_t tasks_max = 50;
// Below the 60 s after which MCP clients give up a call by default.
constexpr int64_t timeout_default_s = 50;
constexpr int64_t timeout_max_s = 3'600;
// Of a result that shares its place with many others, this much is shown at least.
constexpr size_t share_min = 200;

struct Request {
  std::vector<std::string> ids;
  BatchId batch;
  bool block = false;
  Millis timeout_ms = timeout_default_s * 1'000;
  Until until = Until::all;
};

std::optional<Until> parse_until(std::string_view word) {
  if (word == "all") return Until::all;
  if (word == "first") return Until::first;
  return std::nullopt;
}

Request read_request(api::Fields& fields) {
  Request request;
  std::string id;
  fields.text("task_id", id, id_rule);
  if (!id.empty()) request.ids.push_back(std::move(id));
  fields.texts("task_ids", request.ids, tasks_max, id_rule);
  fields.text("batch_id", request.batch.value, id_rule);
  fields.flag("block", request.block);
  double seconds = timeout_default_s;
  fields.positive("timeout", seconds, timeout_max_s);
  request.timeout_ms = static_cast<Millis>(seconds * 1'000);
  fields.name_of("until", request.until, parse_until, "`all` or `first`");
  const int given = static_cast<int>(fields.has("task_id")) + static_cast<int>(fields.has("task_ids")) +
                    static_cast<int>(fields.has("batch_id"));
  if (given != 1) fields.refuse_all("Give one of `task_id`, `task_ids` and `batch_id`.", "missing_field");
  if (request.ids.empty() && request.batch.empty()) fields.refuse("task_ids", "must name at least one task", "empty");
  return request;
}

// R3.7 for a command: its result is the end of what it printed, and of a long output the beginning is in its log.
bool printed_more(const Task& task) {
  return task.launch.kind == TaskKind::command && !at_work(task.state) && task.result &&
         task.progress.output_bytes > static_cast<int64_t>(task.result->size());
}

struct Head {
  std::string text;
  bool whole = false;  // Nothing came behind it.
};

// On a reader thread. Empty where the log cannot be read: then there is the end alone.
Head read_head(const Driver& driver, const Task& task, int64_t bytes) {
  Head head;
  const Result<LogRead> log = driver.read_log(task.id, task.run, 0, bytes);
  if (!log || log->cut > 0) return head;
  for (const LogPiece& piece : log->pieces) head.text += piece.bytes;
  head.whole = log->next >= log->size;
  head.text = to_utf8(head.text);
  return head;
}

std::string_view last_characters(std::string_view text, size_t count) {
  const size_t all = count_characters(text);
  return all <= count ? text : text.substr(first_characters(text, all - count).size());
}

std::string ends_of_output(const Task& task, const Head& head, size_t cap, const std::string& how) {
  const Progress& progress = task.progress;
  if (head.whole) return bounded(head.text, cap, how);
  const std::string mark = "\n[... cut here: the whole output has " + std::to_string(progress.output_lines) +
                           " lines (" + std::to_string(progress.output_bytes) + " bytes). " + how + " ...]\n";
  const size_t mark_characters = count_characters(mark);
  const size_t kept = cap > mark_characters ? cap - mark_characters : 0;
  const std::string_view begin = first_characters(head.text, kept - kept / 2);
  std::string_view end = last_characters(*task.result, kept / 2);
  // Of characters of several bytes both may reach into each other.
  const auto left = static_cast<size_t>(std::max<int64_t>(0, progress.output_bytes - std::ssize(begin)));
  if (end.size() > left) end.remove_prefix(end.size() - utf8_suffix(end, left));
  return std::string(begin) + mark + std::string(end);
}

// One call on its way: which tasks, the wait, what they say, and the notices that are answered by it.
class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  Gathering(CallPtr call, Request request) : call_(std::move(call)), request_(std::move(request)) {}

  void start() {
    if (!request_.batch.empty()) {
      return with_batch(call_, request_.batch, tasks_max, [self = shared_from_this()](Members members) {
        self->more_ = members.more;
        for (Task& task : members.tasks) self->ids_.push_back(std::move(task.id));
        self->wait();
      });
    }
    find_next();
  }

 private:
  void find_next() {
    if (found_ == request_.ids.size()) return wait();
    with_task(call_, request_.ids[found_++], [self = shared_from_this()](const TaskView& view) {
      if (std::ranges::find(self->ids_, view.task.id) == self->ids_.end()) self->ids_.push_back(view.task.id);
      self->find_next();
    });
  }

  void wait() {
    if (!request_.block) return gather();
    wait_ = call_->parts.engine.tasks().wait(ids_, request_.until, request_.timeout_ms,
                                             [self = shared_from_this()](Result<void> over) { self->over(over); });
    // Who waits for a task that waits for him would wait for good.
    watch_ = std::make_unique<AskWatch>(call_, ids_, [self = weak_from_this()] {
      const auto here = self.lock();
      if (!here || !here->watch_) return;
      here->call_->parts.engine.tasks().give_up(here->wait_);
      here->over({});
    });
    if (!call_->caller.cancellation) return;
    call_->caller.cancellation->on_cancel([self = shared_from_this()] {
      self->call_->parts.engine.tasks().give_up(self->wait_);
      self->watch_.reset();
      self->call_->refuse({Code::unavailable, "The wait was cancelled; the task goes on.", "given_up"});
    });
  }

  void over(const Result<void>& waited) {
    const auto self = shared_from_this();
    watch_.reset();
    if (call_->caller.cancellation) call_->caller.cancellation->on_cancel(nullptr);
    if (!waited) return call_->refuse(waited.error());
    gather();
  }

  // Read through the engine, so that the first reading is remembered (R3.1).
  void gather() {
    results_.resize(ids_.size());
    left_ = ids_.size();
    const auto got = [self = shared_from_this()](size_t i, Result<TaskView> view) {
      if (!view) self->failed_ = view.error();
      if (view) self->results_[i] = std::make_shared<const TaskView>(std::move(*view));
      if (--self->left_ == 0) self->gathered();
    };
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (call_->caller.rights.only_looks()) {
        call_->parts.engine.tasks().get(ids_[i], [got, i](Result<TaskView> view) { got(i, std::move(view)); });
        continue;
      }
      call_->parts.engine.tasks().result(ids_[i], 0, [got, i](Result<ResultView> result) {
        got(i, result ? Result<TaskView>(std::move(result->view)) : std::unexpected(result.error()));
      });
    }
  }

  void gathered() {
    std::erase_if(results_, [](const std::shared_ptr<const TaskView>& result) { return !result; });
    // One that was removed meanwhile is not in the answer, unless it was the only one.
    if (results_.empty()) return call_->refuse(failed_);
    if (!request_.block || call_->caller.session.empty() || call_->caller.rights.only_looks()) return answer();
    find_notices();
  }

  // R5.5: whoever waited and got the result need not be told again.
  void find_notices() {
    std::vector<std::pair<TaskId, int>> ended;
    bool whole = !request_.batch.empty() && !more_;
    for (const std::shared_ptr<const TaskView>& result : results_) {
      const bool rests = !at_work(result->task.state);
      whole = whole && rests;
      if (rests) ended.emplace_back(result->task.id, result->task.turn);
    }
    read_then(
        call_,
        [&store = call_->parts.store, session = call_->caller.session, ended,
         whole]() -> Result<std::vector<NoticeId>> {
          std::vector<NoticeId> ids;
          for (const auto& [task, turn] : ended) {
            const Result<std::vector<Notice>> notices = store.notices_of_task(task);
            if (!notices) return std::unexpected(notices.error());
            for (const Notice& notice : *notices) {
              const bool told = notice.kind == NoticeKind::turn_ended || notice.kind == NoticeKind::progress ||
                                (whole && notice.kind == NoticeKind::batch_ended);
              if (told && !notice.taken_at && notice.turn <= turn && notice.session_id == session)
                ids.push_back(notice.id);
            }
          }
          return ids;
        },
        [self = shared_from_this()](std::vector<NoticeId> ids) { self->take(std::move(ids)); });
  }

  void take(std::vector<NoticeId> ids) {
    if (ids.empty()) return answer();
    left_ = ids.size();
    for (NoticeId& id : ids)
      call_->parts.engine.sessions().take_notice(call_->caller.session, std::move(id),
                                                 [self = shared_from_this()](Result<Notice>) {
                                                   // One that could not be taken is told once more: that is no reason
                                                   // to keep the result back.
                                                   if (--self->left_ == 0) self->answer();
                                                 });
  }

  void answer() {
    heads_.resize(results_.size());
    std::vector<std::pair<size_t, Task>> long_ones;
    for (size_t i = 0; i < results_.size(); ++i)
      if (printed_more(results_[i]->task)) long_ones.emplace_back(i, results_[i]->task);
    if (long_ones.empty()) return write();
    // No character has more than four bytes.
    const auto bytes = static_cast<int64_t>(share() * 2);
    const Driver* const driver =
        call_->parts.engine.tasks().driver_of(long_ones.front().second);  // One for all commands.
    read_then(
        call_,
        [driver, bytes, long_ones, heads = heads_]() mutable -> Result<std::vector<Head>> {
          for (const auto& [i, task] : long_ones)
            if (driver) heads[i] = read_head(*driver, task, bytes);
          return std::move(heads);
        },
        [self = shared_from_this()](std::vector<Head> heads) {
          self->heads_ = std::move(heads);
          self->write();
        });
  }

  size_t share() const { return std::max(share_min, result_cap / results_.size()); }

  // What is shown of a result.
  std::string shown_of(size_t i) const {
    const Task& task = results_[i]->task;
    if (at_work(task.state) || !task.result) return {};
    const std::string look = "Read the rest with look_at(task_id=\"" + task.id.value + "\", ";
    return printed_more(task) ? ends_of_output(task, heads_[i], share(), look + "offset=...).")
                              : bounded(*task.result, share(), look + "path=\"result\", offset=...).");
  }

  void write() {
    std::string text, data;
    std::vector<OpenAsk> asks;
    bool timed_out = false;
    JsonOut out(data);
    out.object().key("tasks").array();
    for (size_t i = 0; i < results_.size(); ++i) {
      const std::shared_ptr<const TaskView>& result = results_[i];
      const Task& task = result->task;
      timed_out = timed_out || at_work(task.state);
      const bool shown = !at_work(task.state) && task.result.has_value();
      const std::string bounded_result = shown_of(i);
      const int64_t whole = printed_more(task) ? task.progress.output_bytes : shown ? std::ssize(*task.result) : 0;
      text += (text.empty() ? "" : "\n\n---\n\n") + describe(*result);
      if (shown && !trim(bounded_result).empty()) text += "\n\n" + bounded_result;
      if (at_work(task.state)) text += what_next(task);
      for (const Ask& ask : task.asks)
        if (at_work(task.state) && ask.decision.empty()) asks.push_back({task, ask});
      out.object();
      write_task_members(out, *result);
      out.key("result");
      if (shown) {
        out.value(bounded_result);
      } else {
        out.null();
      }
      out.field("result_truncated", shown && std::ssize(bounded_result) != whole);
      out.field("result_bytes", whole);
      out.field("retrieved_at", task.retrieved_at).end();
    }
    out.end().field("timed_out", request_.block && timed_out && request_.until == Until::all);
    out.field("more", more_).end();
    if (more_) text += "\n\nThe batch has more tasks than the " + std::to_string(tasks_max) + " shown here.";
    call_->answer(std::move(text), std::move(data), std::move(asks));
  }

  std::string what_next(const Task& task) const {
    if (const Ask* const ask = open_ask(task); ask && ask->kind == AskKind::answer)
      return "\n\nAnswer it with " + call_->name("message") + "(task_id=\"" + task.id.value + "\", request_id=\"" +
             ask->request_id + "\", message=...).";
    if (request_.block) return "\n\nIt is still at work; go on with something else, or call again to wait on.";
    return call_->caller.session.empty()
               ? "\n\nIt is still at work; call again with block=true to wait for it."
               : "\n\nIt is still at work; this session is told when it ends. Call with block=true only where you "
                 "cannot go on without it.";
  }

  const CallPtr call_;
  const Request request_;
  size_t found_ = 0;
  std::vector<TaskId> ids_;
  uint64_t wait_ = 0;
  std::unique_ptr<AskWatch> watch_;
  bool more_ = false;
  std::vector<std::shared_ptr<const TaskView>> results_;
  std::vector<Head> heads_;  // Of the same places in results_.
  size_t left_ = 0;
  Error failed_;
};

void handle(const CallPtr& call, api::Fields fields) {
  Request request = read_request(fields);
  if (call->refused(fields)) return;
  std::make_shared<Gathering>(call, std::move(request))->start();
}

}  // namespace

Tool background_output() {
  return {
      {.name = "background_output",
       .title = "Read a background task's result or progress",
       .description =
           "The result of tasks that have ended, the progress of those at work. With block=true it waits until they "
           "end "
           "or ask something; running out of time is no error. You are told when a task ends: block only where you "
           "cannot go on without it. Give one of task_id, task_ids, batch_id. A long result is cut in the middle; "
           "look_at(task_id, path=\"result\") reads it whole.",
       .input_schema =
           R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"task_ids":{"type":"array","items":{"type":"string"},"maxItems":50,"description":"Several tasks."},
"batch_id":{"type":"string","description":"All of a batch."},
"block":{"type":"boolean","description":"Wait. Default: answer at once."},
"timeout":{"type":"number","maximum":3600,"description":"With block: seconds to wait. Default: 50."},
"until":{"type":"string","enum":["all","first"],"description":"With block: wait for all (default) or the first."}},"additionalProperties":false})",
       .output_schema = object_schema(
           R"("tasks":{"type":"array","items":)" +
           object_schema(
               task_properties() +
               R"(,"result":{"type":["string","null"],"description":"null while it is at work."},"result_truncated":{"type":"boolean"},"result_bytes":{"type":"integer"},"retrieved_at":{"type":["string","null"]})") +
           R"(},"timed_out":{"type":"boolean","description":"The wait was over before all were at rest."},"more":{"type":"boolean","description":"The batch has more tasks than these."})"),
       .example = R"({"task_id":"task_01k9z3s5x7e8","block":true,"timeout":120})",
       .annotations = {.read_only = true},
       .role = Role::waits},
      handle};
}

}  // namespace errand::tools
