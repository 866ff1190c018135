// What tasks changed, asked of whoever keeps it (driver/watched/ and decision 31): the engine's side of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "task/task.h"

namespace errand {

struct ChangesAsk {
  std::string order;         // As changes/orders.h has them: list, file, patch; merge, undo, discard, restore, ...
  std::string path = {};     // file: as the list has it.
  std::string mode = {};     // merge: squash, merge, patch; empty: squash.
  std::string message = {};  // merge: of the commit; empty: the task's title.
  bool with_later = false;   // merge: also what was changed in its work tree since a test.
  // It changes something: not while the task is at work.
  bool decides() const { return order != "list" && order != "file" && order != "patch"; }
};

struct ChangesAnswer {
  std::optional<Isolation> isolation;  // As it is now.
  std::string reply;                   // JSON, as changes/orders.h has it.
  // Why it was not done, and nothing was changed: `files` are in the way, or were changed on both sides.
  std::optional<Error> refused = std::nullopt;
  std::vector<std::string> files = {};
};

class Changes {
 public:
  virtual ~Changes() = default;
  using Answered = std::move_only_function<void(Result<ChangesAnswer>)>;
  // Engine thread; answers later. Orders of one task are carried out one after the other. An error: nobody could be
  // asked (exhausted, unavailable), or (conflict, reason `at_work`) a turn of the task is at work.
  virtual void ask(std::shared_ptr<const Task> task, ChangesAsk ask, Answered done) = 0;
  // Once, at the start: what an earlier server ordered is heard to its end, what it left half done is settled. `heard`
  // is told what each answer says of the task's work tree.
  using Heard = std::function<void(const TaskId& task, std::optional<Isolation> isolation)>;
  virtual void take_up(Heard heard) = 0;
};

}  // namespace errand
