#include "net/routes/guard.h"

#include <algorithm>

#include "task/permission.h"
#include "task/task.h"

namespace errand::net {
namespace {

void refuse_foreign(const Call& call) {
  call.refuse({Code::forbidden,
               "This token belongs to a task. It reaches only the tasks that this task launched, and their subtasks.",
               "subtree"});
}

// A list shows the task's own children; whatever else was asked for narrows it.
void narrow(Call& call, const SessionId& session) {
  auto& query = call.exchange->request.query;
  std::erase_if(query, [](const auto& param) { return param.first == "parent_session_id"; });
  query.emplace_back("parent_session_id", session.value);
}

bool reads(const Request& request) { return request.method == Method::get || request.method == Method::head; }

// Its own task, which it may look at; and all below it.
void guard_below(Context& context, Call call, std::move_only_function<void(Call)> then) {
  with_record(context, std::move(call), [then = std::move(then)](Call found, const Task& task) mutable {
    const TaskId& root = found.request().who.task;
    const bool below = std::ranges::find(task.launch.ancestors, root) != task.launch.ancestors.end();
    if (!below && (task.id != root || !reads(found.request()))) return refuse_foreign(found);
    found.args[0] = task.id.value;
    then(std::move(found));
  });
}

void guard_task(Context& context, std::string_view pattern, Call call, std::move_only_function<void(Call)> then) {
  const Request& request = call.request();
  // What names no task, or takes its caller's session from the token.
  if (pattern == "/mcp" || pattern.starts_with("/api/tools") || pattern == "/api/openapi.json" ||
      (pattern == "/api/agents" && reads(request)))
    return then(std::move(call));
  if (pattern == "/api/tasks") {
    if (reads(request)) narrow(call, request.who.session);
    return then(std::move(call));
  }
  // Its own session: the notices that it is owed are its to take, but it does not end itself.
  if (pattern.starts_with("/api/sessions/{id}") && request.method != Method::del &&
      call.args[0] == request.who.session.value)
    return then(std::move(call));
  if (pattern.starts_with("/api/tasks/{id}")) return guard_below(context, std::move(call), std::move(then));
  refuse_foreign(call);
}

bool is_at_work(const Principal& who, const Result<TaskView>& view) {
  // Run 0: of a program that may serve several runs of its task.
  return view && at_work(view->task.state) && (who.run == 0 || view->task.run == who.run);
}

// Whether what a task's own token was for is still at work. The answer is as of the last time that it was asked.
std::function<bool()> watch_task(Tasks& tasks, Principal who) {
  struct State {
    bool good = true, asked = false;
  };
  return [&tasks, who = std::move(who), state = std::make_shared<State>()] {
    if (!std::exchange(state->asked, true))
      tasks.get(who.task, [who, state](const Result<TaskView>& view) {
        state->asked = false;
        state->good = is_at_work(who, view);
      });
    return state->good;
  };
}

// Whether the token, or the device and this session of it, is still good.
std::function<bool()> watch_caller(const RouteParts& parts, const Principal& who) {
  if (who.id.starts_with("dev_"))
    return [devices = parts.devices, id = who.id, ends = who.expires_at, &clock = parts.clock] {
      return devices && devices->find(id) && clock.wall() < ends;
    };
  return [tokens = parts.tokens, id = who.id] { return tokens && tokens->is_good(id); };
}

// A command does what its user can. An agent is held to its permissions, and a command of its own would ask nobody: so
// its token starts commands only where the agent may run anything unasked.
bool may_execute(const Task& task) {
  return task.launch.kind == TaskKind::command ||
         permission_for(task, "bash", "? any command").permission == Permission::allow;
}

}  // namespace

bool refused(const Call& call, const Status& status) {
  if (!status) call.refuse(status.error());
  return !status;
}

bool refused_scope(const Call& call, Scope scope) {
  if (call.request().who.may(scope)) return false;
  call.refuse(tools::lacks_scope(name(scope), "this needs").error());
  return true;
}

std::string key_of(const Principal& who, std::string key) {
  return key.empty() || who.is_owner() ? key : who.id + "/" + key;
}

void guard(Context& context, Needs needs, std::string_view pattern, Call call,
           std::move_only_function<void(Call)> then) {
  if (!needs) return then(std::move(call));
  if (refused_scope(call, *needs)) return;
  Request& request = call.exchange->request;
  if (request.who.is_owner()) return then(std::move(call));
  if (request.who.task.empty()) {
    request.still_good = watch_caller(context.parts, request.who);
    return then(std::move(call));
  }
  context.parts.engine.tasks().get(request.who.task, [&context, pattern, call = std::move(call),
                                                      then = std::move(then)](const Result<TaskView>& view) mutable {
    Request& asked = call.exchange->request;
    if (!is_at_work(asked.who, view))
      return call.exchange->reply(
          problem(401, "unauthorized", "This token belongs to a run of a task that has ended."));
    asked.who.session = view->task.session_id;
    if (!may_execute(view->task)) asked.who.scopes = Scopes().add(Scope::tasks);
    asked.still_good = watch_task(context.parts.engine.tasks(), asked.who);
    guard_task(context, pattern, std::move(call), std::move(then));
  });
}

}  // namespace errand::net
