// Which sessions of OpenCode were made for which task: a small file a task in data_dir/opencode/tasks/, so that they go
// with it, whoever dies when. What cannot be written is only said in the log: the task does not depend on it.
#pragma once

#include <string>
#include <vector>

#include "base/id.h"

namespace errand::opencode {

class Sessions {
 public:
  explicit Sessions(std::string folder) : folder_(std::move(folder)) {}

  void add(const TaskId& task, const std::string& session) const;
  std::vector<std::string> of(const TaskId& task) const;
  // The task is gone: its sessions are to go. They are known until remove().
  void give_up(const TaskId& task) const;
  void remove(const TaskId& task) const;

  std::vector<TaskId> tasks() const;     // That are not given up.
  std::vector<TaskId> given_up() const;  // In the order of their ids.

 private:
  std::string file(const TaskId& task, bool given_up) const;
  std::vector<TaskId> all(bool given_up) const;

  std::string folder_;
};

}  // namespace errand::opencode
