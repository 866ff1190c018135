// Attempts on the wire (engine/task_attempts.h, decision 37), and the text for a commit of what a task changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/task_attempts.h"
#include "task/commit_text.h"

namespace errand::api {

// POST /api/batches {agents: [{agent_id, model?}], launch: as of POST /api/tasks, but for who does it}: one launch for
// each of the agents, isolated, in one batch.
Result<std::vector<Launch>> parse_attempts(std::string_view body);
// {"batch_id","tasks":[...]}
std::string attempts_reply(const std::vector<TaskView>& made);

// POST /api/batches/{id}/test {command, timeout_s?}: a command task.
Result<Launch> parse_test(std::string_view body);
// {"batch_id","tests":[tasks],"left":[{task_id, why}]}
std::string tests_reply(const TestsBegun& begun);

// {"batch_id","attempts":[{task, changes: {files, added, removed} | null, why, test: task | null}]}
std::string compared_reply(const BatchId& id, const std::vector<ComparedAttempt>& attempts);

// POST .../merge {mode?, message?, discard_others?, with_later?}: an empty body is an empty request.
struct MergeRequest {
  ChangesAsk merge;
  bool discard_others = false;
};
Result<MergeRequest> parse_merge(std::string_view body);
// {"task","merge","discarded":[task ids],"left":[{task_id, why}]}; `merge` is null where it was merged before.
std::string chosen_reply(const Chosen& chosen);

// POST .../publish {message?}: an empty body is an empty request.
Result<ChangesAsk> parse_publish(std::string_view body);
// {"task","publish":{commit, branch, target, repo, git_dir, not_merged},"text":{...}}
std::string published_reply(const ChangesReply& reply);

// {"subject","body","source"}
std::string commit_text_reply(const Task& task);

}  // namespace errand::api
