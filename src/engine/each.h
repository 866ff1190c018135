// Each: acts on many tasks, a few at a time, so that a long list fills neither the memory nor the inbox. Engine thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/shared.h"
#include "engine/task_view.h"
#include "store/store.h"

namespace errand {

class Each {
 public:
  // What is done with one task; it calls `done` once, inside the call or later.
  using Done = std::move_only_function<void(bool ok)>;
  using Act = std::function<void(const TaskId& id, Done done)>;

  explicit Each(Shared& shared) : shared_(shared) {}

  // Acts on all of these, 200 at a time; then `done`, with how many it could.
  void act(std::vector<TaskId> ids, Act act, std::move_only_function<void(int64_t acted)> done);
  // Acts on all that the filter finds now. not_found, reason `unknown_batch`, where it names a batch without tasks.
  void act_on(TaskFilter filter, Act act, Reply<int64_t> reply);

 private:
  struct Row {
    std::vector<TaskId> ids;
    Act act;
    std::move_only_function<void(int64_t acted)> done;
    size_t next = 0, ended = 0;
    int64_t acted = 0;
  };
  void act_on_next(const std::shared_ptr<Row>& row);

  Shared& shared_;
};

}  // namespace errand
