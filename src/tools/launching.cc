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

std::string launch_properties(std::string_view timeout_default) {
  return R"("description":{"type":"string","description":"What it is for; lists show it."},
"title":{"type":"string","description":"A shorter name."},
"work_dir":{"type":"string","description":"Folder to work in. Default: yours; the answer names it."},
"add_dirs":{"type":"array","items":{"type":"string"},"description":"More folders that it may use, absolute."},
"artifacts":{"type":"array","items":{"type":"string"},"description":"Patterns below work_dir (\"dist/*.zip\") of files to keep at the end, beside those in $ERRAND_ARTIFACTS."},
"batch_id":{"type":"string","description":"Its batch; \"new\" makes one, and the answer names it."},
"labels":{"type":"object","additionalProperties":{"type":"string"},"description":"Names and values of your own."},
"timeout":{"type":"number","description":"Seconds until it is ended; 0: never. Default: )" +
         std::string(timeout_default) + R"(."},
"idle_timeout_s":{"type":"number","description":"Seconds without output, CPU use or I/O until it counts as hung; 0: never. Default: 300."},
"on_hang":{"type":"string","enum":["fail","restart"]},
"max_restarts":{"type":"integer","description":"With on_hang=restart: 1 to 100."},
"progress_every_s":{"type":"number","description":"Seconds between notices of progress. Default: none."},
"retention_s":{"type":"number","description":"Delete it so long after its end; 0: keep."},
"limits":{"type":"object","additionalProperties":{"type":"integer"},"description":"At most: cpu_s, memory_bytes, processes, open_files, output_bytes, nice."},
"budget":{"type":"object","additionalProperties":{"type":"number"},"description":"An agent ends past: tokens, cost_usd, turns, tool_calls."},
"priority":{"type":"integer","description":"-1000 to 1000: the highest that waits starts first."},
"authorize_over_limit":{"type":"boolean","description":"Start over the limit of tasks at work: only if a person asks for it."})";
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
