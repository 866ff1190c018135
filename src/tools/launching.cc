#include "tools/launching.h"

#include "api/launch.h"
#include "base/json_out.h"
#include "task/permission.h"
#include "tools/words.h"

namespace errand::tools {

void read_launch(api::Fields& fields, const Caller& caller, Launch& launch) {
  fields.text("description", launch.description, {.bytes_max = 64 * 1024, .may_be_blank = true});
  fields.text("title", launch.title, {.bytes_max = 4096, .may_be_blank = true});
  api::read_paths(fields, launch, caller.work_dir);
  if (launch.work_dir.empty()) launch.work_dir = caller.work_dir;
  api::read_batch(fields, launch);
  api::read_labels(fields, launch);
  api::read_bounds(fields, launch, "timeout");
  fields.integer("priority", launch.priority, -1000, 1000);
  fields.flag("authorize_over_limit", launch.authorize_over_limit);
  launch.surface = Surface::tools;
  launch.parent_session_id = caller.session;
  if (caller.session) mark_launched_by_agent(launch);
  launch.parent_message_id = caller.message;
}

std::string launch_properties() {
  return R"("description":{"type":"string","description":"What it is for, in a few words; lists show it."},
"title":{"type":"string","description":"A shorter name than the description."},
"work_dir":{"type":"string","description":"The folder to work in. Default: yours, where errand knows it (errand mcp does), else the home folder; the answer names it."},
"add_dirs":{"type":"array","items":{"type":"string"},"description":"Further folders that it may use, absolute paths."},
"artifacts":{"type":"array","items":{"type":"string"},"description":"Patterns below work_dir, such as \"dist/*.zip\": what matches at the end is listed as an artifact, as is everything in the folder $ERRAND_ARTIFACTS."},
"batch_id":{"type":"string","description":"The batch that it belongs to; \"new\" makes one, and the answer says its id for the next call."},
"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"Names and values of your own."},
"timeout":{"type":"number","minimum":0,"description":"Seconds until it is ended; 0: never. Default: 300 for commands, none for agents."},
"idle_timeout_s":{"type":"number","minimum":0,"description":"Seconds without output, CPU use or I/O until it counts as hung; 0: never. Default: 300."},
"on_hang":{"type":"string","enum":["fail","restart"],"description":"When it hangs: fail it, or start it again. Default: fail."},
"max_restarts":{"type":"integer","minimum":1,"maximum":100,"description":"With on_hang=restart: how often, at most."},
"progress_every_s":{"type":"number","minimum":0,"description":"Seconds between progress reports to this session. Default: only the end is reported."},
"retention_s":{"type":"number","minimum":0,"description":"Delete it this many seconds after it ends; 0 keeps it."},
"limits":{"type":"object","properties":{"cpu_s":{"type":"integer","minimum":1},"memory_bytes":{"type":"integer","minimum":1},"processes":{"type":"integer","minimum":1},"open_files":{"type":"integer","minimum":1},"output_bytes":{"type":"integer","minimum":1},"nice":{"type":"integer","minimum":-20,"maximum":19}},"additionalProperties":false,"description":"What it may use at most."},
"budget":{"type":"object","properties":{"tokens":{"type":"integer","minimum":1},"cost_usd":{"type":"number","exclusiveMinimum":0},"turns":{"type":"integer","minimum":1},"tool_calls":{"type":"integer","minimum":1}},"additionalProperties":false,"description":"What an agent may spend; past it the task ends with the code budget."},
"priority":{"type":"integer","minimum":-1000,"maximum":1000,"description":"Among tasks that wait for a slot, the highest starts first."},
"authorize_over_limit":{"type":"boolean","description":"Start at once, even over the server's limit of tasks at work. Only if a person explicitly asks for it and the server's settings allow it."})";
}

std::string started(const Call& call, const TaskView& view) {
  const std::string& id = view.task.id.value;
  std::string text = "Started in the background.\n" + describe(view);
  text += "\nFolder: " + view.task.launch.work_dir;
  if (view.task.deadline_at)
    text += "\nIts time ends at " + format_time(view.task.deadline_at) + " (" +
            std::to_string(view.task.launch.timeout_ms / 1000) + " s; `timeout` sets it).";
  if (view.task.launch.batch_id) text += "\nBatch: " + view.task.launch.batch_id.value;
  text += call.caller.session.empty() ? "\n\n" : "\n\nGo on with other work: this session is told when it ends. ";
  return text + call.name("output") + "(task_id=\"" + id + "\") reads its progress or result, " + call.name("cancel") +
         " ends it.";
}

void launch(const CallPtr& call, Launch launch) {
  if (const Status may = check_launch(launch, call->caller.rights); !may) return call->refuse(may.error());
  // Keys are made for one call each: nothing else comes under the same one.
  call->parts.engine.tasks().launch(std::move(launch), call->caller.key,
                                    call->caller.key.empty() ? "" : call->tool.info.name,
                                    [call](Result<TaskView> view) {
                                      if (!view) return call->refuse(view.error());
                                      std::string data;
                                      JsonOut out(data);
                                      write_task(out, *view);
                                      call->answer(started(*call, *view), std::move(data));
                                    });
}

}  // namespace errand::tools
