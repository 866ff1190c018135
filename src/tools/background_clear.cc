// background_clear (R8.4, R3.4): removes what has ended.
#include "base/json_out.h"
#include "tools/call.h"
#include "tools/scope.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

void clear(const CallPtr& call, Tasks::Scope scope) {
  call->parts.engine.tasks().clear(std::move(scope), [call](Result<Cleared> cleared) {
    if (!cleared) return call->refuse(cleared.error());
    std::string data;
    JsonOut(data).object().field("removed", cleared->removed).field("left", cleared->left).end();
    std::string text = "Removed " + std::to_string(cleared->removed) + (cleared->removed == 1 ? " task" : " tasks") +
                       ", left " + std::to_string(cleared->left) + " at work.";
    if (cleared->left > 0) text += " " + call->name("cancel") + " ends what is at work.";
    call->answer(std::move(text), std::move(data));
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  const Scope asked = read_scope(fields, call->caller, AllBy::nothing);
  if (call->refused(fields)) return;
  Tasks::Scope scope;
  if (!asked.task.empty())
    return with_task(call, asked.task, [call, scope](const TaskView& view) mutable {
      scope.task = view.task.id;
      clear(call, std::move(scope));
    });
  if (!call->caller.session.empty()) scope.parent_session = call->caller.session;
  if (asked.all) return clear(call, std::move(scope));
  scope.batch = asked.batch;
  with_batch(call, asked.batch, 1, [call, scope](const Members&) mutable { clear(call, std::move(scope)); });
}

}  // namespace

Tool background_clear() {
  return {{.name = "background_clear",
           .title = "Remove ended background tasks",
           .description =
               "Deletes tasks that have ended, with results, conversations, logs and artifacts: one, a batch, or "
               "(without arguments) all of this session. Never a task at work.",
           .input_schema =
               R"({"type":"object","properties":{
"task_id":{"type":"string","description":"Id, or a unique beginning of it."},
"batch_id":{"type":"string","description":"All of a batch."}},"additionalProperties":false})",
           .output_schema = object_schema(R"("removed":{"type":"integer"},"left":{"type":"integer"})"),
           .example = R"({"batch_id":"batch_01k9z3s5x7e8"})",
           .annotations = {.destructive = true, .idempotent = true},
           .role = Role::clears},
          handle};
}

}  // namespace errand::tools
