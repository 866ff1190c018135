// A store in a file of its own that a test opens, closes and changes behind its back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/test_folder.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/contract/store_contract.h"

namespace errand {

class StoreFile : public testing::Test {
 protected:
  StoreFile() {
    options_.path = folder_ / "errand.db";
    options_.ballast_bytes = 4096;
    set_log_level(LogLevel::error);
  }

  Result<std::unique_ptr<Store>> open() { return open_sqlite_store(options_, executor_); }

  // The first commit of a task.
  static Commit creation(TaskId id, std::string prompt = {}) {
    Task task;
    task.id = std::move(id);
    task.launch.agent_id = "demo";
    task.launch.prompt = std::move(prompt);
    task.created_at = task.queued_at = task.updated_at = Time{1'000};
    task.version = 1;
    Commit commit;
    commit.task_id = task.id;
    commit.after = std::make_shared<const Task>(std::move(task));
    return commit;
  }
  Result<Committed> commit(Store& store, Commit one) {
    std::vector<Commit> group;
    group.push_back(std::move(one));
    return std::move(commit_group(store, executor_, std::move(group)).front());
  }

  TestFolder folder_;
  SqliteOptions options_;
  QueueExecutor executor_;
};

}  // namespace errand
