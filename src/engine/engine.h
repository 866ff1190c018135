// The engine: one thread decides. It owns the tasks at work, the slots, the deadlines and the turns; HTTP and drivers
// only put things into its inbox. ARCHITECTURE.md, section 4, names its parts.
//
// Callers see six faces of it: tasks.h, task_batches.h, task_changes.h, sessions.h, streams.h, administration.h. Every
// call is made on the engine's thread and answers later, on the same thread, never inside the call; what it answers is
// durable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/id.h"
#include "base/time.h"
#include "driver/driver.h"
#include "driver/programs.h"
#include "engine/administration.h"
#include "engine/sessions.h"
#include "engine/streams.h"
#include "engine/task_batches.h"
#include "engine/task_changes.h"
#include "engine/tasks.h"
#include "fork/fork.h"
#include "settings/change.h"
#include "store/store.h"
#include "task/agent.h"
#include "task/decide.h"
#include "task/task.h"

namespace errand {

// Bugs that the simulator plants, to prove that it would find them. Empty everywhere else.
struct EngineFaults {
  std::function<bool(const Event&)> skip_frame;  // True: the event is not shown on the feeds.
  std::function<bool(const TaskId&)> keep_slot;  // True: the slot is not given back.
};

// What the engine is made of. All outlive it.
struct EngineParts {
  Store& store;
  Executor& loop;     // The engine's own thread.
  Executor& readers;  // Threads for reading the store.
  Clock& clock;
  Random& random;
  std::map<std::string, Driver*> drivers;  // By name.
  std::vector<Agent> agents;
  // Told when the engine next wants a tick() (steady time). It posts ticks to `loop` by itself where it has work now.
  std::function<void(Time)> wake_at;
  EngineFaults faults;
  // Settings (as the API names them) that the file, the environment or a flag has set: they cannot be changed while the
  // server runs.
  std::vector<std::string> pinned = {};
  std::function<void(const EngineSettings&)> settings_changed = {};  // Told of each change, and once after recovery.
  // Threads for what launches name on disks, which may hang there: Driver::look. Absent: readers.
  Executor* folders = nullptr;
  Changes* changes = nullptr;  // Who keeps what tasks changed. Absent: nobody.
  // What the drivers' programs use; absent: they start none.
  Programs* programs = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Reads the store, takes up or settles what was at work, puts the rest in line. Before anything else; answers when
  // the server may listen.
  virtual void recover(Reply<void> reply) = 0;
  // Does all due work. Returns when it wants to be called again at the latest (steady time; never: only when woken).
  // The engine asks for a tick through `loop` whenever it has something to do; this is for deadlines.
  virtual Time tick() = 0;
  // Stops taking work, commits what it has, leaves its turns (~Turn); answers when it may be destroyed. Destroyed
  // without it, as where the server cannot start, it leaves them too: no way in which the server ends stops work
  // (R14.4).
  virtual void drain(Reply<void> reply) = 0;

  // What callers ask of it, by who they are. Valid as long as the engine.
  virtual Tasks& tasks() = 0;
  virtual TaskBatches& batches() = 0;
  virtual TaskChanges& changes() = 0;
  virtual Sessions& sessions() = 0;
  virtual Streams& streams() = 0;
  virtual Administration& administration() = 0;
};

std::unique_ptr<Engine> make_engine(EngineParts parts, EngineSettings settings);

}  // namespace errand
