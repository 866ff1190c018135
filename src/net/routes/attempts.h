// The handlers of attempts and of what goes out of a repository. Inside net/routes/ only.
#pragma once

#include "net/routes/context.h"

namespace errand::net {

// attempts.cc
void create_attempts(Context&, Call);
void compare_attempts(Context&, Call);
void test_attempts(Context&, Call);
// Merges one of several attempts, and discards the others.
void choose_attempt(Context&, Call, ChangesAsk merge);
// changes.cc
void publish_changes(Context&, Call);
void commit_text(Context&, Call);
void ask_commit_text(Context&, Call);

}  // namespace errand::net
