// Parents: what is known of the sessions that launch tasks, between their first task and their end. A session that ends
// takes all its tasks with it (R3.5), also those whose launch is just being stored: so a launch announces its birth,
// and an end waits for the births that were announced before it.
//
// Bookkeeping only, derived and bounded: it may be forgotten at any time but for what is under way. Engine thread only.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/executor.h"
#include "base/id.h"

namespace errand {

class Parents {
 public:
  // Stored, and no task's own. A cache: what is not known is read or stored again.
  bool knows(const SessionId& id) const { return known_.contains(id); }
  void remember(const SessionId& id);

  // It is being ended, or ended a moment ago: what was read of it before does not count, and nothing is launched.
  bool has_ended(const SessionId& id) const { return ending_.contains(id) || ended_.contains(id); }
  // Somebody begins to end it, and (each once) is through with that, whatever came of it.
  void begin_end(const SessionId& id) { ending_.insert(id); }
  void finish_end(const SessionId& id);
  // Its end is stored; or that somebody has opened it anew. Each is told when it is stored, in that order.
  void ended(const SessionId& id);
  void not_ended(const SessionId& id) { ended_.erase(id); }

  // A launch under it is about to be stored; then it is stored, or was refused.
  void birth(const SessionId& id) { ++births_[id].under_way; }
  void born(const SessionId& id);
  // Calls `then` when all births that were announced are settled: at once, where none is under way.
  void when_born(const SessionId& id, Work then);

 private:
  struct Births {
    int under_way = 0;
    std::vector<Work> then;
  };
  std::unordered_set<SessionId> known_;
  std::unordered_multiset<SessionId> ending_;
  std::unordered_set<SessionId> ended_;
  std::unordered_map<SessionId, Births> births_;
};

}  // namespace errand
