// What every store promises (store/store.h), as tests that run against each of them: see store_hosts.cc for the list.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/executor.h"
#include "store/store.h"

namespace errand {

// Runs work on the thread that waits for it.
class QueueExecutor final : public Executor {
 public:
  void post(Work work) override;
  // Runs what comes until `done` answers true. False: nothing came for 30 s.
  template <class F>
  bool run_until(F done) {
    while (!done()) {
      Work work;
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait_for(lock, std::chrono::seconds(30), [&] { return !queue_.empty(); })) return false;
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;
};

// A kind of store, and the disk it is opened on.
class StoreHost {
 public:
  virtual ~StoreHost() = default;
  virtual std::unique_ptr<Store> open(Executor& answers) = 0;
};
using MakeHost = std::unique_ptr<StoreHost> (*)();

struct StoreKind {
  const char* name;
  MakeHost make;
};

using Answers = std::vector<Result<Committed>>;

// Hands a group to a store and waits for the answers.
Answers commit_group(Store& store, QueueExecutor& executor, std::vector<Commit> group);

class StoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  StoreContract();

  Store& store() { return *store_; }
  // As after a restart.
  void reopen();

  Answers commit_all(std::vector<Commit> group) { return commit_group(*store_, executor_, std::move(group)); }
  Result<Committed> commit(Commit one);
  // Expects that it is stored.
  Committed store_it(Commit one);

  // A new task of the agent `demo` that waits for its turn; the next id.
  Task new_task(const std::string& prompt = "Look around");
  // `task` as it is stored next: version + 1.
  static Task next(Task task) {
    ++task.version;
    return task;
  }
  static Task running(Task task);
  static Task completed(Task task, const std::string& result = "Done");
  // Stores `after` with `events` events of the type; before_version follows from it.
  Commit commit_of(const Task& after, int events = 0, EventType type = EventType::task_status);
  Commit removal(const Task& task, Gone why = Gone::deleted);
  // A stored task.
  Task add(Task task, int events = 0);
  Task update(Task after, int events = 0);

  Message new_message(const SessionId& session, Role role = Role::user, const std::string& text = "Hello");
  Session new_session(const std::string& origin = "rest");
  Notice new_notice(const Task& task, const SessionId& parent);
  // A commit about no task.
  Commit bare();

  std::vector<std::string> found(const TaskFilter& filter, Page page = {});
  Time later() { return now_ = now_ + 1'000; }

  QueueExecutor executor_;
  Time now_{1'763'200'000'000};

 private:
  std::string tail();
  std::unique_ptr<StoreHost> host_;
  std::unique_ptr<Store> store_;
  int next_id_ = 0;
};

}  // namespace errand
