// background_retry (R1.9, R7.2): begins a failed or cancelled task again, or all of a batch that failed.
#include "api/launch.h"
#include "base/json_out.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

// {"retried":[ids],"left":[ids],"more"}
void answer(const CallPtr& call, const std::vector<Task>& retried, const std::vector<TaskId>& left, bool more) {
  std::string text, data;
  JsonOut out(data);
  out.object().key("retried").array();
  for (const Task& task : retried) {
    out.value(task.id);
    text += "\n- " + id_with_marks(task) + " " + task.title + " (attempt " + std::to_string(task.attempt) + ")";
  }
  out.end().key("left").array();
  for (const TaskId& id : left) out.value(id);
  out.end().field("more", more).end();
  if (retried.empty()) {
    text = "No task of the batch has failed: nothing was retried.";
  } else {
    text = "Begun again: " + std::to_string(retried.size()) + (retried.size() == 1 ? " task:" : " tasks:") + text +
           "\nGo on with other work: this session is told when they end.";
  }
  if (more) text += "\nMore tasks are left: call again.";
  call->answer(std::move(text), std::move(data));
}

std::optional<NewMessage> as_message(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return NewMessage{.text = text};
}

void retry_batch(const CallPtr& call, Members members, const std::string& message) {
  struct State {
    std::vector<Task> retried;
    std::vector<TaskId> left;
    size_t waiting = 0;
    bool more = false;
  };
  auto state = std::make_shared<State>();
  state->more = members.more;
  std::erase_if(members.tasks, [](const Task& task) { return task.state != TaskState::failed; });
  if (members.tasks.empty()) return answer(call, {}, {}, members.more);
  for (const Task& task : members.tasks)
    if (const Status may = check_retry(task, call->caller.rights); !may) return call->refuse(may.error());
  state->waiting = members.tasks.size();
  for (const Task& task : members.tasks)
    call->parts.engine.tasks().retry(task.id, as_message(message), [call, state, id = task.id](Result<TaskView> view) {
      if (view)
        state->retried.push_back(view->task);
      else
        state->left.push_back(id);  // Somebody else has begun it again meanwhile.
      if (--state->waiting == 0) answer(call, state->retried, state->left, state->more);
    });
}

void retry_one(const CallPtr& call, std::string id, std::string message) {
  with_task(call, std::move(id), [call, message = std::move(message)](const TaskView& view) {
    const Task& task = view.task;
    if (task.state != TaskState::failed && task.state != TaskState::cancelled) {
      std::string instead = " Send it a message with " + call->name("message") + ".";
      if (task.state == TaskState::completed)
        instead = " Go on with it by " + call->name("task") + "(resume=\"" + task.id.value + "\").";
      return call->refuse({Code::conflict,
                           "Only failed or cancelled tasks can be retried; this one is " +
                               std::string(status_word(task.state)) + "." + instead,
                           "not_failed"});
    }
    if (const Status may = check_retry(task, call->caller.rights); !may) return call->refuse(may.error());
    call->parts.engine.tasks().retry(task.id, as_message(message), [call](Result<TaskView> after) {
      if (!after) return call->refuse(after.error());
      answer(call, {after->task}, {}, false);
    });
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  std::string task, message;
  BatchId batch;
  fields.text("task_id", task, id_rule);
  fields.text("batch_id", batch.value, id_rule);
  fields.text("message", message, {.bytes_max = api::prompt_bytes_max});
  if (task.empty() == batch.empty()) fields.refuse_all("Give one of `task_id` and `batch_id`.", "missing_field");
  if (call->refused(fields)) return;
  if (!task.empty()) return retry_one(call, std::move(task), std::move(message));
  with_batch(call, batch, members_max,
             [call, message = std::move(message)](Members members) { retry_batch(call, std::move(members), message); });
}

}  // namespace

Tool background_retry() {
  return {
      {.name = "background_retry",
       .title = "Retry failed background tasks",
       .description =
           "Starts a failed or cancelled task again under the same id, or every failed one of a batch. Look first "
           "at why it failed: the same prompt fails the same way. Earlier attempts are kept.",
       .input_schema =
           R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"batch_id":{"type":"string","description":"All failed ones of a batch."},
"message":{"type":"string","description":"What to do differently. Not for commands."}},"additionalProperties":false})",
       .output_schema = object_schema(
           R"("retried":{"type":"array","items":{"type":"string"}},"left":{"type":"array","items":{"type":"string"},"description":"Tasks that somebody else has retried meanwhile."},"more":{"type":"boolean"})"),
       .example = R"({"batch_id":"batch_01k9z3s5x7e8"})",
       .annotations = {.open_world = true}},
      handle};
}

}  // namespace errand::tools
