// What drivers have in common whose agents are programs under the supervisor: one program for each turn, or the same
// one for the turns that follow each other closely (holder.h). Claude Code and agents over ACP are such drivers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timers.h"
#include "driver/agent_driver.h"
#include "driver/program/holder.h"
#include "driver/run/options.h"
#include "process/client.h"

namespace errand::program {

struct Kind {
  const char* driver;      // Its name.
  const char* area;        // For the server's log.
  const char* tool;        // In the names of its runs (run_name.h); empty: they are the tasks' own.
  const char* no_sandbox;  // Why it does not run in errand's sandbox: a sentence.
};

// All outlive the driver.
struct Parts {
  process::SupervisorClient& supervisor;
  Timers& timers;
  Executor* files = nullptr;  // What is soon done in the data folder. Null, as `engine` then is: in the call.
  Executor* engine = nullptr;
  Driver* artifacts = nullptr;   // Knows what tasks leave in their folders; null: nobody does.
  Programs* programs = nullptr;  // Told of each program; null: nobody asks.
};

class ProgramDriver : public Driver {
 public:
  ProgramDriver(Kind kind, run::Options options, Parts parts, std::function<Holder::Bounds()> bounds,
                Holder::Habits habits);

  Capabilities capabilities() const override { return agent_capabilities(); }
  Status check(const Launch& launch) const override;
  Look look(const Launch& launch) const override;
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override;
  void end_run(const TaskId& task, int run) override;
  void server_leaves(bool at_work) override;
  void forget(const TaskId& task) override;
  Result<ArtifactList> artifacts(const Task& task) const override;
  void gather(std::shared_ptr<const Task> task, Gathered done) override;
  Result<OpenArtifact> open_artifact(const Task& task, std::string_view id_or_name) const override;

 protected:
  const run::Options& options() const { return *options_; }
  lines::Parts line_parts() const;
  Holder& holder() { return holder_; }
  std::string run_of(const TaskId& task, int run) const;
  // The task as its program knows it. One that may be kept for a later turn is no run's: what reaches errand from
  // within it does so while its task is at work.
  Task as_program(const Task& task) const;
  // The program of this task's turn: `argv` in the task's surroundings.
  process::SpawnRequest plan(const Task& task, std::vector<std::string> argv) const;
  // What it is started with beyond that goes into `more`, so that a turn with something else gets another program.
  static std::string key_of(const process::SpawnRequest& spawn, const std::vector<std::string>& more);
  // What earlier runs of the task left is stored, and goes with those of them that are still there.
  void release_before(const TaskId& task, int run);

 private:
  using Runs = std::vector<std::pair<std::string, KnownRun>>;
  void ours(std::move_only_function<void(Runs)> done);

  const Kind kind_;
  std::shared_ptr<const run::Options> options_;  // Shared with looks, which may outlive this.
  const Parts parts_;
  Holder holder_;
};

}  // namespace errand::program
