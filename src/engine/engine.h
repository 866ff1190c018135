// The engine: one thread decides. It owns the tasks at work, the slots, the deadlines and the turns; HTTP and drivers
// only put things into its inbox. See docs/architecture in ARCHITECTURE.md, "A tick".
//
// Every call here is made on the engine's thread and answers later, on the same thread, never inside the call; what it
// answers is durable.
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
#include "base/result.h"
#include "base/time.h"
#include "driver/driver.h"
#include "engine/feed.h"
#include "engine/waiters.h"
#include "fork/fork.h"
#include "settings/change.h"
#include "store/store.h"
#include "task/agent.h"
#include "task/decide.h"
#include "task/json.h"
#include "task/task.h"

namespace errand {

template <class T>
using Reply = std::move_only_function<void(Result<T>)>;

// A task as it is stored. It is never changed: what comes after it is another one.
using TaskPtr = std::shared_ptr<const Task>;

// A task and what is known of it at this moment. The task is shared, not copied: it may hold megabytes.
struct TaskView {
  TaskView(TaskPtr shared, TaskMoment known) : kept(std::move(shared)), task(*kept), moment(std::move(known)) {}
  TaskView(Task own, TaskMoment known) : TaskView(std::make_shared<const Task>(std::move(own)), std::move(known)) {}

  TaskPtr kept;
  const Task& task;  // In `kept`.
  TaskMoment moment;
};

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
};

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

// What POST .../message answers.
struct MessageTaken {
  TaskView view;
  int turn = 0;
  MessageId message_id;
};

struct Cleared {
  int64_t removed = 0;
  int64_t left = 0;
};

// What /result answers: an ended task's result, or a running one's progress. The first reading of an ended one marks
// it.
struct ResultView {
  TaskView view;
  bool timed_out = false;  // `block` ran out: not an error.
};

// A small piece of state that a session keeps across turns (R8.6). It goes with its session.
struct StatePiece {
  std::string key;
  std::string value;
  Time updated_at;
  bool operator==(const StatePiece&) const = default;
};
inline constexpr size_t state_pieces_max = 100;          // Of one session.
inline constexpr size_t state_key_bytes_max = 100;       // Of one key,
inline constexpr size_t state_value_bytes_max = 16'384;  // of one value,
inline constexpr size_t state_bytes_max = 262'144;       // and of all that one session keeps.

class Engine {
 public:
  // What `clear` and `cancel` may be about.
  struct Scope {
    std::optional<TaskId> task;
    std::optional<BatchId> batch;
    std::optional<SessionId> parent_session;
  };
  struct NewMessage {
    std::string text;     // Or:
    std::string content;  // JSON list of parts, checked by api/.
    WaitingMessage::When when = WaitingMessage::When::steer;
  };

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

  // --- tasks
  // `key` is the Idempotency-Key or empty, `fingerprint` tells one request from another under the same key.
  virtual void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) = 0;
  virtual void get(TaskId id, Reply<TaskView> reply) = 0;
  virtual void cancel(TaskId id, std::string by, Reply<TaskView> reply) = 0;
  virtual void retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) = 0;
  virtual void message(TaskId id, NewMessage message, Reply<MessageTaken> reply) = 0;
  // Explicit resume: only `completed` tasks (R5.3).
  virtual void resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) = 0;
  virtual void answer(TaskId id, input::Answered answer, Reply<TaskView> reply) = 0;
  virtual void remove(TaskId id, Gone why, Reply<void> reply) = 0;
  virtual void clear(Scope scope, Reply<Cleared> reply) = 0;
  // Marks the first reading. Waits until the task is at rest where `block_ms` > 0.
  virtual void result(TaskId id, Millis block_ms, Reply<ResultView> reply) = 0;
  // Answers when all (or the first) of these tasks are at rest or gone, or the time is up. Marks nothing. Whoever no
  // longer waits gives up by the number that was returned: then there is no answer.
  using Until = errand::Until;
  virtual uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) = 0;
  virtual void give_up(uint64_t wait) = 0;
  // A unique id that begins with `text` (the whole id included). not_found, or conflict where several do.
  virtual void resolve(std::string text, Reply<TaskId> reply) = 0;

  // --- batches
  virtual void batch(BatchId id, Reply<BatchCounts> reply) = 0;  // not_found where it has no tasks.
  // Answers when all (or the first) of its tasks are at rest, or the time is up.
  virtual void wait_batch(BatchId id, Until until, Millis block_ms, Reply<BatchCounts> reply) = 0;
  virtual void cancel_batch(BatchId id, std::string by, Reply<int64_t> reply) = 0;  // How many it cancelled.
  virtual void retry_batch(BatchId id, Reply<int64_t> reply) = 0;                   // The failed ones.
  virtual void remove_batch(BatchId id, Reply<int64_t> reply) = 0;

  // --- sessions and notices
  virtual void open_session(Session session, Reply<Session> reply) = 0;  // Empty id: a new one.
  virtual void end_session(SessionId id, Reply<int64_t> reply) = 0;      // R3.5; how many tasks it removed.
  // Waits for one where there is none and block_ms > 0. Asking with `after` takes the earlier ones.
  virtual void notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) = 0;
  virtual void take_notice(SessionId session, NoticeId id, Reply<Notice> reply) = 0;
  // What the session keeps, by key. Of a session that keeps nothing, or is not known: nothing.
  virtual void session_state(SessionId id, Reply<std::vector<StatePiece>> reply) = 0;
  // Keeps (or, without a value, drops) one piece; a session that is not known yet is made. Errors: too_large over the
  // bounds above, not_found where there is nothing to drop.
  virtual void keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) = 0;

  // --- agents and settings; durable before they are used
  // A new agent (its id is made), or, with `id`, that agent anew. Errors: conflict where the name is another's, or
  // where it is one that cannot be changed; not_found; invalid_argument for a driver that is not here.
  virtual void put_agent(std::string id, Agent agent, Reply<Agent> reply) = 0;
  virtual void remove_agent(std::string id, Reply<void> reply) = 0;
  virtual void change_settings(SettingsChange change, Reply<EngineSettings> reply) = 0;

  // --- usage limits
  // Those that hold something back, the oldest first.
  virtual std::vector<Quota> quotas() const = 0;
  // A person says that it is over (empty: each of them is): what waits asks again, what is in line may begin. Answers
  // how many it ended, when that is durable. not_found, reason `no_quota`, where this account has none.
  virtual void clear_quota(std::string account, Reply<int64_t> reply) = 0;

  // --- what is known without the store
  virtual std::vector<Agent> agents() const = 0;
  virtual StateCounts counts() const = 0;
  virtual EngineSettings settings() const = 0;
  virtual Health health() const = 0;
  virtual TaskMoment moment(const Task& task) const = 0;  // Of a task that was read from the store.
  virtual Driver* driver_of(const Task& task) const = 0;

  // --- streams
  // The feed of a task while somebody holds it; made where there is none. Of a task that is at rest it has no tail.
  virtual std::shared_ptr<Feed> feed(const TaskId& id) = 0;
  virtual std::shared_ptr<Feed> all() = 0;  // The whole store's.
  // Frames of stored events, with the text of `output` put in. Any thread.
  virtual std::vector<FramePtr> frames(const std::vector<Event>& events) const = 0;
  virtual FramePtr gone_frame(const Tombstone& gone) const = 0;
  // Notices of a session: woken when one was made.
  virtual std::shared_ptr<Feed> session_feed(const SessionId& id) = 0;
};

std::unique_ptr<Engine> make_engine(EngineParts parts, EngineSettings settings);

}  // namespace errand
