// The log of a task: GET /api/tasks/{id}/log.
#include "api/query.h"
#include "net/routes/context.h"
#include "net/routes/log_read.h"
#include "net/routes/log_stream.h"
#include "net/routes/log_text.h"

namespace errand::net {
namespace {

using api::LogQuery;

std::string_view media_type(LogQuery::Format format) {
  return format == LogQuery::Format::jsonl ? "application/jsonl" : "text/plain; charset=utf-8";
}

std::vector<std::pair<std::string, std::string>> describe(const LogSource& source, const LogPage& page) {
  std::vector<std::pair<std::string, std::string>> headers = {{"X-Log-Next", std::to_string(page.next)},
                                                              {"X-Log-Size", std::to_string(page.size)}};
  if (source.run != set_up_run) headers.emplace_back("X-Log-Run", std::to_string(source.run));
  if (source.runs.first < source.runs.last)
    headers.emplace_back("X-Log-Runs", std::to_string(source.runs.first) + "-" + std::to_string(source.runs.last));
  if (page.cut > 0) headers.emplace_back("X-Log-Cut", std::to_string(page.cut));
  if (page.damaged > 0) headers.emplace_back("X-Log-Damaged", std::to_string(page.damaged));
  return headers;
}

void follow(Context& context, const Call& call, const LogSource& source, int attempt, const LogQuery& query,
            LogPage first) {
  Response head{.status = 200, .content_type = std::string(media_type(query.format)), .body = {}, .headers = {}};
  head.headers = {{"Cache-Control", "no-store, no-transform"}, {"X-Accel-Buffering", "no"}};
  LogStream::Start start{.task = source.task, .run = source.run, .driver = source.driver, .offset = query.offset};
  start.follow = true;
  if (source.last) start.attempt = attempt;
  if (query.tail) {
    start.offset = first.next;
    start.first = std::move(first.text);
  }
  call.exchange->stream(std::move(head), std::make_unique<LogStream>(context, std::move(start), LogText(query)));
}

}  // namespace

void with_record(Context& context, Call call, std::move_only_function<void(Call, const Task&)> then) {
  with_task(context, std::move(call), [&context, then = std::move(then)](Call found, TaskId id) mutable {
    context.parts.engine.tasks().get(std::move(id),
                                     [call = std::move(found), then = std::move(then)](Result<TaskView> view) mutable {
                                       if (!view) return call.refuse(view.error());
                                       then(std::move(call), view->task);
                                     });
  });
}

void task_log(Context& context, Call call) {
  Result<LogQuery> parsed = api::parse_log(call.request().query);
  if (!parsed) return call.refuse(parsed.error());
  with_record(context, std::move(call), [&context, query = std::move(*parsed)](Call found, const Task& task) mutable {
    struct Found {
      LogSource source;
      LogPage page;
    };
    Result<LogSource> source = find_log(task, context.parts.engine.tasks().driver_of(task), query);
    if (!source) return found.refuse(source.error());
    read_then(
        context, std::move(found),
        [query, source = std::move(*source), &clock = context.parts.clock]() -> Result<Found> {
          // Of a log that is followed only the tail is read at once.
          Result<LogPage> page;
          if (query.tail || !query.follow) page = read_log_page(source, query, clock);
          if (!page) return std::unexpected(page.error());
          return Found{source, std::move(*page)};
        },
        [&context, query, attempt = task.attempt](const Call& read_call, Found log) {
          if (query.follow) return follow(context, read_call, log.source, attempt, query, std::move(log.page));
          Response response{
              .status = 200, .content_type = std::string(media_type(query.format)), .body = {}, .headers = {}};
          response.headers = describe(log.source, log.page);
          response.body = std::move(log.page.text);
          read_call.exchange->reply(std::move(response));
        });
  });
}

}  // namespace errand::net
