// background_execute (R8.5), seed 002's `background_task:execute`: a command in the background.
#include "api/launch.h"
#include "tools/call.h"
#include "tools/launching.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

void handle(const CallPtr& call, api::Fields fields) {
  Launch launch;
  launch.kind = TaskKind::command;
  launch.agent_id = "command";
  if (!fields.has("command"))
    fields.refuse("command", "must be given: a text for /bin/sh, or a list of words", "missing_field");
  api::read_command(fields, launch);
  api::read_environment(fields, launch);
  fields.name_of("sandbox", launch.sandbox, parse_sandbox, "`off`, `workspace` or `strict`");
  fields.flag("allow_interactive", launch.allow_interactive);
  fields.texts("notify_on", launch.notify_on, 100, {.bytes_max = 1024});
  read_launch(fields, call->caller, launch);
  if (call->refused(fields)) return;
  errand::tools::launch(call, std::move(launch));
}

}  // namespace

Tool background_execute() {
  return {
      {.name = "background_execute",
       .title = "Run a command in the background",
       .description = "Runs a command in the background and returns at once with the task's id. You are told when it "
                      "ends, with its "
                      "exit code and last lines. For builds, tests, servers and all else that takes longer than a "
                      "moment. It has no "
                      "terminal and no standard input: give flags that ask nobody (-y, --no-input, git commit -m). "
                      "background_output reads its result, look_at its log.",
       .input_schema =
           R"({"type":"object","properties":{
"command":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"A text for /bin/sh -c, or the words of a command."},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"Variables for it."},
"pass_env":{"type":"array","items":{"type":"string"},"description":"Variables to copy from the server's environment; secrets only if named."},
"sandbox":{"type":"string","enum":["off","workspace","strict"],"description":"workspace: writes only to work_dir; strict: also no network. Default: off."},
"allow_interactive":{"type":"boolean","description":"Run it even if it seems to wait for a person."},
"notify_on":{"type":"array","items":{"type":"string"},"description":"Tell at once of output lines that match one of these."},
)" + launch_properties("300") +
           R"(},"required":["command"],"additionalProperties":false})",
       .output_schema = task_schema(),
       .example =
           R"({"command":"make -j4 test","description":"Run the tests","work_dir":"/home/me/project","timeout":1200})",
       .annotations = {.destructive = true, .open_world = true},
       .role = Role::starts},
      handle};
}

}  // namespace errand::tools
