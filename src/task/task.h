// What a task is. Plain values: no I/O, no threads, no clock.
//
// A task is a row of turns. A turn is one prompt (or one command) and all that is done for it. `phase` says where the
// last turn stands, and the task's `state` follows from it; only `decide` (decide.h) assigns either.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "task/artifact.h"
#include "task/isolation.h"

namespace errand {

// Spelled as on the wire (R1.1).
enum class TaskState : uint8_t { pending, running, completed, failed, cancelled, resumed };
inline constexpr int task_state_count = 6;

enum class TaskKind : uint8_t { agent, command };

// Where the task's last turn stands.
enum class TurnPhase : uint8_t {
  queued,   // Waits for a slot.
  working,  // A driver has it, or its processes are not gone yet (`stopping`).
  ended,
};

// What to do with a task that shows no sign of life (R4.2).
enum class OnHang : uint8_t { fail, restart };

enum class Permission : uint8_t { ask, allow, deny };

enum class Sandbox : uint8_t { off, workspace, strict };

// Who launches: a program over REST, a person in a terminal or on the page, or an agent through its tools (R14.2).
enum class Surface : uint8_t { rest, cli, page, tools };

std::string_view name(TaskState state);
std::string_view name(TaskKind kind);
std::string_view name(TurnPhase phase);
std::string_view name(OnHang policy);
std::string_view name(Permission permission);
std::string_view name(Sandbox level);
std::string_view name(Surface surface);
std::optional<TaskState> parse_task_state(std::string_view text);
std::optional<TaskKind> parse_task_kind(std::string_view text);
std::optional<OnHang> parse_on_hang(std::string_view text);
std::optional<Permission> parse_permission(std::string_view text);
std::optional<Sandbox> parse_sandbox(std::string_view text);
std::optional<Surface> parse_surface(std::string_view text);

// R "at work": pending, running or resumed. Everything else is at rest.
constexpr bool at_work(TaskState state) {
  return state == TaskState::pending || state == TaskState::running || state == TaskState::resumed;
}

using StringMap = std::map<std::string, std::string>;

// 0 is "the default of the server" for each, -1 (of the first four) "none".
struct Limits {
  int64_t cpu_s = 0;
  int64_t memory_bytes = 0;
  int64_t processes = 0;
  int64_t open_files = 0;
  int64_t output_bytes = 0;
  int nice = 0;
  bool operator==(const Limits&) const = default;
};

// 0 is "none". Shared with the tasks that the task launches (R4.4).
struct Budget {
  int64_t tokens = 0;
  double cost_usd = 0;
  int64_t turns = 0;
  int64_t tool_calls = 0;
  Millis wall_ms = 0;  // From the task's start.
  bool operator==(const Budget&) const = default;
};

// A rule of `permission`: the first whose tool and pattern match decides (task/permission.h).
struct PermissionRule {
  std::string tool;     // A tool's name; "*" stands for any text, in both.
  std::string pattern;  // What the call is about; empty matches all.
  Permission decision = Permission::ask;
  bool operator==(const PermissionRule&) const = default;
};

// What a task's parent may do: rules, and the decision where none matches. The task may do no more than this.
struct PermissionBound {
  std::vector<PermissionRule> rules;
  Permission otherwise = Permission::ask;
  std::vector<PermissionRule> granted =
      {};  // What a person allowed when it was asked for: never more than `rules` deny.
  bool operator==(const PermissionBound&) const = default;
};

// What the launch asked for. Fixed when the task is made (but for the labels, which people may change later), and
// stored whole so that a retry does the same again.
struct Launch {
  TaskKind kind = TaskKind::agent;
  std::string agent_id;  // Of an agent task; "command" for commands.
  std::string agent;  // Its name when the task was launched, where that is another: a configured agent's id is made up.
  std::string title;  // As given; `Task::title` is what is shown.
  std::string description;
  std::string prompt;   // The first message's text; empty for commands.
  std::string content;  // JSON: the list of parts that stood in the place of `message`; empty where there was none.
  std::string command;  // For /bin/sh -c; or, where `argv` is set, the same words joined for people.
  std::vector<std::string> argv;
  std::string model;
  std::string work_dir;  // Absolute; empty until the engine fills in the default.
  std::vector<std::string> add_dirs;
  StringMap env;                      // Never logged, never in an event or a reply.
  std::vector<std::string> pass_env;  // Names taken from the server's environment.
  bool enable_skills = false;
  bool enable_mcp = false;
  bool fork = false;
  SessionId parent_session_id;
  MessageId parent_message_id;
  // The task whose session the parent session is, that one's own, and so on; at most depth_max. Found by the engine.
  std::vector<TaskId> ancestors;
  std::vector<TaskId> payers;           // Those of them whose budget it shares.
  std::vector<PermissionBound> bounds;  // What they may do: the strictest of all decides. Found by the engine, too.
  BatchId batch_id;                     // "new" asks for one.
  StringMap labels;
  Millis timeout_ms = 0;       // 0: the default for the kind; -1: none.
  Millis idle_timeout_ms = 0;  // 0: the default; -1: none.
  OnHang on_hang = OnHang::fail;
  int max_restarts = 0;  // Of one turn, with OnHang::restart; 0: the server's setting.
  Millis progress_every_ms = 0;
  Millis retention_ms = 0;  // 0: the server's setting; -1: keep.
  Limits limits;
  Budget budget;
  std::optional<Permission> permission;  // Absent: the agent's own default.
  std::vector<PermissionRule> permission_rules;
  Sandbox sandbox = Sandbox::off;
  Isolate isolate = Isolate::unset;
  IsolateBase isolate_base = IsolateBase::unset;
  std::string isolate_setup;  // For /bin/sh -c in a new work tree, before the first turn; empty: nothing.
  int priority = 0;
  bool authorize_over_limit = false;
  bool allow_interactive = false;
  std::vector<std::string> notify_on;
  std::vector<std::string> artifacts;
  Surface surface = Surface::rest;
  bool operator==(const Launch&) const = default;
};

// How the surface that launched it calls the timeout: what somebody has to set next time (R14.2).
std::string_view timeout_option(Surface surface);

inline const std::string& agent_name(const Launch& launch) {
  return launch.agent.empty() ? launch.agent_id : launch.agent;
}

// A task that was launched by a task has a depth of 1; one at this depth launches none.
inline constexpr size_t depth_max = 3;

struct Usage {
  int64_t input_tokens = 0;  // With what was read from and written to a cache.
  int64_t output_tokens = 0;
  double cost_usd = 0;
  int64_t cache_read_tokens = 0;  // Of the input.
  int64_t cache_write_tokens = 0;
  bool unpriced = false;  // Some of it has no known price: `cost_usd` is without that.
  bool operator==(const Usage&) const = default;
};

struct ToolUse {
  std::string name;
  std::string summary;
  Time at;
  bool operator==(const ToolUse&) const = default;
};

// R4.1. `idle_s` of the wire is derived when it is read.
struct Progress {
  int64_t tool_calls = 0;
  std::vector<ToolUse> recent_tools;  // The newest ten, newest last.
  int turns = 0;                      // Turns that have begun.
  Usage usage;
  int64_t output_bytes = 0;
  int64_t output_lines = 0;
  bool output_truncated = false;  // Over its limit: of the log, head and tail are kept.
  double cpu_s = 0;
  int64_t memory_bytes = 0;
  Time last_update;
  // The last run of each attempt before this one, oldest first: which runs' logs are an attempt's. See runs_of.
  std::vector<int> attempt_ends = {};
  ArtifactSummary artifacts = {};  // What the last run that ended has left.
  bool operator==(const Progress&) const = default;
};
inline constexpr size_t recent_tools_max = 10;
inline constexpr size_t attempt_ends_max = 1'000;  // Of more attempts the oldest are no longer told apart.

// Why a task failed (R1.5): for programs (`code`), for people (`message`), for debugging (`details`).
struct TaskError {
  std::string code;  // timeout, cpu, memory, processes, hung, interrupted, exit, signal, spawn_failed, agent_error,
                     // budget, fork_failed, isolation, ...
  std::string message;
  std::string details;  // A JSON object, or empty.
  bool operator==(const TaskError&) const = default;
};

enum class AskKind : uint8_t { permission, answer };
std::string_view name(AskKind kind);
std::optional<AskKind> parse_ask_kind(std::string_view text);

// A question or a permission request (R4.6). A task may have several; the first open one is what `waiting_for` shows.
// An answered one stays until the turn is over: an agent that asks again after a restart gets the same answer.
struct Ask {
  std::string request_id;
  AskKind kind = AskKind::answer;
  std::string text;
  std::vector<std::string> options;
  Time at;
  std::string decision;   // Empty: open.
  std::string reply;      // The answer, or the word that came with the decision.
  std::string tool = {};  // For permissions: what the rules match.
  std::string subject = {};
  Time until = {};  // Where nobody has answered by then, it is denied.
  // For permissions, what whoever is asked decides about (R14.3). Gone with the answer: answered ones are kept small.
  std::string work_dir = {};  // Where it would be done; empty: the task's own folder.
  std::string diff = {};      // Of an edit: a unified diff, at most diff_bytes_max.
  bool reads = false;         // A command that only reads: it is not asked for where no rule says so.
  bool operator==(const Ask&) const = default;
};

// All of it in one text, for those who get no more than that.
std::string asked_text(const Ask& ask);

inline constexpr size_t diff_bytes_max = 32 * 1024;

// What a task at work waits for, beside an answer (R1.10, R4.5).
enum class WaitKind : uint8_t { quota, children };
std::string_view name(WaitKind kind);
std::optional<WaitKind> parse_wait_kind(std::string_view text);

// However far away a provider says that its limit ends: it is asked again after this long at the latest.
inline constexpr Millis quota_wait_max_ms = 24 * 3'600'000;

struct Wait {
  WaitKind kind = WaitKind::quota;
  std::string text;
  Time until;       // Wall time; never: not known.
  Time since = {};  // When it began to wait: set by `decide`.
  bool operator==(const Wait&) const = default;
};

// The last tool call, and how often it was made in a row with the same result (R4.4: a loop is caught).
struct Repeat {
  uint64_t call = 0;    // Of name and input.
  uint64_t result = 0;  // Of the output; 0: none yet.
  int count = 0;
  bool operator==(const Repeat&) const = default;
};

// A message of the turn at hand, or (untaken, `queue`) of the one after it. An untaken one is stored, and shown as
// pending.
struct WaitingMessage {
  enum class When : uint8_t { steer, queue, interrupt };
  MessageId id;
  When when = When::steer;
  bool taken = false;    // By the agent. Kept until the turn has completed, so that a retry can give it again.
  NoticeId notice = {};  // What it tells is a notice to this task's session; taken with it.
  bool operator==(const WaitingMessage&) const = default;
};
std::string_view name(WaitingMessage::When when);
std::optional<WaitingMessage::When> parse_when(std::string_view text);

struct Task {
  // Fixed when it is made; the title and the labels may be edited.
  TaskId id;
  Launch launch;
  std::string title;
  SessionId session_id;
  Time created_at;

  // The state: assigned by `decide` alone.
  TaskState state = TaskState::pending;
  TurnPhase phase = TurnPhase::queued;
  std::string
      reason;  // finished, cancelled_by_user, timeout, hung, interrupted, ...; equals error->code where it failed.
  bool stopping = false;      // At rest (or being interrupted), and its processes are not gone yet.
  bool interrupting = false;  // The running turn is being stopped for a message that interrupts; the next turn follows.
  int turn = 1;               // The last turn's number.
  int attempt = 1;            // Goes up with each retry.
  int run = 0;                // The fence: goes up with each start of work. 0: never started.
  int restarts = 0;           // Of this turn, after a hang.
  int resume_count = 0;
  bool is_forked = false;
  std::vector<Ask> asks;
  std::optional<Wait> wait;             // Set only while its turn is at work.
  std::vector<WaitingMessage> waiting;  // In order.
  std::vector<PermissionRule> granted;  // By answers that go further than once (task/permission.h).

  // What came of it.
  Progress progress;
  Repeat repeat;
  std::optional<std::string> result;
  std::optional<TaskError> error;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<Isolation> isolation;  // Its own work tree, where it has one.
  std::string driver_session;          // The agent's own session id, where its driver keeps one.
  std::string checkpoint;  // The driver's own mark (a journal offset, a step): committed with the events made up to it.

  // When.
  Time queued_at;  // When the last turn was queued: its place in line counts from here.
  Time started_at;
  Time deadline_at;  // When the time of a turn that has begun ends (R14.2); never: it has no limit, or is over.
  Time completed_at;
  Time updated_at;
  Time retrieved_at;
  Time expires_at;  // Set when it comes to rest with a retention; never otherwise.

  // How people keep their records (input::Edit): no state, and nothing to the work.
  bool pinned = false;    // Stays at the top of the list.
  bool archived = false;  // Not in lists unless asked for.
  bool renamed = false;   // `title` is not the launch's any more.

  // Bookkeeping of the store and the engine.
  int64_t version = 0;   // Goes up with each commit; what `Commit::before_version` is compared with.
  int64_t last_seq = 0;  // The seq of its last event.

  bool operator==(const Task&) const = default;
};

// R1.7, R1.10: its turn is at work and waits for nobody, or its processes are not gone yet.
bool holds_slot(const Task& task);

// The runs of one attempt: a restart after a hang, and each turn, is a run of its own. Absent where the attempt has
// none (it was ended before it began), is yet to come, or was too long ago.
struct RunRange {
  int first = 0, last = 0;
  bool operator==(const RunRange&) const = default;
};
std::optional<RunRange> runs_of(const Task& task, int attempt);

// The first question that has no answer yet; null if there is none.
const Ask* open_ask(const Task& task);

// R1.10: it waits for somebody or something that is not its own work. It holds no slot, and its idle timer is paused.
bool waits(const Task& task);

// Where a task stands in a list for people (R15.1); within one band the newest comes first.
enum class Band : uint8_t {
  asks,    // Needs an answer.
  unseen,  // Failed, and nobody has looked at it.
  pinned,  // Somebody keeps it at the top.
  running,
  waits,    // Its turn waits: for a quota, for its children, or to be taken up again.
  pending,  // In line for its first turn, or after a retry.
  rest,
};
inline constexpr int band_count = 7;
Band band_of(const Task& task);

// The launch's own, else its description, else the first line of message or command; at most 80 characters.
std::string title_of(const Launch& launch);
// A text as a title: its first line that can be seen, at most 80 characters; empty where nothing can be seen.
std::string shown_title(std::string_view text);

// What each state promises (the list is in decide.h). Ends the process where a promise is broken.
void assert_task(const Task& task);
// The same as an answer: empty, or the broken promise.
std::string broken_promise(const Task& task);

}  // namespace errand
