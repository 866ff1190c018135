// background_task (R8.1): a new task for an agent, or a further turn of one that is completed (R5.3).
#include "api/launch.h"
#include "base/json_out.h"
#include "tools/call.h"
#include "tools/launching.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

std::string agent_names(const Administration& administration) {
  std::string names;
  for (const Agent& agent : administration.agents())
    if (agent.driver != "command" && agent.unavailable.empty()) names += (names.empty() ? "" : ", ") + agent.id;
  return names;
}

// R5.4, in seed 003's words.
Error gone_for_resume(const Call& call, const Error& error) {
  return {error.code,
          error.message + " It cannot be resumed: start a new " + call.name("task") +
              " instead, with what it has to know in its prompt.",
          error.reason};
}

void resume(const CallPtr& call, std::string id, std::string prompt) {
  find_task(call, std::move(id), [call, prompt = std::move(prompt)](Result<TaskView> view) mutable {
    if (!view) {
      const bool gone = view.error().code == Code::not_found && view.error().reason != "other_session";
      return call->refuse(gone ? gone_for_resume(*call, view.error()) : view.error());
    }
    const Task& task = view->task;
    if (task.state == TaskState::resumed)
      return call->refuse({Code::conflict,
                           "The task is currently being resumed; wait for its notice, or send it a message with " +
                               call->name("message") + ".",
                           "being_resumed"});
    if (task.state != TaskState::completed)
      return call->refuse({Code::conflict,
                           "Only completed tasks can be resumed; this one is " + std::string(status_word(task.state)) +
                               (at_work(task.state) ? ". Send it a message with " + call->name("message") + "."
                                                    : ". Start a new " + call->name("task") + " instead."),
                           "not_completed"});
    call->parts.engine.tasks().resume(task.id, {.text = std::move(prompt)}, [call](Result<MessageTaken> taken) {
      if (!taken) {
        const bool gone = taken.error().code == Code::not_found;
        return call->refuse(gone ? gone_for_resume(*call, taken.error()) : taken.error());
      }
      const TaskView& after = taken->view;
      std::string data;
      JsonOut out(data);
      write_task(out, after);
      call->answer("Resumed: the prompt was sent to the task's conversation.\n" + describe(after) +
                       "\n\nGo on with other work: this session is told when it answers. To wait for it call " +
                       call->name("output") + "(task_id=\"" + after.task.id.value + "\", block=true).",
                   std::move(data));
    });
  });
}

void handle(const CallPtr& call, api::Fields fields) {
  Launch launch;
  std::string resumed;
  fields.flag("fork", launch.fork);
  fields.text("resume", resumed, id_rule);
  // R6.5, before anything else is looked at.
  if (launch.fork && !resumed.empty())
    return call->refuse({Code::conflict,
                         "`fork` and `resume` are mutually exclusive: `fork` starts a new task with this conversation, "
                         "`resume` goes on with the conversation of a completed one. Nothing was created; give one of "
                         "them.",
                         "fork_and_resume"});
  fields.text("prompt", launch.prompt, {.bytes_max = api::prompt_bytes_max});
  if (!fields.has("prompt")) fields.refuse("prompt", "must be given: what the agent is to do", "missing_field");
  fields.text("agent", launch.agent_id, {.bytes_max = 256, .one_line = true});
  fields.text("model", launch.model, {.bytes_max = 256, .one_line = true});
  fields.flag("enable_skills", launch.enable_skills);
  fields.flag("enable_mcp", launch.enable_mcp);
  read_launch(fields, call->caller, launch);
  if (resumed.empty() && !fields.has("agent"))
    fields.refuse("agent", "must be given for a new task: one of " + agent_names(call->parts.engine.administration()),
                  "missing_field");
  if (launch.fork && call->caller.session.empty())
    fields.refuse("fork", "needs the session whose conversation is to be copied, and this call names none");
  if (call->refused(fields)) return;
  if (!resumed.empty()) return resume(call, std::move(resumed), std::move(launch.prompt));
  errand::tools::launch(call, std::move(launch));
}

}  // namespace

Tool background_task() {
  return {
      {.name = "background_task",
       .title = "Start or resume a background task",
       .description =
           "Gives an agent something to do in the background and returns at once with the task's id; this session "
           "is told when it ends, so do not poll: go on with other work. Use it for what takes long or can be done "
           "beside the conversation; for a shell command use background_execute. With `fork` the agent gets this "
           "conversation. With `resume` a completed task goes on in its own conversation with a further prompt. "
           "At most a few tasks work at once (3 by default); the others wait in line. A task is kept until it is "
           "cleared or this session ends.",
       .input_schema =
           R"({"type":"object","properties":{
"prompt":{"type":"string","description":"What to do, with everything that the agent must know: without `fork` it sees nothing of this conversation. With `resume`: what to do next."},
"agent":{"type":"string","description":"The agent's id or name. Needed unless `resume` is given."},
"fork":{"type":"boolean","description":"Give it this conversation. Not together with `resume`."},
"resume":{"type":"string","description":"The id of a completed task to go on with, instead of starting a new one; then only `prompt` counts."},
"model":{"type":"string","description":"The model to use. Default: the agent's own."},
"enable_skills":{"type":"boolean","description":"Let it use the skills that are installed."},
"enable_mcp":{"type":"boolean","description":"Let it use the MCP servers that are configured."},
)" + launch_properties() +
           R"(},"required":["prompt"],"additionalProperties":false})",
       .output_schema = task_schema(),
       .example =
           R"({"description":"Find flaky tests","prompt":"Run the test suite ten times and list the tests that fail sometimes.","agent":"opencode"})",
       .annotations = {.open_world = true},
       .role = Role::starts},
      handle};
}

}  // namespace errand::tools
