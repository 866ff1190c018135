// The tools that errand offers to agents (R8): what a tool is and how it is called. MCP, the OpenCode plugin (over
// REST), the built-in agent and `errand tool` all take them from here.
//
// Threads: everything happens on the engine's thread; what reads files or the store is posted to the readers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "task/task.h"
#include "tools/rights.h"

namespace errand::tools {

// Says to a call under way that nobody waits for its answer any more. The wait is given up, never the work.
class Cancellation {
 public:
  bool cancelled() const { return cancelled_; }
  void cancel() {
    if (std::exchange(cancelled_, true)) return;
    if (auto told = std::exchange(told_, nullptr)) told();
  }
  // Who is told; one at a time, and nobody once the call is answered.
  void on_cancel(std::function<void()> told) {
    told_ = std::move(told);
    if (cancelled_ && told_) std::exchange(told_, nullptr)();
  }

 private:
  bool cancelled_ = false;
  std::function<void()> told_;
};

// Who calls. A session sees and touches its direct children only; without one it is the user, who may do everything.
struct Caller {
  SessionId session;
  MessageId message;  // The message that calls, where known: what is launched says it as its parent message.
  std::shared_ptr<Cancellation> cancellation;  // May be null.
  Rights rights = {};
  std::string key = {};      // Where given: a launch that comes again with it is the same launch.
  bool asks_person = false;  // It can ask a person at once: then a permission that is asked for ends a wait too.
  // Where it is, an absolute path: a launch that names no folder works there (R14.1), and a folder that is named
  // relatively is below it. Empty: not known.
  std::string work_dir = {};
};

// A question that a wait ended for.
struct OpenAsk {
  Task task;
  Ask ask;
};

struct ToolResult {
  std::string text;  // For the agent.
  std::string data;  // The same as a JSON object, as the tool's output schema says; for an error {"error":{...}}.
  bool is_error = false;
  std::vector<OpenAsk> asks = {};  // Of background_output: what its tasks ask, where the caller can have it answered.
};

// What a client may think of a tool without knowing it (MCP's annotations).
struct Annotations {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

// What a tool does to tasks, for surfaces that treat some tools alike.
enum class Role : uint8_t {
  other,
  starts,  // Makes a task that works: it can be called as a task of MCP.
  waits,   // With `block` it answers when tasks have ended.
  clears,  // Takes tasks off the list.
};

// A tool's description. The names of tools in it are in the family that it is listed in.
struct ToolInfo {
  std::string name;
  std::string title;
  std::string description;
  std::string input_schema;   // JSON Schema 2020-12, an object that takes no other properties.
  std::string output_schema;  // Of ToolResult::data where it is no error.
  std::string example;        // Arguments of a good call, as JSON.
  Annotations annotations;
  Role role = Role::other;
};

}  // namespace errand::tools
