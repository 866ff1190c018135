// background_cancel (R8.4): ends a task, a batch, or all of the session's.
#include "base/json_out.h"
#include "tools/call.h"
#include "tools/scope.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

std::string by(const Call& call) { return call.caller.session.empty() ? "user" : "parent"; }

// {"cancelled":[ids],"left":[ids]}
void answer(const CallPtr& call, const std::vector<Task>& cancelled, const std::vector<TaskId>& left, bool more) {
  std::string text, data;
  JsonOut out(data);
  out.object().key("cancelled").array();
  for (const Task& task : cancelled) {
    out.value(task.id);
    text += "\n- " + id_with_marks(task) + " " + task.title;
  }
  out.end().key("left").array();
  for (const TaskId& id : left) out.value(id);
  out.end().field("more", more).end();
  if (cancelled.empty()) {
    text = "No task was at work: nothing was cancelled.";
  } else {
    text = "Cancelled " + std::to_string(cancelled.size()) + (cancelled.size() == 1 ? " task:" : " tasks:") + text +
           "\nTheir processes are being ended; what they did so far is kept.";
  }
  if (more) text += "\nMore tasks are left: call again.";
  call->answer(std::move(text), std::move(data));
}

void cancel_all(const CallPtr& call, Members members) {
  struct State {
    std::vector<Task> cancelled;
    std::vector<TaskId> left;
    size_t waiting = 0;
    bool more = false;
  };
  auto state = std::make_shared<State>();
  state->more = members.more;
  std::erase_if(members.tasks, [](const Task& task) { return !at_work(task.state); });
  if (members.tasks.empty()) return answer(call, {}, {}, members.more);
  state->waiting = members.tasks.size();
  for (const Task& task : members.tasks)
    call->parts.engine.tasks().cancel(task.id, by(*call), [call, state, id = task.id](Result<TaskView> view) {
      if (view)
        state->cancelled.push_back(view->task);
      else
        state->left.push_back(id);  // It ended by itself meanwhile.
      if (--state->waiting == 0) answer(call, state->cancelled, state->left, state->more);
    });
}

void cancel_one(const CallPtr& call, std::string id) {
  with_task(call, std::move(id), [call](const TaskView& view) {
    const Task& task = view.task;
    if (!at_work(task.state))
      return call->refuse({Code::conflict,
                           task.id.value + " has ended already (" + std::string(status_word(task.state)) +
                               "); nothing was changed. " + call->name("clear") + " removes it.",
                           "at_rest"});
    call->parts.engine.tasks().cancel(task.id, by(*call), [call](Result<TaskView> after) {
      if (!after) return call->refuse(after.error());
      answer(call, {after->task}, {}, false);
    });
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  const Scope scope = read_scope(fields, call->caller, AllBy::flag);
  if (call->refused(fields)) return;
  if (!scope.task.empty()) return cancel_one(call, scope.task);
  if (!scope.batch.empty())
    return with_batch(call, scope.batch, members_max,
                      [call](Members members) { cancel_all(call, std::move(members)); });
  TaskFilter filter;
  filter.states = {TaskState::pending, TaskState::running, TaskState::resumed};
  with_members(call, std::move(filter), members_max, [call](Members members) { cancel_all(call, std::move(members)); });
}

}  // namespace

Tool background_cancel() {
  return {
      {.name = "background_cancel",
       .title = "Cancel background tasks",
       .description =
           "Ends a task with all its processes, or every task at work of a batch or of this session. It stays "
           "cancelled; what it did so far can be read.",
       .input_schema =
           R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"batch_id":{"type":"string","description":"All of a batch."},
"all":{"type":"boolean","description":"All that this session launched."}},"additionalProperties":false})",
       .output_schema = object_schema(
           R"("cancelled":{"type":"array","items":{"type":"string"}},"left":{"type":"array","items":{"type":"string"},"description":"Those that ended by themselves meanwhile."},"more":{"type":"boolean"})"),
       .example = R"({"task_id":"task_01k9z3s5x7e8"})",
       .annotations = {.destructive = true, .idempotent = true}},
      handle};
}

}  // namespace errand::tools
