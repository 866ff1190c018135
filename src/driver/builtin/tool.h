// What the built-in agent can do: a tool, a call of it under way, and the tools of one turn.
//
// The loop (the driver) knows nothing of files, processes or servers: it shows a tool's spec to the model, asks whether
// a call needs somebody's word, runs it, and stores what came out. Everything that a model gives is hostile.
//
// Threads: everything on the engine's thread, in both directions, but summary() and prepare(): they read what may be
// megabytes and look at files, and the loop calls them in the background, where the tool is kept alive meanwhile. What
// a run does that blocks is posted to the background by the tool itself. `done` is called once, later, never inside
// run, and never after the ToolRun was dropped or destroyed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "driver/driver.h"
#include "task/task.h"

namespace errand {
struct Agent;
namespace model {
struct ToolSpec;
}
}  // namespace errand

namespace errand::builtin {

inline constexpr size_t tool_output_max = 30'000;  // Characters of an output that the model gets.

struct ToolContext {
  std::shared_ptr<const Task> task;
  std::shared_ptr<const Agent> agent;
  MessageId message;               // The assistant message that has the call: the same after a restart.
  std::string call_id;             // Unique in that message.
  std::vector<std::string> roots;  // work_dir, add_dirs: absolute. The first is what relative paths are below.
  // The server died during this call: take up what still runs, never begin twice. Only for tools that survive().
  bool again = false;
  // Need::subject of this call where it was allowed (by a person or a rule); empty where nobody had to be asked. What
  // is done is what was allowed: a path that has come to mean another file meanwhile is refused.
  std::string permitted;
};

struct ToolOutcome {
  std::string output;  // UTF-8, bounded.
  bool is_error = false;
  bool interrupted = false;  // It may have had effects, and nobody knows how it ended.
};

class ToolRun {
 public:
  // As ~Turn: the server leaves. Where the tool survives(), what it does goes on without us.
  virtual ~ToolRun() = default;
  // Ends it. True: done() follows, when nothing of it is left (a process tree that is being ended). False: there is
  // nothing to wait for; destroy it.
  virtual bool stop() { return false; }
  // As Turn::drop: what it does is ended, without waiting for it. It is destroyed next.
  virtual void drop() { stop(); }
  // The outcome is durable: what was kept to take the call up again may go. After `done` only.
  virtual void stored() {}
  // As Turn::probe: is it alive, though silent? Answers, later and at most once, whether it did anything since the last
  // time, and what was seen of it as the rest of a sentence (empty: nothing is known).
  virtual void probe(std::move_only_function<void(bool works, std::string seen)> answer) { answer(true, {}); }
  // As Turn::unseen.
  virtual bool unseen() const { return false; }
};

class Tool {
 public:
  using Done = std::move_only_function<void(ToolOutcome)>;

  virtual ~Tool() = default;
  virtual const model::ToolSpec& spec() const = 0;
  // May run beside others, and again after a crash.
  virtual bool read_only() const = 0;
  // `again` can take it up (bash: its process lives on under the supervisor).
  virtual bool survives() const { return false; }
  // One line for people. Takes any input. In the background; const, and nothing of it changes meanwhile.
  virtual std::string summary(std::string_view input) const = 0;

  // What the permission rules match, and whether it may run unasked (a read inside the roots). `subject` may have
  // several lines (bash: one a simple command): a rule allows the call where it matches every line, and denies it where
  // it matches any. A subject that begins with "?" was not understood: only a rule without a pattern means it.
  struct Need {
    bool ask = true;
    std::string subject;
    std::string tool;  // Under which name the rules look at it; empty: its own. (background_execute is bash to them.)
    std::string text;  // The question for a person.
    std::string diff = {};      // Of an edit: what would change, for whoever is asked.
    std::string work_dir = {};  // Of a command: where it would run.
    bool reads = false;         // A command that only reads (shell/reads.h).
  };
  // A call that was read.
  struct Prepared {
    Need need;
    // Given: while it runs the task waits for its children and holds no slot; one line that says what for.
    std::optional<std::string> children;
    // At most once, on the engine's thread, while the tool is there.
    std::move_only_function<std::unique_ptr<ToolRun>(ToolContext context, Done done)> run;
  };
  // In the background, as summary(). Has no effects: nobody has allowed anything yet. An error: a wrong call, to be
  // told to the model.
  virtual Result<Prepared> prepare(const ToolContext& context, std::string input) const = 0;
};

// The tools of one turn: what the agent's list and the launch name, with those of MCP servers.
class TurnTools {
 public:
  // The server leaves. An MCP server in which a call is under way goes on, since the call may have effects; its answer
  // is lost, and a turn that is taken up again ends it. One that does nothing is ended.
  virtual ~TurnTools() = default;
  // The turn is over: MCP servers are ended. Answers once, later, when nothing of them is left.
  virtual void close(std::move_only_function<void()> gone) = 0;
  // Answers once, later, when every tool is known: MCP servers are begun (30 s at most). `warnings` says what could not
  // be had, a sentence each. list() and find() are complete then.
  virtual void prepare(std::move_only_function<void(std::vector<std::string> warnings)> ready) = 0;
  // In a stable order.
  virtual const std::vector<std::shared_ptr<const Tool>>& list() const = 0;
  // Null: there is no such tool for this turn.
  virtual std::shared_ptr<const Tool> find(std::string_view name) const = 0;
  // For the system prompt: the skills that can be loaded; empty where there are none or they are not enabled.
  virtual std::string skills_text() const = 0;
  // MCP servers are ended, without waiting for them, whatever they do. It is destroyed next.
  virtual void drop() = 0;
};

// All that the server has. Outlives every TurnTools.
class ToolSet {
 public:
  virtual ~ToolSet() = default;
  // Can tools work for this launch: its environment and sandbox? And its folders? As Driver has it.
  virtual Status check(const Launch& /*launch*/) const { return {}; }
  virtual Driver::Look look(const Launch& /*launch*/) const { return {}; }
  virtual std::unique_ptr<TurnTools> open(std::shared_ptr<const Task> task, std::shared_ptr<const Agent> agent) = 0;
  // Of Driver: the runs that tools have under the supervisor.
  virtual void known_runs(std::move_only_function<void(std::vector<Driver::KnownRun>)> done) = 0;
  virtual void end_run(const TaskId& task, int run) = 0;
  virtual void forget(const TaskId& task) = 0;
};

}  // namespace errand::builtin
