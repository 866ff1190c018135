// decide: the only code that changes a task's state.
//
//                 Start              TurnEnded(ok)
//   [pending] ------------> [running] ------------> [completed]
//       |                    |  |  ^                  |     ^
//       | Cancel      Cancel |  |  | Start            |     | TurnEnded(ok)
//       v                    |  |  |           Prompt |     |
//   [cancelled] <------------+  |  |                  v     |
//       |                       |  |                [resumed]--- Cancel ---> [cancelled]
//       | Retry                 |  |                  |
//       +------> [pending] -----|--+                  | TurnEnded(failed), Deadline, Lost
//                    ^          |                     v
//                    |          +----------------> [failed]
//                    +------------- Retry ------------+
//
// clang-format off
// The table of moves (rows: state; -: refused with conflict, nothing changes; . : accepted, no change of state):
//
//              Start    TurnEnded ok   TurnEnded failed  Lost     Deadline   Cancel     Prompt   Retry    Remove
//   pending    running  . (fenced)     . (fenced)        .        .          cancelled  .        -        gone
//   running    .        completed (1)  failed            failed   failed (2) cancelled  .        -        gone
//   resumed    resumed  completed (1)  failed            failed   failed (2) cancelled  .        -        gone
//   completed  .        .              .                 .        .          -          resumed  -        gone
//   failed     .        . (3)          . (3)             . (3)    .          -          -        pending  gone
//   cancelled  .        . (3)          . (3)             . (3)    .          -          -        pending  gone
//   (Activity, Taken, Asked, Answered, AskDue, Waits, GoesOn, Retrieved, ProgressDue, Isolated, NoticeTaken and Edit never change a state.
//   Overrun is as Deadline. Noticed is as Prompt where it wakes; otherwise, and for a failed or cancelled task, it changes
//   nothing: the notice waits for the next turn.)
//
//   (1) Where a message waits for the next turn, that turn follows at once: the state is `resumed`.
//   (2) Idle with on_hang = restart and restarts left: the turn is stopped and begun again, in the slot that it has.
//       Idle while it waits (for an answer, a quota, its children): nothing, its idle timer is paused.
//   (3) The processes are gone: `stopping` ends. Nothing the agent says after a cancel makes the task completed.
//   `end` is the last event of a task that comes to rest: after a cancel or a timeout it, and the notice, follow when the
//   processes are gone. An input that names a run other than the task's own is fenced off: it changes nothing.
//   A turn that a message interrupts is cut, not ended: its parent is told when the turn that follows it ends.
//
// What each state promises (checked by assert_task after every decide and every read):
//   All:        run >= 0, turn >= 1, attempt >= 1. queued_at and created_at are set; completed_at is, exactly at rest.
//   pending:    Its turn is queued. No result of this attempt; no error. Not stopping.
//   running:    Its turn is at work, run >= 1, started_at is set. No error.
//   resumed:    Its turn is queued or at work; resume_count >= 1. No error.
//   completed:  Its turn has ended, reason is "finished", not stopping, no asks. The only waiting messages are notices,
//               which are kept for its next turn.
//   `wait` is set only while a turn is at work and is not being stopped.
//   failed:     error is set and reason equals its code. Its turn has ended, or is `working` exactly while stopping.
//   cancelled:  reason names who. No error. Its turn has ended, or is `working` exactly while stopping.
// clang-format on
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "task/event.h"
#include "task/message.h"
#include "task/notice.h"
#include "task/task.h"

namespace errand {

// How far an allowed permission goes (R14.3): this once; exactly this call; what one of its patterns means; everything
// that this task asks for; for the agent from now on.
enum class AnswerScope : uint8_t { once, call, pattern, task, agent };
std::string_view name(AnswerScope scope);
std::optional<AnswerScope> parse_answer_scope(std::string_view text);

namespace input {
// A slot is reserved: its queued turn begins.
struct Start {};
// The driver showed a sign of life. The engine's recorder adds the events; this checks the fence.
struct Activity {
  int run = 0;
};
// The agent took a message that waited.
struct Taken {
  int run = 0;
  MessageId message;
};
// The work of a run has ended: no process and no request of it is left. Exactly one per run.
struct TurnEnded {
  int run = 0;
  enum class Outcome : uint8_t { completed, failed, stopped } outcome = Outcome::completed;
  std::optional<std::string> result;
  std::optional<TaskError> error;  // With failed.
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<ArtifactSummary> artifacts = std::nullopt;
};
struct Cancel {
  std::string by;  // "user", "parent", "session_ended", ...: the reason becomes cancelled_by_<by>.
};
struct Deadline {
  int run = 0;
  enum class Which : uint8_t { timeout, idle_warning, idle } which = Which::timeout;
  std::string text;  // What was seen.
};
// A message for the conversation; it is stored in the same commit.
struct Prompt {
  MessageId message;
  WaitingMessage::When when = WaitingMessage::When::steer;
};
struct Retry {
  std::optional<MessageId> message;  // A further message, stored in the same commit.
};
// After a restart: the run cannot go on.
struct Lost {
  int run = 0;
  std::string text;
};
struct Asked {
  int run = 0;
  Ask ask;
};
struct Answered {
  std::string request_id;
  std::string decision;  // allow, allow_always, deny; for a question: "answer".
  std::string message;   // The answer, or the word that goes with the decision.
  std::string by;
  AnswerScope scope = AnswerScope::once;  // Of "allow": how far it goes. "allow_always" means `call`.
  std::string pattern = {};               // One of the request's, with `pattern`; may be with `agent`.
};
// The time to answer a question (Ask::until) is over: it is denied.
struct AskDue {
  std::string request_id;
};
// Somebody read the result.
struct Retrieved {};
// A report of progress is due: the launch asked for one every progress_every_s.
struct ProgressDue {
  int run = 0;
};
// The turn waits for something that is not its own work, or no longer does.
struct Waits {
  int run = 0;
  Wait wait;
};
struct GoesOn {
  int run = 0;
};
// The run went over a bound that the engine keeps (a budget, a loop of equal calls): it is ended with this error.
struct Overrun {
  int run = 0;
  TaskError error;
};
// A notice to this task's own session; the message that tells it is stored in the same commit (R5.5).
struct Noticed {
  NoticeId notice;
  MessageId message;
  bool wake = false;  // It starts a new turn of a completed task.
};
// What became of the task's own work tree; nothing: it has none. Of no run: it outlives them.
struct Isolated {
  std::optional<Isolation> isolation;
};
// The parent has taken a notice of this task.
struct NoticeTaken {
  NoticeId notice;
};
// A person tidies up the record: what is absent stays. Allowed in every state, and changes none.
struct Edit {
  std::optional<std::string> title;                               // Of which `shown_title` is not empty.
  std::map<std::string, std::optional<std::string>> labels = {};  // By name; without a value: removed.
  std::optional<bool> pinned = std::nullopt, archived = std::nullopt;
};
// Delete, clear, retention, the end of the parent session.
struct Remove {
  bool only_at_rest = false;  // Clear and retention never touch a task at work.
};
}  // namespace input

using Input =
    std::variant<input::Start, input::Activity, input::Taken, input::TurnEnded, input::Cancel, input::Deadline,
                 input::Prompt, input::Retry, input::Lost, input::Asked, input::Answered, input::AskDue,
                 input::Retrieved, input::ProgressDue, input::Waits, input::GoesOn, input::Overrun, input::Noticed,
                 input::Isolated, input::NoticeTaken, input::Edit, input::Remove>;

namespace effect {
struct Open {};  // Begin the turn with `Task::run`.
struct Stop {    // End the run's work and its whole process tree.
  int run = 0;
};
struct Send {  // Give the running turn a message.
  MessageId message;
};
struct Answer {
  std::string request_id;
  std::string decision;
  std::string message;
};
}  // namespace effect
using Effect = std::variant<effect::Open, effect::Stop, effect::Send, effect::Answer>;

struct Step {
  Task after;
  std::vector<Event> events;  // seq and pos are not set yet.
  std::vector<Effect> effects;
  bool turn_ended = false;  // A turn is over and nothing of it runs any more: its parent is owed a notice.
  bool asked = false;       // after.asks.back() is new: its parent is owed a notice.
  bool removed = false;     // The task is deleted, with all that belongs to it.
  // Nothing changed, so nothing has to be stored. There may still be effects.
  bool unchanged = false;
};

// Success: the task as it is after the input, the events to store with it in one commit, and the effects to carry out
// once that commit is durable. Failure: conflict (or not_found, invalid_argument for an answer), with a sentence that
// says what the state allows; then nothing changes. Pure: any thread. `now` is wall time.
Result<Step> decide(const Task& task, const Input& input, Time now);

// A task as it is first stored: pending, and its first event. `now` is wall time.
// `first` is the id of the prompt's message; empty for commands.
Step create(Launch launch, TaskId id, SessionId session, MessageId first, Time now);

// The messages to give to a turn when it is opened: all untaken ones. With `reattach` (a turn that goes on after a
// restart of the server): without those that wait for the next turn.
std::vector<MessageId> messages_to_give(const Task& task, bool reattach);

// How many messages, and how many notices to its session, may wait for one task. The same number of messages that its
// turn has taken is kept for a retry. Past the bound a message is refused (exhausted, reason too_many_messages), and a
// notice waits for the next turn. Each commit of the task writes the list, so its length decides what a commit costs.
inline constexpr size_t waiting_max = 1'000;
inline constexpr const char* too_many_messages = "too_many_messages";
Status room_for_message(const Task& task);

// How many answered questions of a turn are kept (the newest), for an agent that asks them again after a restart.
inline constexpr size_t answered_max = 100;

// How many rules "allow always" may add to a task; past that it means "allow" once.
inline constexpr size_t granted_max = 1'000;

// How many labels a task may have.
inline constexpr size_t labels_max = 100;

// Restarts of a turn that hangs, where neither the launch nor the server's settings say how many.
inline constexpr int max_restarts_default = 3;

}  // namespace errand
