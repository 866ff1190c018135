// The programs of agents that run now: whose they are, what memory they use, and what was seen of their starts. Drivers
// tell it; whoever starts further ones (engine/memory.h) or shows them to people asks it. Nothing of it is stored.
//
// Bookkeeping only. Engine thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace errand {

class Programs {
 public:
  struct Program {
    std::string agent;  // Its id.
    TaskId task;        // Empty: it works for all tasks of its driver.
    std::string driver;
    bool waits = false;        // For a further turn of its task: at work for nobody.
    int64_t memory_bytes = 0;  // 0: not measured yet.
  };
  // Of an agent, since the server started.
  struct Seen {
    std::string version;       // As the program itself said it; empty: it has not.
    Millis start_ms = 0;       // From its start until it could work, the last time; 0: never seen.
    int64_t memory_bytes = 0;  // What its last program used most.
  };
  struct Sum {
    int64_t count = 0;
    int64_t memory_bytes = 0;
  };

  // `drivers`: those whose agents are programs; the others start none. `clock` outlives this.
  Programs(std::set<std::string> drivers, Clock& clock) : drivers_(std::move(drivers)), clock_(clock) {}
  bool runs_programs(const std::string& driver) const { return drivers_.contains(driver); }

  // --- told by drivers, each program by the name of its run
  // It is being started.
  void starts(const std::string& run, Program program);
  // It can work, and says which version it is (empty: it does not). How long its start took is known now.
  void ready(const std::string& run, const std::string& version);
  // It runs and is taken up by somebody. What was measured of it stays.
  void runs(const std::string& run, Program program);
  void uses(const std::string& run, int64_t memory_bytes);
  void waits(const std::string& run);
  void gone(const std::string& run);

  // --- asked
  // Its program is there, or the one that serves all tasks of its driver is.
  bool has(const TaskId& task, const std::string& driver) const;
  // What a program of this agent may be expected to use: what its last one did, or a guess.
  int64_t expected(const std::string& agent) const;
  // Of all that run, whoever they are of; those not measured yet count with what is expected.
  int64_t memory() const;
  Sum at_work() const { return sum(false); }
  Sum waiting() const { return sum(true); }
  Sum waiting(const std::string& agent) const { return sum(true, agent); }
  Sum at_work(const std::string& agent) const { return sum(false, agent); }
  Seen seen(const std::string& agent) const;

  // --- between the two
  // Called where less memory is used than before.
  void on_less(std::function<void()> work) { less_ = std::move(work); }
  // Somebody wants to start a program and has no room: those that only wait are ended. `work` belongs to a driver that
  // outlives all calls of want_room().
  void on_want_room(std::function<void()> work) { ways_to_room_.push_back(std::move(work)); }
  void want_room() const;

 private:
  Sum sum(bool waits, const std::string& agent = {}) const;

  struct Known {
    Program program;
    Time began;  // Steady; only of one that was started here, until it is ready.
  };

  const std::set<std::string> drivers_;
  Clock& clock_;
  std::map<std::string, Known> programs_;  // By run.
  std::map<std::string, Seen> seen_;       // By agent.
  std::function<void()> less_;
  std::vector<std::function<void()>> ways_to_room_;
};

}  // namespace errand
