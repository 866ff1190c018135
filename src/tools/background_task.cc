// background_task (R8.1): a new task for an agent, or a further turn of one that is completed (R5.3).
#include <algorithm>

#include <boost/json.hpp>

#include "api/launch.h"
#include "base/json_out.h"
#include "engine/default_agent.h"
#include "tools/call.h"
#include "tools/launching.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

constexpr size_t names_max = 30;  // Of agents in a text.

// Those that can be used, for people and agents.
std::string agent_names(const Administration& administration) {
  std::string names;
  size_t count = 0;
  for (const Agent& agent : administration.agents()) {
    if (agent.driver == "command" || !agent.unavailable.empty()) continue;
    if (++count > names_max) return names + ", ...";
    names += (names.empty() ? "" : ", ") + agent.name;
  }
  return names;
}

// In the words of this surface.
Error no_default(const Error& error, const Administration& administration) {
  const std::string names = agent_names(administration);
  return {error.code, error.message + (names.empty() ? "" : " `agent` may be one of " + names + "."), error.reason};
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
  if (launch.fork && call->caller.session.empty())
    fields.refuse("fork", "needs the session whose conversation is to be copied, and this call names none");
  if (call->refused(fields)) return;
  if (!resumed.empty()) return resume(call, std::move(resumed), std::move(launch.prompt));
  if (launch.agent_id.empty()) {
    const Administration& administration = call->parts.engine.administration();
    Result<std::string> agent = default_agent(administration.agents(), administration.settings().default_agent);
    if (!agent) return call->refuse(no_default(agent.error(), administration));
    launch.agent_id = std::move(*agent);
  }
  errand::tools::launch(call, std::move(launch));
}

}  // namespace

void fit_background_task(ToolInfo& info, const Administration& administration, bool forks) {
  namespace json = boost::json;
  json::value schema = json::parse(info.input_schema);
  json::object& properties = schema.as_object().at("properties").as_object();
  if (!forks) properties.stable_erase(properties.find("fork"));
  std::string words = agent_names(administration);
  const std::vector<Agent> agents = administration.agents();
  if (const auto usual = default_agent(agents, administration.settings().default_agent))
    words += ". Default: " + std::ranges::find(agents, *usual, &Agent::id)->name;
  if (!words.empty()) properties.at("agent").as_object()["description"] = "One of " + words + ".";
  info.input_schema = json::serialize(schema);
}

Tool background_task() {
  return {
      {.name = "background_task",
       .title = "Start or resume a background task",
       .description = "Gives an agent work in the background and returns at once with the task's id. You are told when "
                      "it ends: do "
                      "not poll, go on with other work. For a shell command use background_execute. A few tasks work "
                      "at once (3 by "
                      "default), the others wait in line. A task is kept until it is cleared or this session ends.",
       .input_schema =
           R"({"type":"object","properties":{
"prompt":{"type":"string","description":"What to do, with all that the agent must know: it sees nothing of this conversation. With `resume`: what to do next."},
"agent":{"type":"string","description":"The agent's id or name. Default: the server's."},
"fork":{"type":"boolean","description":"It sees this conversation. Not with `resume`."},
"resume":{"type":"string","description":"Id of a completed task that goes on with `prompt` in its own conversation; nothing else counts then."},
"model":{"type":"string","description":"Default: the agent's own."},
"enable_skills":{"type":"boolean","description":"It may use the installed skills."},
"enable_mcp":{"type":"boolean","description":"It may use the configured MCP servers."},
)" + launch_properties("none") +
           R"(},"required":["prompt"],"additionalProperties":false})",
       .output_schema = task_schema(),
       .example =
           R"({"description":"Find flaky tests","prompt":"Run the test suite ten times and list the tests that fail sometimes.","agent":"opencode"})",
       .annotations = {.open_world = true},
       .role = Role::starts},
      handle};
}

}  // namespace errand::tools
