// Commits: what is on its way to the store. They are handed over in groups, answered in the same order, and counted:
// past a bound the engine takes nothing more that would have to be stored.
//
// It knows no states: what a commit is about is decided before (Decisions), what follows from it comes after (Lives).
// Engine thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/live.h"
#include "engine/shared.h"

namespace errand {

class Commits {
 public:
  // What the store said of a commit about a task.
  using Answered = std::function<void(Prepared& prepared, Result<Committed>& result)>;

  explicit Commits(Shared& shared) : shared_(shared) {}
  // Called for each commit about a task, before its own `done`;
  void on_task(Answered answered) { answered_ = std::move(answered); }
  // and once after all of a group.
  void on_group(std::function<void()> group_answered) { group_answered_ = std::move(group_answered); }

  // It is handed over with the next group.
  void stage(Prepared&& prepared);
  // One that is about no task. `done` is called when it is durable, or was refused.
  void store(Commit commit, std::move_only_function<void(Result<Committed>)> done);
  // Hands over what is staged, as one group. The store decides what of it becomes one transaction.
  void hand_over();
  size_t staged() const { return staged_.size(); }
  // Staged, or handed over and not answered.
  int64_t waiting() const { return under_way_ + static_cast<int64_t>(staged_.size()); }

  // The server stops, or has more to store than it should: calls that store are answered refusal(), and change nothing.
  bool refuse() const;
  std::unexpected<Error> refusal() const;
  // Whoever asked is answered as before; until then what was asked is counted as waiting to be stored, with all that is
  // made of it.
  template <class T>
  Reply<T> charged(Reply<T> reply, size_t bytes) {
    return [charge = Charge(shared_.backlog, copies_until_stored * bytes),
            reply = std::move(reply)](Result<T> result) mutable { reply(std::move(result)); };
  }

  int64_t stored() const { return stored_; }  // Since the start,
  int64_t events() const { return events_; }  // with so many events.

 private:
  Shared& shared_;
  Answered answered_;
  std::function<void()> group_answered_;
  std::vector<Prepared> staged_;
  int64_t under_way_ = 0;
  int64_t stored_ = 0, events_ = 0;
};

}  // namespace errand
