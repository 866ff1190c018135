// Tasks: making, listing, changing.
#include <algorithm>

#include "api/launch.h"
#include "api/query.h"
#include "api/replies.h"
#include "api/requests.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"
#include "task/permission.h"

namespace errand::net {
namespace {

// Who did it, as the task's record says it.
std::string by(const Call& call) { return call.request().who.task.empty() ? "user" : "parent"; }
// Tasks of a page that are written at once; a longer page is written by a reader thread.
constexpr size_t written_on_loop_max = 50;

// The counts by status of what passes `filter`, which has no states of its own.
Result<StateCounts> count_states(Store& store, TaskFilter filter) {
  StateCounts counts;
  for (int i = 0; i < task_state_count; ++i) {
    filter.states = {static_cast<TaskState>(i)};
    const Result<int64_t> count = store.count(filter);
    if (!count) return std::unexpected(count.error());
    counts.by_state[i] = *count;
  }
  return counts;
}

// Both counts leave out what says in which state tasks are: they say what each such filter would find.
Status add_counts(Store& store, TaskFilter filter, api::TaskListReply& list) {
  filter.states.clear();
  filter.asks.clear();
  filter.waits.clear();
  filter.fold = false;
  const Result<StateCounts> counts = count_states(store, filter);
  if (!counts) return std::unexpected(counts.error());
  list.counts = *counts;
  filter.asks = {AskKind::permission, AskKind::answer};
  const Result<int64_t> asking = store.count(filter);
  if (!asking) return std::unexpected(asking.error());
  list.needs_input = *asking;
  return {};
}

Result<api::TaskListReply> read_list(Store& store, const api::ListQuery& query) {
  api::TaskListReply list;
  Result<TaskPage> page = store.list(query.filter, query.page);
  if (!page) return std::unexpected(page.error());
  list.page = std::move(*page);
  if (query.counts) {
    if (const Status counted = add_counts(store, query.filter, list); !counted) return std::unexpected(counted.error());
  }
  if (query.total) {
    const Result<int64_t> total = store.count(query.filter);
    if (!total) return std::unexpected(total.error());
    list.total = *total;
  }
  if (query.filter.fold) {
    list.batches.emplace();
    for (const Task& task : list.page.tasks) {
      const BatchId& id = task.launch.batch_id;
      if (id.empty()) continue;
      const Result<BatchCounts> counts = store.batch_counts(id);
      if (!counts) return std::unexpected(counts.error());
      list.batches->emplace(id, *counts);
    }
  }
  return list;
}

// A request without body and parameters about one task.
bool refused_extras(const Call& call) {
  Status status = api::parse_no_query(call.request().query);
  if (status) status = api::parse_nothing(call.request().body);
  if (!status) call.refuse(status.error());
  return !status;
}

// An agent may be named by its name wherever by its id.
void find_agent(const Administration& administration, std::string& id_or_name) {
  if (id_or_name.empty()) return;
  const std::vector<Agent> agents = administration.agents();
  const auto found = std::ranges::find(agents, id_or_name, &Agent::name);
  if (found != agents.end()) id_or_name = found->id;
}

}  // namespace

void list_tasks(Context& context, Call call) {
  Result<api::ListQuery> query = api::parse_list(call.request().query);
  if (!query) return call.refuse(query.error());
  find_agent(context.parts.engine.administration(), query->filter.agent_id);
  read_then(
      context, std::move(call), [&store = context.parts.store, query = *query] { return read_list(store, query); },
      [&context](Call found, api::TaskListReply list) {
        // Only the engine knows the places in line; the writing of a long page would keep the loop from others.
        std::vector<TaskMoment> moments;
        moments.reserve(list.page.tasks.size());
        for (const Task& task : list.page.tasks) moments.push_back(context.parts.engine.tasks().moment(task));
        if (moments.size() <= written_on_loop_max) return found.answer(200, api::list_reply(list, moments));
        read_then(
            context, std::move(found),
            [list = std::move(list), moments = std::move(moments)] {
              return Result<std::string>(api::list_reply(list, moments));
            },
            [](const Call& written, std::string body) { written.answer(200, std::move(body)); });
      });
}

void create_task(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  std::string key;
  if (call.request().count_header("idempotency-key") > 0) {
    Result<std::string> given = api::parse_idempotency_key(call.request().header("idempotency-key"));
    if (!given) return call.refuse(given.error());
    key = std::move(*given);
  }
  parse_then(context, std::move(call), api::parse_launch, [&context, key](Call parsed, Launch launch) {
    const Principal& who = parsed.request().who;
    if (refused(parsed, tools::check_launch(launch, rights_of(who)))) return;
    if (!who.session.empty()) {
      // What a task launches is its own, and may do no more than it may itself.
      launch.parent_session_id = who.session;
      mark_launched_by_agent(launch);
    }
    const std::string print = key.empty() ? std::string() : api::fingerprint(launch);
    context.parts.engine.tasks().launch(
        std::move(launch), key_of(who, key), print, [call = std::move(parsed)](const Result<TaskView>& view) {
          if (!view && view.error().code == Code::conflict && view.error().reason == "idempotency_key") {
            return call.exchange->reply(problem(422, "idempotency_key", view.error().message));
          }
          if (!view) return call.refuse(view.error());
          Response response{.status = 201, .body = api::task_reply(*view)};
          response.headers.emplace_back("Location", "/api/tasks/" + view->task.id.value);
          call.exchange->reply(std::move(response));
        });
  });
}

void count_running(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  call.answer(200, api::running_reply(context.parts.engine.administration().counts()));
}

void clear_tasks(Context& context, Call call) {
  Result<Tasks::Scope> scope = api::parse_clear(call.request().body);
  if (!scope) return call.refuse(scope.error());
  context.parts.engine.tasks().clear(std::move(*scope), answering<Cleared>(std::move(call), 200, api::cleared_reply));
}

void get_task(Context& context, Call call) {
  if (refused_extras(call)) return;
  with_task(context, std::move(call), [&context](Call found, TaskId id) {
    context.parts.engine.tasks().get(std::move(id), answering<TaskView>(std::move(found), 200, api::task_reply));
  });
}

void delete_task(Context& context, Call call) {
  if (refused_extras(call)) return;
  with_task(context, std::move(call), [&context](Call found, TaskId id) {
    context.parts.engine.tasks().remove(std::move(id), Gone::deleted, [call = std::move(found)](const Status& status) {
      if (!status) return call.refuse(status.error());
      call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
    });
  });
}

void cancel_task(Context& context, Call call) {
  if (refused_extras(call)) return;
  with_task(context, std::move(call), [&context](Call found, TaskId id) {
    auto who = by(found);  // Before `found` is moved: arguments are evaluated in any order.
    context.parts.engine.tasks().cancel(std::move(id), std::move(who),
                                        answering<TaskView>(std::move(found), 200, api::task_reply));
  });
}

void message_task(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_message, [&context](Call parsed, NewMessage message) {
    with_task(context, std::move(parsed), [&context, message = std::move(message)](Call found, TaskId id) mutable {
      context.parts.engine.tasks().message(std::move(id), std::move(message),
                                           answering<MessageTaken>(std::move(found), 202, api::message_taken_reply));
    });
  });
}

void resume_task(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_resume, [&context](Call parsed, NewMessage message) {
    with_task(context, std::move(parsed), [&context, message = std::move(message)](Call found, TaskId id) mutable {
      context.parts.engine.tasks().resume(std::move(id), std::move(message),
                                          answering<MessageTaken>(std::move(found), 202, api::message_taken_reply));
    });
  });
}

void edit_task(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  parse_then(context, std::move(call), api::parse_edit, [&context](Call parsed, input::Edit edit) {
    with_task(context, std::move(parsed), [&context, edit = std::move(edit)](Call found, TaskId id) mutable {
      context.parts.engine.tasks().edit(std::move(id), std::move(edit),
                                        answering<TaskView>(std::move(found), 200, api::task_reply));
    });
  });
}

void retry_task(Context& context, Call call) {
  using Maybe = std::optional<NewMessage>;
  parse_then(context, std::move(call), api::parse_retry, [&context](Call parsed, Maybe message) {
    with_record(context, std::move(parsed),
                [&context, message = std::move(message)](Call found, const Task& task) mutable {
                  if (refused(found, tools::check_retry(task, rights_of(found.request().who)))) return;
                  context.parts.engine.tasks().retry(task.id, std::move(message),
                                                     answering<TaskView>(std::move(found), 200, api::task_reply));
                });
  });
}

namespace {

// Scope `agent`: first the task's own answer, then what its agent may from now on (R14.3).
void answer_for_agent(Context& context, Call call, input::Answered answer) {
  with_record(context, std::move(call), [&context, answer = std::move(answer)](Call found, const Task& task) mutable {
    const auto ask = std::ranges::find(task.asks, answer.request_id, &Ask::request_id);
    std::vector<PermissionRule> rules;
    if (ask != task.asks.end() && !ask->tool.empty()) rules = rules_for(ask->tool, ask->subject, answer.pattern);
    context.parts.engine.tasks().answer(
        task.id, std::move(answer),
        [&context, agent = task.launch.agent_id, rules = std::move(rules),
         call = std::move(found)](Result<TaskView> view) mutable {
          if (!view) return call.refuse(view.error());
          context.parts.engine.administration().grant(
              agent, std::move(rules),
              [call = std::move(call), view = std::move(*view)](const Result<Agent>& granted) mutable {
                if (!granted) return call.refuse(granted.error());
                call.answer(200, api::task_reply(view));
              });
        });
  });
}

}  // namespace

void answer_task(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_answer, [&context](Call parsed, input::Answered answer) {
    // What a task may do is more to say than an answer to its question.
    if (refused_scope(parsed, answer.decision == "answer" ? Scope::tasks : Scope::approve)) return;
    const Principal& who = parsed.request().who;
    if (answer.scope == AnswerScope::agent && !who.is_owner())
      return parsed.refuse({Code::forbidden,
                            "Only the owner allows something to an agent from now on; answer with another `scope`.",
                            "owner_only"});
    answer.by = who.is_owner() || !who.task.empty() ? by(parsed) : who.id;
    if (answer.scope == AnswerScope::agent) return answer_for_agent(context, std::move(parsed), std::move(answer));
    with_task(context, std::move(parsed), [&context, answer = std::move(answer)](Call found, TaskId id) mutable {
      context.parts.engine.tasks().answer(std::move(id), std::move(answer),
                                          answering<TaskView>(std::move(found), 200, api::task_reply));
    });
  });
}

}  // namespace errand::net
