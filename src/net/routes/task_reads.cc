// What a task has said and done: its result, messages and events.
#include "api/query.h"
#include "api/replies.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

// The same without marking it as read.
void look_at_result(Context& context, Call call, const TaskId& id, Millis block_ms) {
  auto answer = [&engine = context.parts.engine, id, block_ms,
                 call = std::move(call)](const Result<void>& waited) mutable {
    if (!waited) return call.refuse(waited.error());
    engine.tasks().get(id, [call = std::move(call), block_ms](Result<TaskView> view) {
      if (!view) return call.refuse(view.error());
      const bool timed_out = block_ms > 0 && at_work(view->task.state);
      call.answer(200, api::result_reply({std::move(*view), timed_out}));
    });
  };
  if (block_ms <= 0) return answer({});
  context.parts.engine.tasks().wait({id}, Until::all, block_ms, std::move(answer));
}

}  // namespace

void task_result(Context& context, Call call) {
  const Result<api::ResultQuery> query = api::parse_result(call.request().query);
  if (!query) return call.refuse(query.error());
  with_task(context, std::move(call), [&context, block_ms = query->block_ms](Call found, TaskId id) {
    if (found.request().who.only_looks()) return look_at_result(context, std::move(found), id, block_ms);
    context.parts.engine.tasks().result(std::move(id), block_ms,
                                        answering<ResultView>(std::move(found), 200, api::result_reply));
  });
}

void task_messages(Context& context, Call call) {
  const Result<api::MessagesQuery> query = api::parse_messages(call.request().query);
  if (!query) return call.refuse(query.error());
  with_task(context, std::move(call), [&context, query = *query](Call found, TaskId id) {
    read_then(
        context, std::move(found),
        [&store = context.parts.store, query, id = std::move(id)]() -> Result<std::string> {
          const Result<Task> task = store.get(id);
          if (!task) return std::unexpected(task.error());
          const auto page = store.messages(task->session_id, query.after, query.before, query.limit);
          if (!page) return std::unexpected(page.error());
          return api::messages_reply(*page);
        },
        [](const Call& read_call, std::string body) { read_call.answer(200, std::move(body)); });
  });
}

void task_events(Context& context, Call call) {
  const Result<api::EventsQuery> query = api::parse_events(call.request().query);
  if (!query) return call.refuse(query.error());
  with_task(context, std::move(call), [&context, query = *query](Call found, TaskId id) {
    read_then(
        context, std::move(found),
        [&store = context.parts.store, &engine = context.parts.engine, query,
         id = std::move(id)]() -> Result<std::string> {
          const Result<std::vector<Event>> events = store.events_after(id, query.after, query.limit);
          if (!events) return std::unexpected(events.error());
          if (events->empty()) {
            // Nothing after that place; or no such task.
            if (const Result<Task> task = store.get(id); !task) return std::unexpected(task.error());
          }
          return api::events_reply(engine.streams().frames(*events), query.after);
        },
        [](const Call& read_call, std::string body) { read_call.answer(200, std::move(body)); });
  });
}

}  // namespace errand::net
