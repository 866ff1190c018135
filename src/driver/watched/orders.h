// Orders: what errand asks of the git program for a task, each carried out by a process of its own under the supervisor
// (changes/orders.h, decision 31). This is the server's side: it starts them, hears them to their end, and reads what
// they answer.
//
// Orders of one task wait for each other; a few tasks' run at once. An order goes on when the server is killed: the
// next one hears its end (take_up). Every hour it looks for what was merged or discarded a month ago, and has it
// removed where nothing is lost with it. Threads: the engine's; journals are read beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/alive.h"
#include "base/executor.h"
#include "base/time.h"
#include "base/timers.h"
#include "changes/orders.h"
#include "driver/changes.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::watched {

struct Bounds {
  int64_t max_bytes = int64_t{50} << 30;  // Of all work trees together: past it no further one is made. 0: none.
  Millis keep_ms = 30LL * 86'400'000;     // How long what was merged or discarded can be taken back. 0: always.
};

struct OrderOptions {
  std::string data_dir;
  std::string program;                   // errand itself, an absolute path.
  std::string home;                      // Never looked at as a whole.
  std::vector<std::string> environment;  // Of that process: "NAME=value".
  std::function<Bounds()> bounds = {};   // As they are now; absent: the usual ones.
  size_t at_once = 3;                    // Of different tasks.
  size_t waiting_max = 100;              // What callers ask past it is refused (exhausted).
  // How a run's journal is opened; absent: from its folder. Any thread.
  std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)> open_journal = {};
};

// All outlive this.
struct OrderParts {
  process::SupervisorClient& supervisor;
  Executor& files;   // For reading journals and errand's own folder.
  Executor& engine;  // The engine's thread.
  Clock& clock;
  Timers& timers;
};

class Orders final : public Changes {
 public:
  Orders(OrderOptions options, OrderParts parts);
  ~Orders() override;  // What runs goes on.

  // --- callers
  void ask(std::shared_ptr<const Task> task, ChangesAsk ask, Answered done) override;
  void take_up(Heard heard) override;

  // --- turns
  // An order of a task at work. `key` ("begin3") names it among the task's, so that a server that comes after this one
  // finds the same order: one of that name which is there already is heard instead.
  void carry_out(const Task& task, std::string_view order, const std::string& key, Answered done);
  // Hears it where it is there; not_found otherwise.
  void hear(const TaskId& task, const std::string& key, Answered done);
  // Ends it; its answer is an error then.
  void stop(const TaskId& task, const std::string& key);
  // A turn of the task is at work: nobody decides about what it changes meanwhile.
  void begin_turn(const TaskId& task) { working_.insert(task.value); }
  void end_turn(const TaskId& task) { working_.erase(task.value); }

  // What the set-up command of the task's work tree printed, that of its last try. not_found, reason `no_log`. Any
  // thread; blocking.
  Result<std::shared_ptr<process::Journal>> set_up_log(const TaskId& task) const;
  const std::function<Result<std::shared_ptr<process::Journal>>(const std::string& run)>& open_journal() const {
    return options_.open_journal;
  }

  // The task was removed: so is what is kept of its changes. A work tree with changes that nobody took stays.
  void forget(const TaskId& task);
  // Whether a folder is (in) a git repository that may be looked at as a whole. It may hang there, and owns what it
  // uses.
  std::function<bool()> look_at(std::string folder) const;
  // As Isolates::may_isolate.
  std::function<Status()> may_isolate(std::string folder) const;
  // The tasks of which something is kept. Blocking; any thread.
  static std::vector<TaskId> kept_tasks(const std::string& data_dir);

 private:
  class Job;

  changes::Order order_for(const Task& task, std::string_view what) const;
  void add(TaskId task, std::string order, const std::string& key, std::string text, Answered done);
  Bounds bounds() const { return options_.bounds ? options_.bounds() : Bounds{}; }
  void arm_clean_up();
  void clean_up();
  void clean(const TaskId& task);
  void pump();
  void start(Job& job);
  void spawn(Job& job);
  void ended(Job& job, const process::RunEnd& end);
  void finish(Job& job, const Result<ChangesAnswer>& answer);
  std::string next_key(std::string_view order);

  OrderOptions options_;
  OrderParts parts_;
  std::list<std::unique_ptr<Job>> jobs_;  // In the order in which they came.
  std::set<std::string> working_;
  uint64_t asked_ = 0;
  Timer clean_timer_;
  Millis wall_ahead_ = 0;  // Of the steady clock, when a clean-up last looked.
  Time held_until_;        // Steady time: the clock was set, and nothing is removed by its age before.
  Alive alive_;
};

// The program's answer (changes/orders.h) taken apart. internal where it is none. Pure.
Result<ChangesAnswer> read_answer(std::string text);

}  // namespace errand::watched
