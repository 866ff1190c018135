// Sessions, and why one is not there (R3.6): of a session that ended a mark stays for good, as of a task that went. It
// is a stored setting, made in the commit in which the session goes.
#pragma once

#include "store/store.h"

namespace errand {

Commit::Setting ended_mark(const SessionId& id, Time now);
// Takes it away again: somebody opens a session of that name anew.
Commit::Setting no_ended_mark(const SessionId& id);

std::unexpected<Error> session_ended(const SessionId& id);

// not_found says why: reason `session_ended`, or, where it was never there, none. Blocking; any reader thread.
Result<Session> find_session(Store& store, const SessionId& id);

}  // namespace errand
