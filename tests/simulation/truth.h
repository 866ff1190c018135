// The truth of a simulated life is what is on its disk. These checks look at it from outside: at every write, and at
// the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "store/memory/memory_disk.h"
#include "tests/simulation/verdict.h"
#include "tests/simulation/watched_driver.h"

namespace errand::sim {

class Truth {
 public:
  Truth(std::shared_ptr<MemoryDisk> disk, int max_concurrent, Verdict& verdict)
      : disk_(std::move(disk)), max_concurrent_(max_concurrent), verdict_(verdict) {}

  // Safety, after each write: numbers without gaps, legal moves, promises kept, slots within their limit.
  void after_write();
  // Safety, after each step: no turn is open of which the disk does not know that it works.
  void check_open_turns(const TurnWatch& watch);

  // Somebody was told of this much of the task: it must be on disk (R2.1).
  void acknowledged(const Task& told, std::string_view by);
  void acknowledged_gone(const TaskId& id, std::string_view by);

  // Somebody was told that this session has ended; somebody opens it.
  void acknowledged_end(const SessionId& id) { ended_.insert(id); }
  void opens(const SessionId& id) { ended_.erase(id); }

  // At the end: each turn that ended has its one notice (R5.5, P6), each message reached its agent once and in order
  // (R5.1).
  void check_notices();
  void check_own_notices();
  // At the end: a batch that is whole was told of (R5.5).
  void check_batches();
  void check_messages();
  // Tasks at work, for the liveness check.
  std::set<TaskId> at_work_now() const;

  MemoryDisk& disk() const { return *disk_; }

 private:
  // What is known of a task from its earlier writes.
  struct Known {
    BatchId batch;
    int64_t version = 0;
    size_t events = 0;
    TaskState state = TaskState::pending;
    bool ended = false;         // Its last word was `end`.
    bool waived = false;        // It asked since it began to work: it may go on over the limit (R1.10).
    std::set<int> ended_turns;  // Each owes one notice.
    int turn = 0;               // Of the last status.
    bool cut = false;           // The last status showed a turn at work that is being stopped.
  };

  void check_task(const MemoryDisk::TaskRow& row, Known& known);
  void check_event(const Event& event, Known& known);
  void check_status(const Event& event, Known& known);
  void check_slots();
  void check_new_notices();
  void check_sessions();
  void check_marks(const MemoryDisk::TaskRow& row);

  std::shared_ptr<MemoryDisk> disk_;
  const int max_concurrent_;
  Verdict& verdict_;
  std::map<TaskId, Known> known_;
  int64_t last_pos_ = 0;
  std::set<NoticeId> seen_notices_;
  std::set<SessionId> ended_;  // Told so, and opened by nobody since.
};

}  // namespace errand::sim
