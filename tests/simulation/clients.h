// Random clients of the simulated server: they ask for everything that the engine offers, and remember what they were
// told, because that must stay true.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "engine/engine.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/verdict.h"

namespace errand::sim {

class Clients {
 public:
  Clients(SeededRandom& random, Truth& truth, Verdict& verdict, bool over_limit)
      : random_(random), truth_(truth), verdict_(verdict), over_limit_(over_limit) {}

  // One request of some kind.
  void act(Engine& engine);
  // What somebody who wants everything to end does: answers what is asked.
  void answer_all(Engine& engine);
  void cancel(Engine& engine, const TaskId& id);
  void edit(Engine& engine, const TaskId& id);

  // The server died: whoever waited does not know what came of it.
  void server_died();
  // With everything idle: nobody may wait for what is there.
  void check_nobody_waits_in_vain();
  size_t waiting() const { return open_.size(); }
  std::string waiting_list() const;

  // Ids that were acknowledged, removed ones too.
  const std::vector<TaskId>& tasks() const { return tasks_; }

 private:
  struct Call {
    std::string what;
    TaskId task;  // Of a call that blocks until it rests.
  };

  // Wraps a reply: it comes once, and not inside the call.
  template <class T>
  Reply<T> reply(std::string what, std::function<void(const Result<T>&)> then, TaskId blocks_for = {});
  void check_error(const Error& error, const std::string& what, const TaskId& task);

  void launch(Engine& engine);
  void message(Engine& engine, bool resume);
  void answer(Engine& engine);
  void result(Engine& engine);
  void batch(Engine& engine);
  void session(Engine& engine);
  void notices(Engine& engine);
  void clear(Engine& engine);

  Launch random_launch();
  TaskId any_task();
  SessionId any_session();
  SessionId own_session();  // Of a task.
  BatchId any_batch();
  NewMessage new_message();
  int next_mark(WaitingMessage::When when);
  void told(const TaskView& view, const char* by) { truth_.acknowledged(view.task, by); }

  SeededRandom& random_;
  Truth& truth_;
  Verdict& verdict_;
  const bool over_limit_;
  bool in_call_ = false;
  uint64_t calls_ = 0;
  std::map<uint64_t, Call> open_;
  std::vector<TaskId> tasks_;
  std::vector<BatchId> batches_;
  int marks_ = 0;
  int edits_ = 0;

  struct Keyed {
    Launch launch;
    TaskId task;  // Empty until somebody was told.
    Time made = {};
  };
  std::map<std::string, Keyed> keys_;
  std::map<SessionId, int64_t> notices_read_;
  std::map<SessionId, int> opened_;  // How often.
};

}  // namespace errand::sim
