// Pages of tasks: filters as lists of numbers, intersected (number_list.h), then the rows.
#pragma once

#include "base/result.h"
#include "store/sqlite/readers.h"
#include "store/store.h"

namespace errand::sqlite {

Result<TaskPage> list_tasks(Reader& reader, const TaskFilter& filter, const Page& page);

// Exact, but for a search with over 10,000 hits: past those it counts what the index has, which may be a few too many
// (the pieces of a word may stand apart).
Result<int64_t> count_tasks(Reader& reader, const TaskFilter& filter);

// The task with this number; nothing where there is none.
Result<std::optional<Task>> load_task(Database& db, int64_t number);

}  // namespace errand::sqlite
