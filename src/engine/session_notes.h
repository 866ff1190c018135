// Session notes: the small state that sessions keep across turns (R8.6). They are stored settings whose names begin
// with the session's, so that the store lets them go with it.
//
// One change at a time, so that the bounds hold however many are asked for at once. Engine thread only.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/commits.h"
#include "engine/sessions.h"
#include "engine/shared.h"

namespace errand {

class SessionNotes {
 public:
  SessionNotes(Shared& shared, Commits& commits) : shared_(shared), commits_(commits) {}

  // As Sessions::session_state,
  void read(SessionId id, Reply<std::vector<StatePiece>> reply);
  // and Sessions::keep_state.
  void keep(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply);

 private:
  struct Change {
    SessionId session;
    std::string key;
    std::optional<std::string> value;
    Reply<void> reply;
  };
  void next();
  void store(Change change, const std::vector<StatePiece>& kept);

  Shared& shared_;
  Commits& commits_;
  std::deque<Change> changes_;  // Waiting.
  bool busy_ = false;           // One is under way.
};

}  // namespace errand
