// Launching: a launch is a row of steps. Each fills in or checks something and may have to read for it; the last one
// stores the task, begun at once where a slot is free. Whichever step refuses, nothing was stored.
//
//   find_key      the same request may have been stored before, under its Idempotency-Key
//   bind_parent   the task that launches it, where one does: it may do no more than that
//   complete      the agent, and what the launch leaves open; its driver checks it
//   look          what it names on disks, in the background
//   inherit       the conversation that a fork takes over
//   know_batch    the counts of the batch that it joins
//   commit        task, session, messages and batch, in one commit
//
// Engine thread only.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/agents.h"
#include "engine/batches.h"
#include "engine/commits.h"
#include "engine/decisions.h"
#include "engine/forks.h"
#include "engine/lives.h"
#include "engine/looks.h"
#include "engine/parents.h"
#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/subtree.h"
#include "engine/views.h"

namespace errand {

class Launching {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Commits& commits;
    Lives& lives;
    Decisions& decisions;
    Slots& slots;
    Batches& batches;
    const Agents& agents;
    Looks& looks;
    Parents& parents;
    Subtree& subtree;
    Forks& forks;
    const Views& views;
  };
  explicit Launching(Rooms rooms);

  // As Tasks::launch.
  void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply);
  // All steps but the last: whether it would be stored now. It is not.
  void check(Launch launch, Reply<void> reply);

 private:
  // A launch on its way.
  struct Way {
    Launch launch;
    std::string key, fingerprint;
    Reply<TaskView> reply;
    std::string driver = {};                   // Its name; from `complete` on.
    std::vector<PermissionRule> granted = {};  // To its agent, by then.
    fork::Prepared inherited = {};             // From `inherit` on.
    size_t next = 0;                           // The step that it comes to next.
    bool waited = false;                       // The call that asked for it has returned: it may be answered at once.
    Reply<void> checked = {};                  // Set: it is only looked at.
  };
  using WayPtr = std::shared_ptr<Way>;
  // What a step answers: it is done, or refuses, or (nothing) will go on by itself, later.
  using Stepped = std::optional<Status>;
  using StepFunction = Stepped (Launching::*)(const WayPtr& way);

  // Takes the launch through its next steps, until one has to wait.
  void go_on(const WayPtr& way, Status so_far);
  // The end of one that is not stored: refused, or only looked at. Later, where its call has not returned.
  void leave(const WayPtr& way, Status status);
  // Everybody who sent this request under this key gets the same answer.
  void answer(const WayPtr& way, const Result<TaskView>& result);

  Stepped find_key(const WayPtr& way);
  Stepped bind_parent(const WayPtr& way);
  Stepped complete(const WayPtr& way);
  Stepped look(const WayPtr& way);
  Stepped inherit(const WayPtr& way);
  Stepped know_batch(const WayPtr& way);
  Stepped commit(const WayPtr& way);
  void introduce(const SessionId& parent);
  void begin_at_once(Task& task, Prepared& prepared, Recording& out);
  static const std::array<StepFunction, 7> steps;

  Shared& shared_;
  Commits& commits_;
  Lives& lives_;
  Decisions& decisions_;
  Slots& slots_;
  Batches& batches_;
  const Agents& agents_;
  Looks& looks_;
  Parents& parents_;
  Subtree& subtree_;
  Forks& forks_;
  const Views& views_;

  // Launches with an Idempotency-Key that are under way, and who repeats them.
  struct KeyUnderWay {
    std::string fingerprint;
    std::vector<Reply<TaskView>> repeats;
  };
  std::unordered_map<std::string, KeyUnderWay> keys_;
};

}  // namespace errand
