// Aftermath: what follows from a commit once it is durable, in this order: the task is replaced, its events are shown,
// what is derived of it is settled, whoever asked is answered, its effects are performed, whoever waited hears of it.
//
// The one place that knows which parts of the engine look at a stored task. It decides nothing. Engine thread only.
#pragma once

#include "engine/batch_calls.h"
#include "engine/commits.h"
#include "engine/deadlines.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/own_notices.h"
#include "engine/quotas.h"
#include "engine/removal.h"
#include "engine/reports.h"
#include "engine/retention.h"
#include "engine/session_calls.h"
#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/starts.h"
#include "engine/subtree.h"
#include "engine/task_waits.h"
#include "engine/turns.h"

namespace errand {

class Aftermath final : public Follower {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Lives& lives;
    Slots& slots;
    Starts& starts;
    Feeds& feeds;
    Quotas& quotas;
    Deadlines& deadlines;
    Reports& reports;
    Turns& turns;
    OwnNotices& own_notices;
    Subtree& subtree;
    Removal& removal;
    Retention& retention;
    TaskWaits& task_waits;
    BatchCalls& batch_calls;
    SessionCalls& session_calls;
  };
  explicit Aftermath(Rooms rooms) : rooms_(rooms) {}

  void stored(Prepared& prepared, const Committed& committed) override;
  void unchanged(Prepared& prepared) override;
  void refused(const LivePtr& live) override { rooms_.starts.settle(*live); }
  void reloaded(const LivePtr& live) override;
  void vanished(const LivePtr& live) override;

 private:
  void removed(Prepared& prepared, const Committed& committed);
  void came_to_rest(const LivePtr& live, const Task* before);
  static void replace_task(Live& live, Prepared& prepared);
  static void answer_actions(Prepared& prepared);

  Rooms rooms_;
};

}  // namespace errand
