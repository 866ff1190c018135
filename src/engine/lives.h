// Lives: the tasks in memory, and a task's way through it: submitted, loaded, pumped, committed, evicted.
//
// A tick takes what waits for each task, lets it be decided (Decisions) and hands the commits over (Commits). When one
// is durable the task is replaced, and what follows from that happens (Follower). A task has at most one commit under
// way; its further inputs wait and are decided together on the durable task. A commit that is refused because somebody
// else has stored the task is decided again, on what is stored then; one that the store cannot take now is tried again
// later where it is the engine's own business, and refused to whoever asked otherwise.
//
// Tasks at rest are not here, and of very long lines only the places (Slots). Engine thread only.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/batches.h"
#include "engine/commits.h"
#include "engine/decisions.h"
#include "engine/live.h"
#include "engine/shared.h"
#include "engine/slots.h"

namespace errand {

// What follows from what happens to a task in memory.
class Follower {
 public:
  virtual ~Follower() = default;
  // The commit is durable. For a creation and a change: live.task is still what was stored before.
  virtual void stored(Prepared& prepared, const Committed& committed) = 0;
  // All was decided, and there is nothing to store.
  virtual void unchanged(Prepared& prepared) = 0;
  // The store did not take the commit: live.task is what it was, and what is to be tried again waits.
  virtual void refused(const LivePtr& live) = 0;
  // Somebody else had stored the task, and live.task is what is stored now.
  virtual void reloaded(const LivePtr& live) = 0;
  // Its rows went behind our back, and a turn is at work for it: it is a ghost now.
  virtual void vanished(const LivePtr& live) = 0;
};

class Lives {
 public:
  // All outlive this.
  Lives(Shared& shared, Commits& commits, Decisions& decisions, Slots& slots, Batches& batches);
  void follow(Follower& follower) { follower_ = &follower; }

  // Null: it is not in memory.
  LivePtr find(const TaskId& id) const;
  // One that is being created, or was at work when the server started.
  void add(const LivePtr& live) { lives_.emplace(live->id, live); }
  // Puts the action into the task's inbox; loads the task where it is not in memory.
  void submit(const TaskId& id, Action action);
  void submit(const LivePtr& live, Action action);
  // What waits for it is looked at in this tick, or the next one.
  void pump_soon(const LivePtr& live) { to_pump_.push_back(live); }
  // Lets it go where nothing of it is under way: at rest, or far back in line.
  void evict(const LivePtr& live);
  // Its rows are gone, and its last run is being ended; then that has ended, too.
  void make_ghost(const LivePtr& live);
  void drop_ghost(const LivePtr& live) { ghosts_.erase(live->id); }

  // --- a tick
  // Decides all that waits, and stages what is to be stored.
  void pump_all();
  // Those that were staged with the end of their turn since this was last called: their slots are about to be free.
  std::vector<LivePtr> take_leaving() { return std::exchange(leaving_, {}); }

  // Calls `visit` with each task in memory, ghosts included.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto* lives : {&lives_, &ghosts_})
      for (const auto& [id, live] : *lives) visit(live);
  }
  int64_t working() const;  // Tasks whose turn is at work.

 private:
  void load(const LivePtr& live);
  void not_loaded(const LivePtr& live, const Error& error);
  void pump(const LivePtr& live);
  void answered(Prepared& prepared, Result<Committed>& result);
  void refused(Prepared& prepared, const Error& error);

  Shared& shared_;
  Commits& commits_;
  Decisions& decisions_;
  Slots& slots_;
  Batches& batches_;
  Follower* follower_ = nullptr;
  std::unordered_map<TaskId, LivePtr> lives_;
  std::unordered_map<TaskId, LivePtr> ghosts_;  // Removed; their runs are being ended.
  std::vector<LivePtr> to_pump_;
  std::vector<LivePtr> leaving_;
};

}  // namespace errand
