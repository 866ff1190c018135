// What a task changed, on the wire (R16.3): requests and replies. Lists and patches are made by whoever keeps them
// (changes/listing.h) and handed on.
#pragma once

#include <string>
#include <string_view>

#include "api/query.h"
#include "api/replies.h"
#include "api/requests.h"
#include "base/result.h"
#include "engine/task_changes.h"

namespace errand::api {

// The list with the task's `isolation`.
std::string changes_reply(const ChangesReply& reply);
// {"task", "merge": {mode, commit, target, work_dir, not_merged}}
std::string merge_reply(const ChangesReply& reply);
// The list, or one file's patch, as a text for agents.
Result<std::string> changes_text(std::string_view reply);
// The name of the file that has the whole patch, as the keeper answered it.
Result<std::string> patch_file(std::string_view reply);

}  // namespace errand::api
