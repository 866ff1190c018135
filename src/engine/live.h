// A task in memory, what waits for it, and a commit of it under way: the values that the engine's parts hand each
// other. Engine thread only.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/timers.h"
#include "engine/backlog.h"
#include "engine/batches.h"
#include "engine/recorder.h"
#include "engine/task_view.h"
#include "store/store.h"
#include "task/decide.h"

namespace errand {

class TurnSink;

// At rest, and nothing of it is being stopped: its result is whole, and its notice is made.
inline bool is_over(const Task& task) { return !at_work(task.state) && !task.stopping; }

// Something that happens to one task.
struct Action {
  Input input;
  // With Activity: what the driver reported, and its mark.
  std::vector<Report> reports;
  std::string checkpoint;
  Charge charge;
  bool soft = false;     // May wait a little, to be merged with what follows.
  uint64_t report = 0;   // Its number in Live::reported.
  bool take_up = false;  // Instead of reports: the message that was open when the server died is closed.
  // With Prompt and Retry: stored in the same commit.
  std::vector<Message> messages;
  // With Remove.
  Gone gone = Gone::deleted;
  // With NoticeTaken.
  std::vector<NoticeId> taken;
  // Whoever asked. Absent: the engine's own action, which is tried again where the store fails.
  Reply<TaskPtr> reply;
};

// A task as memory wants it, read from the store.
struct StoredLive {
  Task task;
  int64_t last_message = 0;       // Of its conversation.
  std::optional<Message> open;    // The agent's, where a turn is at work: still being written.
  std::vector<Message> messages;  // The bodies of Task::waiting.
};
// Blocking; any reader thread. What the store says, where it cannot be read.
Result<StoredLive> read_live(Store& store, Task task);

// A task in memory: at work, or with something under way.
struct Live {
  explicit Live(TaskId task_id);
  ~Live();
  // It is as it is stored now.
  void take(StoredLive from);

  const TaskId id;
  TaskPtr task;       // As it is stored. Null until it is loaded or its creation is durable.
  Recorder recorder;  // Likewise.
  std::unordered_map<MessageId, Message> messages;  // The bodies of Task::waiting.
  std::vector<Action> inbox;
  bool loading = false;
  bool stale = false;    // `task` is not what is stored: it is loaded again.
  bool busy = false;     // A commit is under way.
  bool removed = false;  // Its rows are gone; its last run is being ended.
  Time soft_until;       // Soft actions wait until then.
  Time soft_taken;       // When such were last taken to be stored.
  size_t soft_bytes = 0;
  Time retry_at;  // After a failed commit.

  // The turn at work. The sink outlives it.
  std::unique_ptr<TurnSink> sink;
  std::unique_ptr<Turn> turn;
  bool opening = false;
  // Reports of the turn by number: how many came, how many are durable, and who waits for one to be.
  uint64_t reported = 0, stored = 0;
  std::list<std::pair<uint64_t, Work>> when_stored;  // Mostly empty, and then it takes no memory.
  Work when_room;                                    // The turn was told to wait.
  std::unordered_set<NoticeId> taken_notices;        // By its agent, since the task is in memory.
  int overspent_run = 0;                             // The run that was told to end over its budget.
  int finished_run = 0;  // The run whose work has ended with nothing left of it, whatever is stored yet.

  // Deadlines of the run, in steady time. 0: none.
  Time last_sign;  // Of life.
  Time looked;     // When it was last asked for one.
  bool warned = false;
  std::string seen;  // What the last probe said of something that does nothing.
  // When the work that the timeout is for began: a restart after a hang, or a clock that is set, does not move it.
  struct Began {
    int attempt = 0, resume_count = 0;
    Time at;
  } began;
  Timers::Key timeout_timer = 0, idle_timer = 0, progress_timer = 0, soft_timer = 0, stop_timer = 0, ask_timer = 0,
              budget_timer = 0;
};
using LivePtr = std::shared_ptr<Live>;

// A commit, from the moment in which it is decided until the store has answered.
struct Prepared {
  Commit commit;
  LivePtr live;  // Null: about no task.
  TaskPtr after;
  Recorder recorder;
  std::map<size_t, std::string> texts;
  std::vector<Effect> effects;
  std::vector<Action> actions;                // For another try.
  std::vector<std::optional<Error>> refused;  // Per action: what decide answered.
  BatchMoves batch_moves;
  std::vector<SessionId> told;      // Sessions that get a notice.
  std::vector<NoticeId> own_taken;  // By this task's agent.
  bool undecided = false;           // Whether its batch is whole depends on a commit under way: not to be stored yet.
  bool created = false;
  std::move_only_function<void(Result<Committed>)> done;  // Where live is null, or for a creation.
};

}  // namespace errand
