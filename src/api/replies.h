// Replies: the bodies of answers, one function a shape. The shapes of tasks, messages, events and notices themselves
// are task/json.h's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/administration.h"
#include "engine/feed.h"
#include "engine/tasks.h"
#include "store/store.h"
#include "task/json.h"

namespace errand::api {

std::string task_reply(const TaskView& view);

// {"tasks","next_cursor"[,"total"][,"counts","needs_input"][,"batches"]}
struct TaskListReply {
  TaskPage page;
  std::optional<int64_t> total;
  // Of what the filter lets through but for `status` and `waiting_for`: how many there are of each status, and how many
  // ask a person something. Together or not at all.
  std::optional<StateCounts> counts;
  int64_t needs_input = 0;
  // With `fold_batches`: of the batches of the page.
  std::optional<std::map<BatchId, BatchCounts>> batches;
};
// `moments` has one for each task, in their order.
std::string list_reply(const TaskListReply& list, const std::vector<TaskMoment>& moments);

// {"questions":[{"task", and all of the question}],"failures":[tasks],"more"}: R15.2.
std::string inbox_reply(const std::vector<TaskView>& asking, const std::vector<TaskView>& failures, bool more);

// {"task","turn","message_id"}
std::string message_taken_reply(const MessageTaken& taken);

// {"task_id","status","result","error","retrieved_at","progress","timed_out","seq"}; the result is null until the task
// is at rest.
std::string result_reply(const ResultView& result);

// {"removed","left"}
std::string cleared_reply(const Cleared& cleared);
std::string quotas_reply(const std::vector<Quota>& quotas);
std::string quotas_cleared_reply(int64_t cleared);

// {"count"}: of the running and the resumed.
std::string running_reply(const StateCounts& counts);
int64_t running_count(const StateCounts& counts);
void write_counts(JsonOut& out, const StateCounts& counts);

// {"messages","more","seq"}
std::string messages_reply(const MessagePage& page);

// {"events","next_after"}: each event as the stream's data line has it.
std::string events_reply(const std::vector<FramePtr>& frames, int64_t after);

// {"batch_id","total","at_work","counts"}
std::string batch_reply(const BatchId& id, const BatchCounts& counts);
// The same and {"results":[...],"more"}: each as result_reply, its text cut where all together would be too much.
std::string batch_results_reply(const BatchId& id, const BatchCounts& counts, const std::vector<ResultView>& results,
                                bool more);
// {"batches":[...],"next_cursor"}: each as batch_reply, with the title of its first task and when that was made.
std::string batches_reply(const BatchPage& page);
// {"by","from","to","groups","total","more"}; a cost that is not known is null.
std::string usage_reply(const UsageQuery& query, const UsageReport& report);
std::string count_reply(std::string_view field, int64_t count);

std::string session_reply(const Session& session);
// {"notices","next_after"}
std::string notices_reply(const std::vector<Notice>& notices, int64_t after);
std::string notice_reply(const Notice& notice);

}  // namespace errand::api
