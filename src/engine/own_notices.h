// Notices to a task's own session (R5.5): what a task launched has ended, or asks. They join its conversation at its
// next step; of a task at rest they wait for its next turn, or begin one where the setting `wake` says so.
//
// The notice's row is the truth: it is taken in the commit in which the agent's taking of the message is stored.
// Everything here may be forgotten and done again. Engine thread only.
#pragma once

#include <vector>

#include "engine/agents.h"
#include "engine/lives.h"
#include "engine/shared.h"

namespace errand {

class OwnNotices {
 public:
  OwnNotices(Shared& shared, Lives& lives, const Agents& agents) : shared_(shared), lives_(lives), agents_(agents) {}

  // The notice as a message of this session: always the same message, however often it is looked at. With `wake` it
  // begins a turn of a completed task.
  Action noticed(const SessionId& session, const Notice& notice, bool wake);
  // Gives the turn at work what it does not have yet, where it takes messages now.
  void deliver(const LivePtr& live);
  // A notice was made for the session of this task.
  void told(const TaskId& id);
  // A completed task has notices, and `wake` is set: they make a further turn.
  void wake(const TaskId& id);
  // The agent has them: the records of the tasks that they are about say so too.
  void taken(const LivePtr& live, const std::vector<NoticeId>& taken);

 private:
  bool takes(const Live& live) const;

  Shared& shared_;
  Lives& lives_;
  const Agents& agents_;
};

}  // namespace errand
