// Forks (R6): a task that begins with a copy of its parent's conversation. What it takes over is read and cut on a
// reader thread when it is launched, and stored with the task in one commit: a fork that was acknowledged has its
// conversation, and one whose parent cannot be read is refused before there is a task.
//
// Engine thread only. It stores nothing.
#pragma once

#include <vector>

#include "engine/agents.h"
#include "engine/shared.h"
#include "fork/fork.h"

namespace errand {

class Forks {
 public:
  Forks(Shared& shared, const Agents& agents) : shared_(shared), agents_(agents) {}

  // What the launch takes over. Nothing, where the agent's own program copies the conversation. Errors: not_found
  // (`unknown_session`, `session_ended`, `unknown_message`), conflict (`no_conversation`), and what the program that
  // keeps the conversation answers.
  void inherit(const Launch& launch, Reply<fork::Prepared> then);
  // The copies, as messages of this session: they have ids of their own, come before the first turn, and are complete:
  // nobody goes on writing them.
  std::vector<Message> copies(fork::Prepared inherited, const SessionId& session, Time now);

 private:
  Shared& shared_;
  const Agents& agents_;
};

}  // namespace errand
