// How agents run. A driver turns one kind of agent (or a command) into events, and nothing more: it decides no state,
// keeps no task, and knows neither store nor engine. One contract suite (tests/contract/driver_contract.h) runs against
// every driver.
//
// Threads: all calls, in both directions, happen on the engine's thread. A sink may be called inside open(), send(),
// answer() and stop(): the engine's sink only puts things into its inbox.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/syncable.h"
#include "files/beneath.h"
#include "task/agent.h"
#include "task/artifact.h"
#include "task/message.h"
#include "task/task.h"
#include "task/usage.h"

namespace errand {

struct Capabilities {
  bool message_while_running = false;  // send() works during a turn.
  bool resume = false;                 // A further turn in the same conversation.
  bool fork = false;
  bool reattach = false;  // Goes on with a turn after the server was restarted.
  // With reattach: what it says goes on in the message that was open. Otherwise the engine has closed that message, as
  // interrupted, before the turn is opened again.
  bool keeps_message = false;
  bool permissions = false;
  bool operator==(const Capabilities&) const = default;
};

// What a driver reports. Texts are UTF-8; the driver has replaced what was not.
namespace report {
struct MessageBegan {  // An assistant message. At most one is open at a time.
  MessageId id;        // Empty: the engine makes one.
};
struct Text {
  int part = 0;  // Index of the part in the open message; parts begin in order.
  bool reasoning = false;
  std::string text;
};
// The driver's own data of a part of the open message (a provider's signature): stored with it, never shown. A part
// that has not begun begins as an empty piece of reasoning.
struct Opaque {
  int part = 0;
  std::string data;
};
struct ToolStarted {
  int part = 0;
  std::string call_id;
  std::string name;
  std::string input;    // JSON.
  std::string summary;  // One short line for people.
};
struct ToolCompleted {
  std::string call_id;
  std::string output;
  bool is_error = false;
  int64_t ms = 0;
};
struct MessageEnded {};  // The open message is complete.
// A complete message of the system's at this place of the conversation (a compaction, a preamble). Not between
// MessageBegan and MessageEnded.
struct SystemMessage {
  MessageId id;  // Empty: the engine makes one.
  std::vector<Part> parts;
};
// A command's: the bytes of one stream in [offset, offset + length) of its log. Each byte of a stream is in exactly one
// such report, and no character is split between two. Where the streams alternate often, the range of one has bytes of
// the other in it, which are not meant.
struct Output {
  std::string stream;  // "stdout" or "stderr".
  int64_t offset = 0;
  int64_t length = 0;
  std::string text;  // At most output_text_max bytes of it, for those who read live.
  int64_t lines = 0;
  std::shared_ptr<Syncable> log;  // Synced before the event is stored.
};
// Of one call of a model (or of several, where the agent tells no more): added to what was used before, and a row of
// usage. With a source `usage.cost_usd` is what it cost; without one its cost is not known.
struct Used {
  Usage usage;
  PriceSource source = PriceSource::unknown;
  std::string provider = {};
  std::string model = {};      // Empty: the launch's.
  std::string priced_at = {};  // As UsageRow has it.
};
struct Resources {  // Totals of the run so far.
  double cpu_s = 0;
  int64_t memory_bytes = 0;
  // False: it says nothing of when that was used, and is no sign of life.
  bool just_now = true;
};
struct Warning {
  std::string code;
  std::string text;
};
struct AgentSession {  // The agent's own id of the conversation.
  std::string id;
};
struct Taken {  // A message that was given by open() or send() is now part of the conversation.
  MessageId message;
};
struct Asks {
  std::string request_id;  // Unique in the task.
  AskKind kind = AskKind::answer;
  std::string text;
  std::vector<std::string> options;
  std::string tool;  // For permissions: what the rules match.
  std::string subject;
  std::string work_dir = {};  // As Ask has them: what whoever is asked decides about.
  std::string diff = {};
  bool reads = false;
};
// It waits, and does nothing else: it holds no slot and its idle clock stands still until GoesOn. A turn that is taken
// up again says anew which of the two holds.
struct Waits {
  WaitKind kind = WaitKind::quota;
  std::string text;
  Time until;  // Wall time; never: not known.
};
struct GoesOn {};
struct Alive {};  // A sign of life that is no event.
// The answer to a probe of something that is there and does nothing: what was seen of it, as the rest of a sentence.
// It is no sign of life.
struct Still {
  std::string seen;
};
// What became of the task's own work tree; nothing: it has none. After a cancel it still counts: it is true of what is
// on the disk.
struct Isolated {
  std::optional<Isolation> isolation;
};
struct Match {  // A line of output that the launch asked to be told of (notify_on).
  std::string pattern;
  std::string line;
  int64_t more = 0;  // Lines that matched since the last such report, and are not reported: there were too many.
};
}  // namespace report

using Report =
    std::variant<report::MessageBegan, report::Text, report::ToolStarted, report::ToolCompleted, report::MessageEnded,
                 report::Output, report::Used, report::Resources, report::Warning, report::AgentSession, report::Taken,
                 report::Asks, report::Alive, report::Still, report::Match, report::Opaque, report::SystemMessage,
                 report::Waits, report::GoesOn, report::Isolated>;

inline constexpr size_t output_text_max = 32 * 1024;
// In the place of a run's number where a log is read: of the command that prepared the task's own work tree.
inline constexpr int set_up_run = -1;

struct Outcome {
  enum class Kind : uint8_t {
    completed,
    failed,
    stopped,  // By stop().
    lost,     // The run cannot go on and nobody knows how it ended: `interrupted`.
  } kind = Kind::completed;
  std::optional<std::string> result;
  std::optional<TaskError> error;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<ArtifactSummary> artifacts = std::nullopt;  // Gathered and on disk before the end is told.
};

// Where a turn's reports go. Reports of one call are stored in one commit, together with the checkpoint, before any of
// them is shown to anybody.
//
// A report is always taken. But a disk can be slower than a source: a driver that can leave its source unread (a
// journal, a connection) asks has_room() before it reads on, and where there is none goes on when when_room() calls it.
// So the source waits, and not the server's memory.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void report(std::vector<Report> reports, std::string checkpoint) = 0;
  // Calls `then` when all that was reported before is durable: later, never inside this call, on the engine's thread.
  // Not at all once the turn is over or destroyed.
  virtual void when_stored(Work then) = 0;
  // Little enough of what was reported waits to be stored.
  virtual bool has_room() const { return true; }
  // Calls `then` when has_room() holds (again): later, never inside this call, on the engine's thread. Only the last
  // one asked for is called; not at all once the turn is over, detached or destroyed.
  virtual void when_room(Work then) { when_stored(std::move(then)); }
  // The work of this turn has ended and nothing of it is left: no process (but a program that waits for the next turn,
  // driver/program/holder.h), no request. Exactly once, last.
  virtual void ended(Outcome outcome) = 0;
};

struct TurnRequest {
  std::shared_ptr<const Task> task;  // Task::run names the run.
  std::vector<Message> messages;     // User messages not yet taken, in order. The first turn of a command has none.
  std::vector<Message> history;      // The conversation before them, for drivers that keep none of their own. In the
                                     // order in which the agent said and took it.
  // The run was at work when the server stopped: go on after `task->checkpoint` (first_mark(), where nothing was
  // reported), or answer `lost`. `history` has all
  // that was stored of it: the message that was open (see Capabilities::keeps_message), the messages that it has taken.
  bool reattach = false;
  std::shared_ptr<const Agent> agent;  // As it is configured now; never null.
};

// A turn at work.
class Turn {
 public:
  // Nothing is ended by it: the server leaves, however it does, and what runs outside of it goes on, to be taken up by
  // reattach. No report follows. Work is ended by an order alone: stop(), or drop().
  virtual ~Turn() = default;
  // A further message during the turn; `Taken` follows when the agent has it. Repeats of an id are dropped.
  virtual Status send(const Message& message) = 0;
  // A person's (or a rule's) answer to Asks, stored before. One that is no longer asked for is no error.
  virtual void answer(const std::string& request_id, const std::string& decision, const std::string& message) = 0;
  // Ends the work, with its whole process tree; `ended` follows. May be repeated.
  virtual void stop() = 0;
  // The same without waiting and without a report, for a stop that was not answered: what still runs is ended, and the
  // turn is destroyed next.
  virtual void drop() = 0;
  // Is it alive, though silent? Leads to Resources or Alive where it is, to Still or nothing where it is not.
  virtual void probe() {}
  // Whoever could answer the last probe has not (a supervisor that is stopped, or is being replaced). Nobody can say
  // then whether it works, so this time does not count for its idle limit.
  virtual bool unseen() const { return false; }
  // Somebody says that the usage limit which it waits for (Waits) is over. True: it asks again now, and reports GoesOn.
  // False: its program waits by itself and cannot be told.
  virtual bool lift_quota() { return false; }
};

// A run's log, read for people and streams. Offsets count the child's bytes, both streams together.
struct LogPiece {
  std::string stream;  // "stdout" or "stderr".
  int64_t offset = 0;
  Time at;
  std::string bytes;  // As they came: not always UTF-8.
};
struct LogRead {
  std::vector<LogPiece> pieces;
  int64_t next = 0;      // Where to go on.
  int64_t cut = 0;       // Bytes before the first piece that were left out, because the log was over its limit;
  bool damaged = false;  // or because they are no longer what was printed (and then there is no piece).
  int64_t size = 0;      // All that was printed so far, cut or not.
};

// How a text says it.
inline std::string damage_text(int64_t bytes) {
  return "\n[... " + std::to_string(bytes) + " bytes are damaged on the disk and were left out ...]\n";
}

class Driver {
 public:
  virtual ~Driver() = default;
  virtual Capabilities capabilities() const = 0;
  // Can this launch be run at all? Asked before anything is stored. Looks at no file: the engine waits for it.
  virtual Status check(const Launch& launch) const = 0;
  // The rest of the check: what the launch names on a disk. Run before anything is stored, on a thread where it may
  // hang for as long as a network mount does. So it owns all that it uses, and may outlive the driver. Absent: the
  // launch names nothing.
  using Look = std::function<Status()>;
  virtual Look look(const Launch& /*launch*/) const { return {}; }
  // The checkpoint of a run that begins now: stored with its start, before open(). For what must be known of a run
  // that has reported nothing yet. Looks at no file.
  virtual std::string first_mark() const { return {}; }
  // Begins (or takes up again) the turn; its start is stored. `sink` outlives the Turn, and may be called before this
  // returns. Failure: nothing runs, no report follows, and the task fails with the sentence. Engine thread; must not
  // block: what takes time is done behind it.
  virtual Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) = 0;
  // After a restart: the runs that it still knows, so that those whose task is gone can be ended (R2.3).
  struct KnownRun {
    TaskId task;
    int run = 0;
    bool alive = false;
  };
  virtual void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) { done({}); }
  // Ends a run that no task owns any more.
  virtual void end_run(const TaskId& /*task*/, int /*run*/) {}
  // The server leaves in good order, its turns are destroyed. `at_work`: some task of this driver is at work, and all
  // that it needs goes on. Otherwise what serves no task (a helper process that waits for the next one) is ended.
  virtual void server_leaves(bool /*at_work*/) {}
  // What the runs of this task left, their folders and logs, goes (live ones are ended). The task is removed.
  virtual void forget(const TaskId& /*task*/) {}
  // The path of a run's log, for notices; empty where there is none.
  virtual std::string log_path(const TaskId& /*task*/, int /*run*/) const { return {}; }
  // At most `limit` bytes from `offset` (a negative offset counts from the end). Any thread; blocking.
  virtual Result<LogRead> read_log(const TaskId& /*task*/, int /*run*/, int64_t /*offset*/, int64_t /*limit*/) const {
    return fail(Code::not_found, "This kind of task keeps no log.");
  }
  // Those of the runs up to `last_run` that have left a log, oldest first. Any thread; blocking.
  virtual std::vector<int> log_runs(const TaskId& /*task*/, int /*last_run*/) const { return {}; }

  // What the task has left beside its logs (R9.4): as it was gathered, and of a task at work as it is now. Any thread;
  // blocking.
  virtual Result<ArtifactList> artifacts(const Task& /*task*/) const { return ArtifactList{}; }
  // Gathers anew: what the launch's patterns name is copied, so that it stays. `done` is called later, on the engine's
  // thread.
  using Gathered = std::move_only_function<void(Result<ArtifactList>)>;
  virtual void gather(std::shared_ptr<const Task> /*task*/, Gathered done) { done(ArtifactList{}); }
  // One of them, by its id or its name; not_found, reason `no_artifact`, where there is none. Any thread; blocking.
  struct OpenArtifact {
    Artifact info;
    files::File file;
  };
  virtual Result<OpenArtifact> open_artifact(const Task& /*task*/, std::string_view /*id_or_name*/) const {
    return fail(Code::not_found, "This task has no such artifact.", "no_artifact");
  }
};

}  // namespace errand
