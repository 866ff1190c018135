// Sessions, and why one is not there (R3.6): of a session that ended a mark stays, as of a task that went. It is a
// stored setting, made in the commit in which the session goes, and forgotten when it is old (retention.h).
#pragma once

#include "store/store.h"

namespace errand {

Commit::Setting ended_mark(const SessionId& id, Time now);
// Takes it away again: somebody opens a session of that name anew.
Commit::Setting no_ended_mark(const SessionId& id);

inline constexpr const char* ended_mark_prefix = "ended_session/";
struct OldMarks {
  std::vector<Commit::Setting> gone;  // As a commit removes them.
  Time oldest;                        // Of those that stay; never: none does.
};
// Those of before this time, and those beyond the `most` newest; at most `rows` of them, the oldest first.
OldMarks old_marks(const std::vector<Commit::Setting>& marks, Time before, size_t most, size_t rows);

std::unexpected<Error> session_ended(const SessionId& id);

// not_found says why: reason `session_ended`, or, where it was never there, none. Blocking; any reader thread.
Result<Session> find_session(Store& store, const SessionId& id);

}  // namespace errand
