// The engine's face for whoever runs the server: agents, settings, usage limits, and how it is. Calls and answers as in
// tasks.h; what answers at once says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "driver/driver.h"
#include "engine/task_view.h"
#include "store/store.h"
#include "task/agent.h"

namespace errand {

struct EngineSettings;
class SettingsChange;

struct Health {
  int64_t running = 0;  // Turns holding a slot.
  int64_t queued = 0;
  int64_t working = 0;      // Tasks whose turn is at work.
  int64_t inbox = 0;        // Inputs waiting for a commit,
  int64_t inbox_bytes = 0;  // and their bytes.
  int64_t streams = 0;
  int64_t feeds = 0;    // Of tasks and sessions, that are in memory.
  int64_t commits = 0;  // Since start.
  int64_t events = 0;
  // Programs of agents: at work, and waiting for a further turn; and the memory that they use.
  int64_t programs = 0, programs_waiting = 0;
  int64_t programs_bytes = 0, programs_waiting_bytes = 0;
  bool recovering = false;
  bool draining = false;
};

// A provider's usage limit that holds turns back (R4.5): the tasks that met it wait, and no further turn on the same
// account is begun.
struct Quota {
  std::string account;  // Names it for people and in requests: DRIVER[/MODEL][@ADDRESS].
  std::string driver, model, base_url;
  std::string text;  // What was said of it, by the one that waits longest.
  Time since;
  Time until;                 // Wall time; it is asked again then at the latest.
  std::vector<TaskId> tasks;  // That wait at work, oldest wait first; at most quota_tasks_max of them,
  int64_t waiting = 0;        // of so many.
  int64_t queued = 0;         // In line, and not begun because of it.
};
inline constexpr size_t quota_tasks_max = 100;

class Administration {
 public:
  virtual ~Administration() = default;

  // --- agents and settings; durable before they are used
  // A new agent (its id is made), or, with `id`, that agent anew. Errors: conflict where the name is another's, or
  // where it is one that cannot be changed; not_found; invalid_argument for a driver that is not here.
  virtual void put_agent(std::string id, Agent agent, Reply<Agent> reply) = 0;
  // Its tasks keep its name; those at work go on, and their next turn fails.
  virtual void remove_agent(std::string id, Reply<void> reply) = 0;
  // What a task of this agent may do without asking, from its next launch on; and all of that taken back.
  virtual void grant(std::string id, std::vector<PermissionRule> rules, Reply<Agent> reply) = 0;
  virtual void revoke(std::string id, Reply<Agent> reply) = 0;
  // Stores what is given, uses it, and answers all. conflict, reason `setting_is_pinned`, where the file, the
  // environment or a flag has set one: then nothing was changed.
  virtual void change_settings(SettingsChange change, Reply<EngineSettings> reply) = 0;

  // --- usage limits
  // Those that hold something back, the oldest first. At once.
  virtual std::vector<Quota> quotas() const = 0;
  // A person says that it is over (empty: each of them is): what waits asks again, what is in line may begin. Answers
  // how many it ended, when that is durable. not_found, reason `no_quota`, where this account has none.
  virtual void clear_quota(std::string account, Reply<int64_t> reply) = 0;

  // --- what is known without the store: at once
  virtual std::vector<Agent> agents() const = 0;
  // Of its driver; nothing where that is not here.
  virtual Capabilities capabilities(const Agent& agent) const = 0;
  virtual StateCounts counts() const = 0;
  virtual EngineSettings settings() const = 0;
  virtual Health health() const = 0;
};

}  // namespace errand
