// What the loop does next, from the conversation alone: so that a server that died goes on as the one before it would
// have. Pure.
#pragma once

#include <string>
#include <vector>

#include "task/message.h"
#include "task/task.h"

namespace errand::builtin {

struct Next {
  enum class Kind : uint8_t {
    ask,    // The model, with the conversation as it is.
    tools,  // Run `calls`: the last answer's, which is still open, those that have no result.
    nudge,  // The last answer says nothing: tell the model, once, and ask again.
    end,    // The last answer is the result.
    fail,
  } kind = Kind::ask;
  std::vector<Part> calls;
  MessageId message;  // With tools: the one that has the calls.
  std::string result;
  TaskError error;
};

struct StepLimits {
  int turn = 1;       // Which turn is at work,
  size_t first = 0;   // and where it begins: what was copied from another conversation has turns of its own.
  int max_steps = 0;  // Answers of one turn; 0: no bound.
};

// `messages` in the order of taking. `more`: messages wait to be taken, so that it cannot end yet.
Next next_step(const std::vector<Message>& messages, bool more, const StepLimits& limits);

// Whole answers of this turn so far.
int steps_of(const std::vector<Message>& messages, const StepLimits& limits);
// Notes of that name in this turn: nudges, continuations.
int notes_of(const std::vector<Message>& messages, const StepLimits& limits, std::string_view name);

}  // namespace errand::builtin
