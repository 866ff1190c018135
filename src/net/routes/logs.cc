// Logs and artifacts. For now the log of each run is the artifact it left.
#include <algorithm>

#include "api/query.h"
#include "base/json_out.h"
#include "base/text.h"
#include "net/routes/context.h"
#include "net/routes/log_stream.h"
#include "net/routes/log_text.h"

namespace errand::net {
namespace {

using api::LogQuery;

// Which log is meant.
struct Source {
  TaskId task;
  const Driver* driver = nullptr;
  int run = 0;  // 0: nothing was started yet.
};

// What the task's record says of its runs.
struct Runs {
  TaskId task;
  const Driver* driver = nullptr;
  int last_attempt = 1;
  int last_run = 0;
};

// The log of an attempt: the last belongs to the task's last run, an earlier one to the run of that number in the order
// of their starts.
Result<Source> find_log(const Runs& of, const LogQuery& query) {
  if (!of.driver) return fail(Code::unavailable, "The driver of this task is not here; its log cannot be read.");
  const auto missing = [](std::string_view what, int number) {
    return fail(Code::not_found,
                "There is no log of " + std::string(what) + " " + std::to_string(number) + " of this task.", "no_log");
  };
  if (query.run) {
    if (*query.run > of.last_run) return missing("run", *query.run);
    return Source{of.task, of.driver, *query.run};
  }
  if (query.attempt && *query.attempt != of.last_attempt) {
    if (*query.attempt > of.last_attempt) return missing("attempt", *query.attempt);
    const std::vector<int> runs = of.driver->log_runs(of.task);
    const auto index = static_cast<size_t>(*query.attempt) - 1;
    if (index >= runs.size()) return missing("attempt", *query.attempt);
    return Source{of.task, of.driver, runs[index]};
  }
  return Source{of.task, of.driver, of.last_run};
}

// What is read at once.
struct LogPage {
  std::string text;
  int64_t next = 0;
  int64_t size = 0;
  int64_t first = 0;  // Where the first piece begins.
};

// Up to `limit` bytes from `offset`. One reading ends where the log was cut: the next one begins behind that.
Result<LogPage> read_pieces(const Source& source, const LogQuery& query, int64_t offset, int64_t limit) {
  LogPage page{.next = std::max<int64_t>(0, offset)};
  if (source.run == 0) return page;
  LogText text(query.format, query.grep, query.since);
  for (bool begun = false; limit > 0; begun = true) {
    Result<LogRead> read = source.driver->read_log(source.task, source.run, offset, limit);
    // A run that printed nothing, or a kind of task that does not print, has an empty log.
    if (!read && read.error().code == Code::not_found && !query.run) break;
    if (!read) return std::unexpected(read.error());
    page.next = read->next;
    page.size = read->size;
    if (read->pieces.empty()) break;
    if (!begun) page.first = read->pieces.front().offset;
    if (!begun && query.tail) read->cut = 0;  // What came before was not asked for.
    text.add(*read, page.text);
    for (const LogPiece& piece : read->pieces) limit -= static_cast<int64_t>(piece.bytes.size());
    if (read->next <= offset) break;
    offset = read->next;
  }
  text.finish(page.text);
  return page;
}

Result<LogPage> read_range(const Source& source, const LogQuery& query) {
  return read_pieces(source, query, query.offset, query.limit);
}

// The last lines (that match): reads backwards, further each time, until there are enough.
Result<LogPage> read_tail(const Source& source, const LogQuery& query) {
  const auto lines = static_cast<size_t>(*query.tail);
  for (int64_t window = 64 * 1024;; window *= 8) {
    window = std::min<int64_t>(window, LogQuery::log_limit_max);
    Result<LogPage> page = read_pieces(source, query, -window, window);
    if (!page) return page;
    const auto have = static_cast<size_t>(std::ranges::count(page->text, '\n'));
    const bool whole = page->size <= window || page->first == 0;
    if (have <= lines && !whole && window < LogQuery::log_limit_max) continue;
    page->text = last_lines(page->text, lines);
    return page;
  }
}

std::string_view media_type(LogQuery::Format format) {
  return format == LogQuery::Format::jsonl ? "application/jsonl" : "text/plain; charset=utf-8";
}

void follow(Context& context, const Call& call, const Source& source, const LogQuery& query, LogPage first) {
  Response head{.status = 200, .content_type = std::string(media_type(query.format)), .body = {}, .headers = {}};
  head.headers = {{"Cache-Control", "no-store, no-transform"}, {"X-Accel-Buffering", "no"}};
  LogStream::Start start{.task = source.task, .run = source.run, .driver = source.driver, .offset = query.offset};
  start.follow = true;
  if (query.tail) {
    start.offset = first.next;
    start.first = std::move(first.text);
  }
  call.exchange->stream(std::move(head), std::make_unique<LogStream>(context, std::move(start),
                                                                     LogText(query.format, query.grep, query.since)));
}

std::string artifact_name(int run) { return "run-" + std::to_string(run) + ".log"; }

// Calls `then(call, task)` with the task of the path.
void with_record(Context& context, Call call, std::move_only_function<void(Call, const Task&)> then) {
  with_task(context, std::move(call), [&context, then = std::move(then)](Call found, TaskId id) mutable {
    context.parts.engine.get(std::move(id),
                             [call = std::move(found), then = std::move(then)](Result<TaskView> view) mutable {
                               if (!view) return call.refuse(view.error());
                               then(std::move(call), view->task);
                             });
  });
}

}  // namespace

void task_log(Context& context, Call call) {
  Result<LogQuery> parsed = api::parse_log(call.request().query);
  if (!parsed) return call.refuse(parsed.error());
  with_record(context, std::move(call), [&context, query = std::move(*parsed)](Call found, const Task& task) mutable {
    struct Found {
      Source source;
      LogPage page;
    };
    read_then(
        context, std::move(found),
        [query, of = Runs{task.id, context.parts.engine.driver_of(task), task.attempt, task.run}]() -> Result<Found> {
          Result<Source> source = find_log(of, query);
          if (!source) return std::unexpected(source.error());
          // Of a log that is followed only the tail is read at once.
          Result<LogPage> page;
          if (query.tail) {
            page = read_tail(*source, query);
          } else if (!query.follow) {
            page = read_range(*source, query);
          }
          if (!page) return std::unexpected(page.error());
          return Found{std::move(*source), std::move(*page)};
        },
        [&context, query](const Call& read_call, Found log) {
          if (query.follow) return follow(context, read_call, log.source, query, std::move(log.page));
          Response response{
              .status = 200, .content_type = std::string(media_type(query.format)), .body = {}, .headers = {}};
          response.body = std::move(log.page.text);
          response.headers = {{"X-Log-Run", std::to_string(log.source.run)},
                              {"X-Log-Next", std::to_string(log.page.next)},
                              {"X-Log-Size", std::to_string(log.page.size)}};
          read_call.exchange->reply(std::move(response));
        });
  });
}

void task_artifacts(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  with_record(context, std::move(call), [&context](Call found, const Task& task) {
    read_then(
        context, std::move(found),
        [id = task.id, driver = context.parts.engine.driver_of(task)]() -> Result<std::string> {
          std::string text;
          JsonOut out(text);
          out.object().key("artifacts").array();
          for (const int run : driver ? driver->log_runs(id) : std::vector<int>()) {
            const Result<LogRead> log = driver->read_log(id, run, 0, 1);
            if (!log) continue;
            out.object().field("name", artifact_name(run)).field("kind", "log").field("run", run);
            out.field("size", log->size).field("media_type", "text/plain; charset=utf-8").end();
          }
          out.end().end();
          return text;
        },
        [](const Call& read_call, std::string text) { read_call.answer(200, std::move(text)); });
  });
}

void task_artifact(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  with_record(context, std::move(call), [&context](Call found, const Task& task) {
    std::string wanted = found.args[1];
    read_then(
        context, std::move(found),
        [id = task.id, name = std::move(wanted), driver = context.parts.engine.driver_of(task)]() -> Result<Source> {
          // Only names that we gave ourselves: nothing from outside is ever a path.
          for (const int run : driver ? driver->log_runs(id) : std::vector<int>()) {
            if (artifact_name(run) == name) return Source{id, driver, run};
          }
          return fail(Code::not_found, "This task has no artifact of that name; GET .../artifacts lists them.",
                      "no_artifact");
        },
        [&context](const Call& read_call, const Source& source) {
          Response head{.status = 200, .content_type = "text/plain; charset=utf-8", .body = {}, .headers = {}};
          head.headers = {{"Content-Disposition", "attachment; filename=\"" + artifact_name(source.run) + "\""}};
          LogStream::Start start{.task = source.task, .run = source.run, .driver = source.driver};
          read_call.exchange->stream(
              std::move(head),
              std::make_unique<LogStream>(context, std::move(start), LogText(LogQuery::Format::text, {}, {})));
        });
  });
}

}  // namespace errand::net
