// Deadlines: what ends a turn at work from outside: its timeout, its silence, a question that nobody answers, a budget
// that is used up. Each becomes an input of the task; what follows is decided as everything is.
//
// Steady time, but for questions, whose time is stored. A deadline of a run that is over changes nothing. Engine thread
// only.
#pragma once

#include "engine/lives.h"
#include "engine/purses.h"
#include "engine/shared.h"

namespace errand {

class Deadlines {
 public:
  Deadlines(Shared& shared, Lives& lives, Purses& purses) : shared_(shared), lives_(lives), purses_(purses) {}

  // A turn was opened. `reattached`: its run was begun under an earlier server.
  void arm(const LivePtr& live, bool reattached);
  // The turn is over, or its task is gone.
  void disarm(Live& live);
  // The task's open questions have changed. Where nobody answers in time, the answer is no.
  void arm_asks(const LivePtr& live);
  // What the task has used by now is paid. It is ended over what it uses itself, or, with `begins`, where it begins
  // with nothing left: not because it hears of somebody else.
  void spend(const LivePtr& live, bool begins = false);

 private:
  Millis time_left(Live& live, bool reattached);
  void arm_idle(const LivePtr& live);
  void idle_due(const LivePtr& live, int run);
  void arm_progress(const LivePtr& live);
  void arm_budget(const LivePtr& live);

  Shared& shared_;
  Lives& lives_;
  Purses& purses_;
};

}  // namespace errand
