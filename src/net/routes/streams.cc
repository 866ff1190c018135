// The routes of the event streams.
#include "api/query.h"
#include "engine/find_session.h"
#include "net/routes/context.h"
#include "net/routes/session_stream.h"
#include "net/routes/shared_stream.h"
#include "net/routes/task_stream.h"

namespace errand::net {
namespace {

Result<api::StreamQuery> position(const Call& call) {
  return api::parse_stream(call.request().query, call.request().header("last-event-id"));
}

}  // namespace

void task_stream(Context& context, Call call) {
  const Result<api::StreamQuery> query = position(call);
  if (!query) return call.refuse(query.error());
  with_task(context, std::move(call), [&context, after = query->after.value_or(0)](Call found, TaskId id) {
    context.parts.engine.tasks().get(id, [&context, call = std::move(found), after](Result<TaskView> view) mutable {
      if (!view) return call.refuse(view.error());
      const Task& task = view->task;
      const bool at_rest = !at_work(task.state) && !task.stopping;
      // It has seen the end: 204 tells a browser not to connect again.
      if (at_rest && after > 0 && after == task.last_seq) {
        return call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
      }
      const bool unknown = after > task.last_seq;
      TaskStream::Start start{
          .task = task.id, .after = unknown ? task.last_seq : after, .at_rest = at_rest, .reset = unknown};
      auto stream = std::make_unique<TaskStream>(context, context.channel(task.id), std::move(start));
      call.exchange->stream(sse_response(), std::move(stream));
    });
  });
}

void shared_stream(Context& context, Call call) {
  Result<api::StreamQuery> query =
      api::parse_shared_stream(call.request().query, call.request().header("last-event-id"));
  if (!query) return call.refuse(query.error());
  auto stream = std::make_unique<SharedStream>(context, query->after, query->tasks);
  call.exchange->stream(sse_response(), std::move(stream));
}

void session_stream(Context& context, Call call) {
  const Result<api::StreamQuery> query = position(call);
  if (!query) return call.refuse(query.error());
  const SessionId id(call.args[0]);
  read_then(
      context, std::move(call), [&store = context.parts.store, id] { return find_session(store, id); },
      [&context, after = query->after.value_or(0)](const Call& found, const Session& session) {
        found.exchange->stream(sse_response(), std::make_unique<SessionStream>(context, session.id, after));
      });
}

}  // namespace errand::net
