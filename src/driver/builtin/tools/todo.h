// `todo`: the agent's list of what is to be done, shown in the transcript. Kept in memory for as long as the server
// runs; each call gives the whole list, so that the transcript has it too.
#pragma once

#include <memory>

#include "base/executor.h"
#include "driver/builtin/tool.h"

namespace errand::builtin {

// The lists of all tasks. The engine's thread only.
class TodoLists;
std::shared_ptr<TodoLists> make_todo_lists();
void forget_todo(TodoLists& lists, const TaskId& task);

std::unique_ptr<Tool> make_todo(Executor& engine, std::shared_ptr<TodoLists> lists);

}  // namespace errand::builtin
