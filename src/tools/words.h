// Tasks in the words of the tools: text for agents, and the JSON beside it. `failed` is `error` here (R1.2), as seeds
// 000 and 003 have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tasks.h"
#include "task/task.h"

namespace errand {
class JsonOut;
}

namespace errand::tools {

std::string_view status_word(TaskState state);
// `error` and `failed` are the same.
std::optional<TaskState> parse_status_word(std::string_view word);
// "pending, running, ...": what parse_status_word takes, for messages.
std::string_view status_words();

// "task_... (resumed) (forked)": R8.3.
std::string id_with_marks(const Task& task);
// One line of a listing.
std::string list_line(const TaskView& view);
// What is known of a task: head, progress while it is at work, how it ended. Not the result.
std::string describe(const TaskView& view);

// The whole object: what task_schema() describes.
void write_task(JsonOut& out, const TaskView& view);
// Its members, for an object with more in it.
void write_task_members(JsonOut& out, const TaskView& view);

// JSON Schema of that object, and of its members alone (the inside of "properties").
std::string task_schema();
std::string task_properties();

// {"type":"object","properties":{...},"required":[...],"additionalProperties":false}: `required` names them all.
std::string object_schema(std::string_view properties);

}  // namespace errand::tools
