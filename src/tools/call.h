// What a tool's handler works with. Inside tools/ only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "base/beside.h"
#include "tools/family.h"
#include "tools/toolbox.h"

namespace errand::tools {

class Call;
using CallPtr = std::shared_ptr<Call>;

struct Tool {
  ToolInfo info;
  void (*handle)(const CallPtr& call, api::Fields fields);
};

// One call under way. Answered exactly once.
class Call {
 public:
  Call(const ToolParts& tool_parts, const Tool& called, Caller by, std::string family, Reply<ToolResult> reply)
      : parts(tool_parts), tool(called), caller(std::move(by)), family_(std::move(family)), reply_(std::move(reply)) {}

  void answer(std::string text, std::string data, std::vector<OpenAsk> asks = {});
  // A wrong call, or what the engine refused; completed by what is allowed and what to try.
  void refuse(const Error& error);
  // The fields' first error, where there is one: then the call is answered.
  bool refused(api::Fields& fields);
  // The name of another tool in the words of this caller: name("output").
  std::string name(std::string_view rest) const { return family_ + "_" + std::string(rest); }
  // A text of ours, with its tool names in the words of this caller.
  std::string in_words(std::string_view text) const { return in_family(text, family_); }
  bool owns(const Task& task) const {
    return caller.session.empty() || task.launch.parent_session_id == caller.session;
  }
  Time now() const { return parts.clock.wall(); }

  const ToolParts& parts;
  const Tool& tool;
  const Caller caller;

 private:
  std::string family_;
  Reply<ToolResult> reply_;
};

// An id as an agent writes it: whole, or a beginning that only one task has, with or without "task_".
void find_task(const CallPtr& call, std::string text, std::move_only_function<void(Result<TaskView>)> then);
// The same; an error answers the call.
void with_task(const CallPtr& call, std::string text, std::move_only_function<void(TaskView)> then);

// The caller's tasks that pass the filter, oldest first, at most `max` of them.
struct Members {
  std::vector<Task> tasks;
  bool more = false;
};
inline constexpr size_t members_max = 1'000;
void with_members(const CallPtr& call, TaskFilter filter, size_t max, std::move_only_function<void(Members)> then);
// Those of a batch; none at all answers the call.
void with_batch(const CallPtr& call, const BatchId& batch, size_t max, std::move_only_function<void(Members)> then);

// Runs `read()` (a Result) on a reader, then `then(value)`; an error answers the call.
template <class Read, class Then>
void read_then(const CallPtr& call, Read read, Then then) {
  run_then(call->parts.readers, call->parts.loop, std::move(read), [call, then = std::move(then)](auto result) mutable {
    if (!result) return call->refuse(result.error());
    then(std::move(*result));
  });
}

inline constexpr api::TextRule id_rule{.bytes_max = 200, .one_line = true};

// The tool as it is here and now: with the names of the agents, and with `fork` only where that can work.
void fit_background_task(ToolInfo& info, const Administration& administration, bool forks);

// --- the tools, one file each
Tool background_task();
Tool background_execute();
Tool background_output();
Tool background_list();
Tool background_message();
Tool background_cancel();
Tool background_retry();
Tool background_clear();
Tool session_manager();
Tool look_at();

}  // namespace errand::tools
