// The names of what tasks leave, as MCP resources: task://ID/result, /log, /transcript, /artifacts (the list) and
// /artifacts/NAME; each with ?offset=N and ?limit=N for a part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace errand::mcp {

struct TaskUri {
  TaskId task;
  std::string path;       // As look_at takes it: "result", "log", "transcript", "artifacts", or an artifact's name.
  bool artifact = false;  // `path` is an artifact's name.
  std::optional<int64_t> offset, limit;
};
std::optional<TaskUri> parse_task_uri(std::string_view uri);

// `path` is what stands behind the id; an artifact's name is percent-encoded where it must be.
std::string task_uri(const TaskId& task, std::string_view path);
std::string artifact_uri(const TaskId& task, std::string_view name);

}  // namespace errand::mcp
