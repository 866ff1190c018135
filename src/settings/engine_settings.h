// What the engine works with. Those that have a name are rows of the table (table.h); the rest is fixed, and here so
// that tests can make it small.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "fork/fork.h"
#include "task/decide.h"
#include "task/task.h"

namespace errand {

struct EngineSettings {
  int max_concurrent = 3;
  std::map<std::string, int> max_per_agent;
  std::map<std::string, int> max_per_model;
  int64_t max_memory = 0;  // Bytes that the programs of agents may use together before further ones wait; 0: any.
  bool allow_over_limit = false;
  Millis command_timeout_ms = 300'000;
  Millis idle_timeout_ms = 300'000;
  int max_restarts = max_restarts_default;  // Of a turn that hangs, where its launch says on_hang: restart.
  Millis retention_ms = 0;                  // 0: keep.
  int64_t output_limit = 64LL << 20;
  // Of commands that name none; 0: no limit.
  Limits command_limits{.memory_bytes = 2LL << 30, .processes = 512, .open_files = 4'096};
  // What may wait to be stored, in inputs and in bytes: past it calls are answered `exhausted`. Of the bytes, turns may
  // report so many before they are told to wait: each, and all together.
  int inbox_max = 10'000;
  int64_t inbox_bytes = 64 << 20;
  int64_t turn_bytes = 1 << 20;
  int64_t turns_bytes = 16 << 20;
  Millis delta_watched_ms = 30;       // Text is merged this long while somebody reads the task,
  Millis delta_unwatched_ms = 1'000;  // and this long where nobody does,
  size_t delta_bytes = 16 * 1024;     // or until it is this long.
  std::string default_work_dir;
  fork::Limits fork;          // What forks take over of a conversation.
  Millis ask_timeout_ms = 0;  // An open question is denied after this; 0: it waits for ever.
  bool wake = false;          // A notice to the session of a completed task makes a further turn of it.
  // Tool calls in a row that are equal, with equal results: a warning, and the end with code `loop`. 0: not watched.
  int loop_warn = 3;
  int loop_max = 5;
  std::string default_agent = "auto";             // Does what names no agent; "auto": the first that can be used.
  std::string isolate = "none";                   // Agents' tasks that do not say: none or worktree,
  std::string isolate_base = "head";              // and what their work tree begins with: head or dirty.
  std::string isolate_setup;                      // and what is run in it before its first turn; empty: nothing.
  Millis changes_keep_ms = 30LL * 86'400'000;     // How long what was merged or discarded can be taken back; 0: always.
  int64_t changes_max_bytes = int64_t{50} << 30;  // Of all work trees together; 0: no bound.
  std::string watch_changes = "agents";     // Whose folders are looked at before and after a turn: agents, all, off.
  std::string tools_family = "background";  // The tools' names that are listed.
};

}  // namespace errand
