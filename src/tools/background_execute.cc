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
       .description =
           "Runs a command in the background and returns at once with the task's id; this session is told when it "
           "ends, with its exit code and last lines. Use it for builds, tests, servers and everything else that "
           "takes longer than a moment. The command has no terminal and no standard input: give it the flags that "
           "ask nobody (-y, --no-input, git commit -m, ...). It ends with all its child processes when it is "
           "cancelled or its timeout is over (300 s by default). background_output reads its progress and result, "
           "look_at its log.",
       .input_schema =
           R"({"type":"object","properties":{
"command":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"},"minItems":1}],"description":"A text for /bin/sh -c, or a list of words to run without a shell."},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"Variables for it."},
"pass_env":{"type":"array","items":{"type":"string"},"description":"Variables to copy from the server's environment. Secrets are copied only if named here."},
"sandbox":{"type":"string","enum":["off","workspace","strict"],"description":"workspace: writes only to its work dir; strict: also no network. Default: off."},
"allow_interactive":{"type":"boolean","description":"Run it even if it looks like it waits for a person."},
"notify_on":{"type":"array","items":{"type":"string"},"description":"Patterns: this session is told at once of each output line that matches one."},
)" + launch_properties() +
           R"(},"required":["command"],"additionalProperties":false})",
       .output_schema = task_schema(),
       .example =
           R"({"command":"make -j4 test","description":"Run the tests","work_dir":"/home/me/project","timeout":1200})",
       .annotations = {.destructive = true, .open_world = true},
       .role = Role::starts},
      handle};
}

}  // namespace errand::tools
