// Decisions: everything that waits for a task is decided on its durable state and put into one commit. What is decided
// is `decide`'s business (task/decide.h); here its steps, the driver's reports and the notices that follow become one
// Prepared.
//
// It stores nothing and performs nothing: a commit that is refused leaves no trace but in Batches, where its moves are
// to be undone or settled. Engine thread only.
#pragma once

#include "engine/agents.h"
#include "engine/batches.h"
#include "engine/feeds.h"
#include "engine/live.h"
#include "engine/shared.h"

namespace errand {

class Decisions {
 public:
  Decisions(Shared& shared, const Agents& agents, Batches& batches, const Feeds& feeds)
      : shared_(shared), agents_(agents), batches_(batches), feeds_(feeds) {}

  // Decides all of prepared.actions on live.task, which stays as it is. False: nothing has changed, and only
  // prepared.refused and prepared.effects are filled in. Where prepared.undecided is set the commit must not be made.
  bool decide_all(Live& live, Prepared& prepared);
  // Puts a commit together: numbers its events, sets its versions. `after` is the task that it stores.
  void finish(Prepared& prepared, Task&& after, Recording&& out);

 private:
  // A commit while it grows.
  struct Draft {
    Prepared& prepared;
    Task after;
    Recording out;
    Time now;
    bool changed = false;
  };
  std::optional<Error> check_room(const Live& live, const Action& action, std::optional<size_t>& waiting) const;
  void add_reports(Live& live, const Action& action, Draft& draft);
  void add_report(Live& live, const Report& report, Draft& draft);
  void add_decided(const Input& input, Draft& draft);
  void watch_calls(const Report& report, Draft& draft);
  void add_step(Step step, Draft& draft);
  void tell_turn(Draft& draft);
  void tell_batch(Draft& draft);
  void add_notice(Notice notice, Draft& draft);

  Shared& shared_;
  const Agents& agents_;
  Batches& batches_;
  const Feeds& feeds_;
};

}  // namespace errand
