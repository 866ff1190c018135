// Retention: what is old goes by itself: tasks at rest when their time is over, and the marks of what went (why a
// task or a session is not there, and which idempotency keys were used) after a month, or where there are too many; and
// rows of usage after 400 days.
//
// Ages are differences of wall times. A clock that was set must not make everything old at once: where it has moved
// against the steady one by an hour, nothing is removed for an hour. Engine thread only.
#pragma once

#include "engine/commits.h"
#include "engine/removal.h"
#include "engine/shared.h"

namespace errand {

class Retention {
 public:
  Retention(Shared& shared, Commits& commits, Removal& removal)
      : shared_(shared), commits_(commits), removal_(removal) {}

  // At the start: when the first task that is stored is due; never: none is. Marks are looked at a minute later.
  void start(Time next_expiry);
  // A task came to rest that is due then (wall time; never: it is kept).
  void expires(Time at);
  // A task or a session was removed, and a mark of it stays.
  void mark_made();

 private:
  void arm();
  void due();
  void arm_forgetting(Millis delay);
  void forget_due();
  bool held();

  Shared& shared_;
  Commits& commits_;
  Removal& removal_;
  Time next_expiry_;  // Wall time.
  Timers::Key timer_ = 0;
  Millis wall_ahead_ = 0;  // Of the steady clock, when it was last looked at.
  Time held_until_;        // Steady time: nothing is removed before.
  bool running_ = false;
  Timers::Key forget_timer_ = 0;
  int64_t marks_made_ = 0;  // Since marks were last forgotten.
};

}  // namespace errand
