// Scripts: what a scripted agent does in one turn, step by step. Built by chaining:
//
//   Script().say("Let me look.").tool({.name = "read", .input = R"({"path":"a.txt"})", .output = "hello"})
//           .ask("colour", "Which colour?", {"red", "blue"}).say("You chose {colour}.").finish();
//
// "{name}" in a text stands for the answer that the question of that name got. There are no loops: a place in a script
// is a step and how far it got, which is all that a checkpoint needs (place.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "task/task.h"

namespace errand::fake {

namespace step {
struct Say {  // One part of text.
  std::string text;
  bool reasoning = false;
  size_t chunk = 0;         // Bytes a report; 0: all at once.
  Millis every_ms = 0;      // Between two chunks.
  std::string opaque = {};  // Told behind the text.
};
struct Repeat {  // One part of text that grows by `text` again and again; "{n}" is the count so far.
  std::string text;
  int64_t count = 1;
  Millis every_ms = 0;
};
struct Tool {  // A call and its result.
  std::string name;
  std::string input = "{}";  // JSON.
  std::string summary;
  std::string output;
  bool is_error = false;
  Millis ms = 0;
};
struct Asking {  // Waits for the answer. A permission's answer is the decision, a question's is what was answered.
  std::string slot;
  AskKind kind = AskKind::answer;
  std::string text;
  std::vector<std::string> options;
  std::string tool;
  std::string subject;
};
struct Check {  // Skips the `skip` steps that follow unless the answer is (or, with equal = false, is not) `value`.
  std::string slot;
  std::string value;
  bool equal = true;
  int skip = 0;
};
struct Wait {
  Millis ms = 0;        // Less than 0: for ever.
  bool silent = false;  // Shows no sign of life meanwhile, not even to a probe.
};
struct Blocked {  // Waits for a quota or for children, and says so.
  WaitKind kind = WaitKind::quota;
  std::string text;
  Millis ms = 0;
  Time until = {};
  bool by_itself = false;  // Nobody can tell it that the quota is lifted.
};
struct System {  // A system message; what follows is a message of its own.
  std::string text;
};
struct Use {
  Usage usage;
};
struct Warn {
  std::string code;
  std::string text;
};
struct AgentSession {
  std::string id;
};
struct EndMessage {};  // What follows is a message of its own.
struct Fail {
  TaskError error;
};
struct Finish {
  std::optional<std::string> result;  // Absent: the text that was said last.
};
}  // namespace step

using ScriptStep =
    std::variant<step::Say, step::Repeat, step::Tool, step::Asking, step::Check, step::Wait, step::Blocked,
                 step::System, step::Use, step::Warn, step::AgentSession, step::EndMessage, step::Fail, step::Finish>;

// A script that comes to its end without Finish or Fail finishes.
class Script {
 public:
  Script& add(ScriptStep step);
  Script& say(std::string text) { return add(step::Say{std::move(text)}); }
  Script& stream(std::string text, size_t chunk, Millis every_ms);
  Script& think(std::string text) { return add(step::Say{std::move(text), true}); }
  Script& repeat(std::string text, int64_t count, Millis every_ms);
  Script& tool(step::Tool call) { return add(std::move(call)); }
  Script& ask(std::string slot, std::string text, std::vector<std::string> options = {});
  Script& ask_permission(std::string slot, std::string text, std::string tool, std::string subject);
  // The inner script is done where the answer is (is not) `value`. An end inside it ends the turn.
  Script& when(std::string_view slot, std::string_view value, const Script& inner);
  Script& unless(std::string_view slot, std::string_view value, const Script& inner);
  Script& wait(Millis ms) { return add(step::Wait{ms}); }
  Script& silent(Millis ms) { return add(step::Wait{ms, true}); }
  Script& hang() { return add(step::Wait{-1, true}); }
  Script& blocked(WaitKind kind, std::string text, Millis ms) { return add(step::Blocked{kind, std::move(text), ms}); }
  Script& system(std::string text) { return add(step::System{std::move(text)}); }
  Script& use(Usage usage) { return add(step::Use{usage}); }
  Script& warn(std::string code, std::string text) { return add(step::Warn{std::move(code), std::move(text)}); }
  Script& session(std::string id) { return add(step::AgentSession{std::move(id)}); }
  Script& end_message() { return add(step::EndMessage{}); }
  Script& fail(std::string code, std::string message);
  Script& finish(std::optional<std::string> result = {}) { return add(step::Finish{std::move(result)}); }

  const std::vector<ScriptStep>& steps() const { return steps_; }

 private:
  Script& branch(std::string_view slot, std::string_view value, bool equal, const Script& inner);

  std::vector<ScriptStep> steps_;
};

// `text` with every "{name}" that `answers` knows replaced.
std::string fill_in(std::string_view text, const StringMap& answers);

}  // namespace errand::fake
