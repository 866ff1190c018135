// background_message (R8.4, R5.1): a word to a task at work, or the answer to what it asks.
#include "api/launch.h"
#include "base/json_out.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

struct Request {
  std::string task;
  std::string request_id;
  NewMessage message;
};

void tell(const CallPtr& call, const TaskView& view, std::string_view heading) {
  std::string data;
  JsonOut out(data);
  write_task(out, view);
  call->answer(std::string(heading) + "\n" + describe(view), std::move(data));
}

// Questions only: what a task may do is a person's to say.
void answer_question(const CallPtr& call, const Task& task, Request request) {
  for (const Ask& ask : task.asks)
    if (ask.request_id == request.request_id && ask.kind == AskKind::permission && ask.decision.empty())
      return call->refuse(
          {Code::forbidden,
           "This is a permission request, which a person answers: on the page, or with `errand answer " +
               task.id.value + "`.",
           "needs_a_person"});
  call->parts.engine.tasks().answer(task.id,
                                    {.request_id = request.request_id,
                                     .decision = "answer",
                                     .message = std::move(request.message.text),
                                     .by = "parent"},
                                    [call](Result<TaskView> after) {
                                      if (!after) return call->refuse(after.error());
                                      tell(call, *after, "Answered; it goes on.");
                                    });
}

void send(const CallPtr& call, const TaskView& view, Request request) {
  const Task& task = view.task;
  if (!request.request_id.empty()) return answer_question(call, task, std::move(request));
  if (task.launch.kind == TaskKind::command)
    return call->refuse({Code::unsupported,
                         "A command takes no messages: its standard input is empty. " +
                             (at_work(task.state) ? call->name("cancel") + " ends it, " : std::string()) +
                             call->name("execute") + " starts another.",
                         "command"});
  // R5.3: through the tools, resuming is explicit.
  if (task.state == TaskState::completed)
    return call->refuse({Code::conflict,
                         "The task is completed; to go on with it call " + call->name("task") + "(resume=\"" +
                             task.id.value + "\", prompt=...).",
                         "completed"});
  if (!at_work(task.state))
    return call->refuse({Code::conflict,
                         "The task has ended (" + std::string(status_word(task.state)) +
                             ") and takes no messages; start a new " + call->name("task") +
                             ", or have it retried (`errand retry`).",
                         "at_rest"});
  call->parts.engine.tasks().message(task.id, std::move(request.message), [call](Result<MessageTaken> taken) {
    if (!taken) return call->refuse(taken.error());
    tell(call, taken->view, "Sent: it gets the message at its next step.");
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  Request request;
  if (!fields.has("task_id")) fields.refuse("task_id", "must be given", "missing_field");
  if (!fields.has("message")) fields.refuse("message", "must be given", "missing_field");
  fields.text("task_id", request.task, id_rule);
  fields.text("message", request.message.text, {.bytes_max = api::prompt_bytes_max});
  fields.name_of("when", request.message.when, parse_when, "`steer`, `queue` or `interrupt`");
  fields.text("request_id", request.request_id, id_rule);
  if (call->refused(fields)) return;
  std::string id = request.task;
  with_task(call, std::move(id), [call, request = std::move(request)](const TaskView& view) mutable {
    send(call, view, std::move(request));
  });
}

}  // namespace

Tool background_message() {
  return {
      {.name = "background_message",
       .title = "Send a message to a background task",
       .description =
           "Sends a message to an agent's task at work, or answers its question (request_id). A completed task goes on "
           "with background_task(resume=...). Commands take no messages.",
       .input_schema =
           R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"message":{"type":"string","description":"What to say."},
"when":{"type":"string","enum":["steer","queue","interrupt"],"description":"At its next step (default), after its turn, or now instead of what it does."},
"request_id":{"type":"string","description":"The question: request_id of the task's waiting_for."}},"required":["task_id","message"],"additionalProperties":false})",
       .output_schema = task_schema(),
       .example = R"({"task_id":"task_01k9z3s5x7e8","message":"Leave the generated files as they are."})",
       .annotations = {.open_world = true}},
      handle};
}

}  // namespace errand::tools
