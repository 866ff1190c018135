// Pages of tasks: a filter becomes one statement; what a statement cannot say (words in texts) is checked row by row.
#pragma once

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace errand::postgres {

Result<TaskPage> list_tasks(Connection& db, const TaskFilter& filter, const Page& page);

// Exact, but for a search with over 10,000 hits: past those it counts what the index has, which may be a few too many
// (the pieces of a word may stand apart).
Result<int64_t> count_tasks(Connection& db, const TaskFilter& filter);

}  // namespace errand::postgres
