// Tasks of MCP, in both generations (the experimental core of 2025-11-25, and the extension of 2026-07-28), over
// errand's own.
//
// A task of MCP is one turn of a task of errand: it ends once and for good, where a task of errand may be resumed or
// retried. Its id names both, and the caller's credentials, under a seal; nothing is stored for it, and it is known
// again after a restart. It is kept as long as the task is: `ttl` is null unless the task expires by itself.
#pragma once

#include <string>
#include <string_view>

#include "mcp/rpc.h"

namespace errand::mcp {

// Does this call want a task as its answer? (tools/call; the tool must be one that starts work.)
bool wants_task(const Rpc& rpc, tools::Role role);
// Answers tools/call with the task that the tool's result speaks of.
void answer_with_task(const RpcPtr& rpc, const tools::ToolResult& result);

// tasks/get, tasks/list, tasks/result, tasks/cancel, tasks/update: those of the era. False: it has no such method.
bool handle_tasks(const RpcPtr& rpc);

// For subscriptions/listen and status notifications. `handle` is checked as in tasks/get.
struct TaskHandle {
  TaskId task;
  int turn = 0, attempt = 0;
};
std::optional<TaskHandle> parse_handle(const Rpc& rpc, std::string_view text);
// A task's state in the words of MCP, of the turn that the handle names.
std::string_view task_status(const Rpc& rpc, const Task& task, const TaskHandle& handle);
// What notifications/tasks tells, without braces around: for its params. Answers later; empty where it is gone.
void describe_task(const RpcPtr& rpc, std::string handle, std::move_only_function<void(std::string members)> then);

}  // namespace errand::mcp
