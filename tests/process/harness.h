// What the tests of process/ share: a data folder of their own, an executor that the test turns, runs that remember
// what they were told, and a look into /proc.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/test_folder.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::process {

// Runs posted work in the test's own thread, while it waits for something.
class PumpedExecutor final : public Executor {
 public:
  void post(Work work) override;
  // True as soon as `condition` holds; false when `patience_ms` have passed.
  bool until(const std::function<bool()>& condition, Millis patience_ms = 60'000);

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> work_;
};

class RecordedRun final : public RunListener {
 public:
  void output(int64_t total) override { totals.push_back(total); }
  void ended(const RunEnd& how) override {
    ++ends;
    end = how;
  }
  void used(const RunUsage& usage) override { usages.push_back(usage); }
  std::vector<int64_t> totals;
  std::vector<RunUsage> usages;
  std::optional<RunEnd> end;
  int ends = 0;
};

enum class Groups : uint8_t { found, hidden };

// A data folder, its supervisor, and a client.
// How many times longer computing takes than it computes, now: 1 on a quiet machine. For promises about time, which are
// about errand and not about its neighbours.
double slowdown();

class Bench {
 public:
  explicit Bench(Groups groups = Groups::found);
  ~Bench();

  SupervisorClient& client() { return *client_; }
  // As a new server does.
  void reconnect();
  void disconnect() { client_.reset(); }
  pid_t supervisor_pid() const;

  SpawnRequest command(std::string run, std::vector<std::string> argv) const;
  SpawnRequest shell(std::string run, const std::string& script) const;
  // Waits for the answer.
  Status spawn(SpawnRequest request, RecordedRun& into);
  Result<Attached> attach(const std::string& run, RecordedRun& into);
  bool wait_end(RecordedRun& run, Millis patience_ms = 60'000);
  // Spawns and waits for the end.
  RunEnd run_to_end(SpawnRequest request, Millis patience_ms = 60'000);
  Result<int64_t> input(const std::string& run, int64_t number, std::string bytes);
  std::vector<RunStatus> list();

  // All that the run printed, both streams, and one of them.
  std::string printed(const std::string& run) const;
  std::string printed(const std::string& run, Stream stream) const;

  TestFolder folder;
  PumpedExecutor executor;

 private:
  std::unique_ptr<SupervisorClient> client_;
};

std::string test_supervisor();
std::string misbehave();

// Live processes (no zombies) with `marker` in their argv.
std::vector<pid_t> processes_with(const std::string& marker);
// Zombies whose parent is `parent`.
int zombies_of(pid_t parent);
// A marker that no other process has.
std::string new_marker();
int open_descriptors(pid_t pid);
std::string read_text(const std::string& path);

}  // namespace errand::process
