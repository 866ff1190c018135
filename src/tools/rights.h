// What a caller may do, whichever way its call comes: by the scopes of its token, which net/ knows.
#pragma once

#include "base/result.h"
#include "task/task.h"

namespace errand::tools {

struct Rights {
  bool change = true;   // Start agents' tasks; message, cancel, resume, retry, clear (the scope `tasks`).
  bool execute = true;  // Start commands (`exec`).
  bool approve = true;  // Say what a task may do (`approve`).

  // Who only looks leaves no trace: what a look would mark as read or as told stays as it is.
  bool only_looks() const { return !change && !execute; }
  bool operator==(const Rights&) const = default;
};

// The refusal for whoever lacks a scope: forbidden, with the reason "scope".
std::unexpected<Error> lacks_scope(std::string_view scope, std::string_view for_what);

// May somebody with these rights launch this? Nobody gives a task more than he could give by other means: commands
// (its set-up command, too), variables, which change what programs do, and files taken along are for those who may run
// commands; leave to do things unasked is for those who may give it when asked.
Status check_launch(const Launch& launch, const Rights& rights);
// May he begin this task again?
Status check_retry(const Task& task, const Rights& rights);

}  // namespace errand::tools
