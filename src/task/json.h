// How tasks, messages, events and notices look on the wire (spec section 13), in one place: stored events and every
// reply are made with these. Reading them back is in json_in.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "task/event.h"
#include "task/message.h"
#include "task/notice.h"
#include "task/task.h"

namespace errand {

class JsonOut;

// What is known of a task only at the moment of reading.
struct TaskMoment {
  Time now;
  std::optional<int64_t> queue_position;  // 1 is next; absent unless its turn is queued.
  // With it: what holds the turn back beside those before it and a free slot, as a sentence; empty: nothing does.
  std::string queue_reason = {};
};

// The whole task.
void write_task(JsonOut& out, const Task& task, const TaskMoment& moment);
// The same with its long texts cut (at 4,000 characters): then the field `cut` names those that were.
void write_task_in_list(JsonOut& out, const Task& task, const TaskMoment& moment);
// What status events need: no prompt, command, description, result or error details, so that an event stays
// small however long those are.
void write_task_brief(JsonOut& out, const Task& task, Time now);
void write_progress(JsonOut& out, const Progress& progress, Time now);
void write_limits(JsonOut& out, const Limits& limits);  // null: no limit.
void write_budget(JsonOut& out, const Budget& budget);  // Likewise.
// An open question with all that is needed to decide; `work_dir`: the task's.
void write_question(JsonOut& out, const Ask& ask, const std::string& work_dir);
void write_artifact(JsonOut& out, const Artifact& artifact);
void write_message(JsonOut& out, const Message& message);
void write_parts(JsonOut& out, const std::vector<Part>& parts);
void write_notice(JsonOut& out, const Notice& notice);
void write_batch_counts(JsonOut& out, const BatchCounts& counts);

// Events, with their data.
Event task_event(EventType created_or_status, const Task& after, Time now);
Event progress_event(const Task& after, Time now);
Event warning_event(std::string_view code, std::string_view text, Time now);
// A line of output that the launch asked to be told of; `more` lines matched before it and were not told.
Event match_event(std::string_view pattern, std::string_view line, int64_t more, Time now);
Event message_event(EventType created_or_completed, const Message& message, Time now);
// `part` is the index in the message's parts as they are shown: a tool's result is a part too. `type` is text or
// reasoning.
Event delta_event(const MessageId& message, int part, std::string_view text, Time now, PartType type = PartType::text);
Event tool_started_event(const MessageId& message, const Part& call, Time now);
Event tool_completed_event(const Part& result, Time now);
// The range of the log of `run` that was printed; its text is put in when it is framed.
Event output_event(std::string_view stream, int run, int64_t offset, int64_t length, Time now);
// `work_dir`: the task's.
Event ask_created_event(const Ask& ask, const std::string& work_dir, Time now);
// `scope`: how far an answer goes; empty where it is for this once.
Event ask_answered_event(const Ask& ask, std::string_view by, Time now, std::string_view scope = {});
Event notice_event(EventType created_or_taken, const NoticeId& notice, Time now);
Event end_event(TaskState state, Time now);

}  // namespace errand
