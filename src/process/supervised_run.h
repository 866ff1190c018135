// A run that the supervisor looks after: from its folder's creation until its end is on disk.
//
//   starting   the keeper makes the folder, brings it to disk and starts the child
//   alive      the child (or what it left) runs
//   draining   the tree is gone; what is still in the pipes is read
//   recording  the keeper brings log and end to disk
//   orphaned   the keeper died; its strays are the supervisor's, which ends them
//   abandoned  a folder of an earlier supervisor, without an end: lost, once its keeper has released the lock
//   ended      told to everybody; the supervisor drops it
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "process/cgroup.h"
#include "process/event_loop.h"
#include "process/idle_keepers.h"
#include "process/journal_writer.h"
#include "process/keeper.h"

namespace errand::process {

class Peer;

// What all runs have from their supervisor.
struct RunPlace {
  EventLoop& loop;
  std::string runs_path;  // data_dir/run
  int runs = -1;
  const CgroupPlace& cgroups;
  IdleKeepers& idle;
};

class SupervisedRun final : public Ready {
 public:
  enum class State : uint8_t { starting, alive, draining, recording, orphaned, abandoned, ended };

  // Finds or forks a keeper, which makes the run's folder; no folder of this name exists yet. Fails only if the machine
  // has no more processes, memory or descriptors.
  static Result<std::unique_ptr<SupervisedRun>> start(const RunPlace& place, const SpawnRequest& request);
  static std::unique_ptr<SupervisedRun> abandoned(const RunPlace& place, std::string run, Fd folder);
  ~SupervisedRun() override;

  const std::string& run() const { return run_; }
  State state() const { return state_; }
  pid_t keeper() const { return keeper_; }
  int64_t total() const { return journal_ ? journal_->total() : end_.output_bytes; }
  const RunEnd& end() const { return end_; }

  void subscribe(Peer* peer) { subscribers_.insert(peer); }
  void forget(Peer* peer);
  // Answered when the child has started, or has failed to.
  void answer_when_started(Peer* peer, int64_t id);

  void stop(std::optional<Millis> grace);
  // Frame `number` of standard input. Answers the last number taken; where that is `number` or more already, nothing
  // was written.
  Result<int64_t> input(int64_t number, std::string_view bytes);
  int64_t input_taken() const { return input_taken_; }
  void close_input();
  void release_journal(int64_t offset);
  // Deletes its folder as soon as it has ended; its output is not read any more.
  void release_at_end();
  bool released() const { return release_at_end_; }

  // The keeper was reaped. Where it did not finish, the run is orphaned.
  void keeper_exited();
  // No stray is left in the supervisor: an orphaned run can end.
  void strays_gone();

  // Does what is due. Answers when it wants to be called next (steady ms).
  int64_t tick(int64_t now);
  void ready(int fd, uint32_t events) override;

 private:
  struct Waiting {
    Peer* peer;
    int64_t id;
  };

  SupervisedRun(const RunPlace& place, std::string run) : place_(place), run_(std::move(run)) {}
  Status find_keeper(const SpawnRequest& request);
  void take_report();
  void started(const KeeperReport& report);
  void refused(int error);
  void read_output(Stream stream, Fd& pipe);
  void watch_output();
  void begin_drain();
  void drain();
  void resume();
  void begin_record();
  bool record_soon();
  void record_here();
  void let_keeper_wait();
  void look_after_abandoned(int64_t now);
  void finish();
  void write_input();
  void drop_input();
  void printed();
  void tell_output(int64_t now);
  void tell(const std::string& frame);
  void close_pipe(Fd& pipe);

  const RunPlace& place_;
  const std::string run_;
  State state_ = State::starting;
  pid_t keeper_ = -1;
  bool keeper_waits_ = false;  // It takes a further run as soon as it is given one.
  Fd folder_;                  // Opened where it is needed: the keeper does most.
  Fd control_, in_, out_, err_;
  Millis grace_ms_ = 0;
  std::optional<JournalWriter> journal_;
  bool paused_ = false;    // A protocol at its bound, or without disk.
  int64_t resume_at_ = 0;  // When the disk is asked again.
  int64_t drain_out_ = 0, drain_err_ = 0;

  std::set<Peer*> subscribers_;
  std::vector<Waiting> waiting_;
  int64_t told_total_ = 0;
  int64_t told_at_ = 0;

  std::string input_;  // Taken, not yet written.
  int64_t input_taken_ = 0;
  bool input_closing_ = false;

  RunEnd end_;
  bool release_at_end_ = false;
  int64_t look_at_ = 0;  // When an abandoned run's lock, or the disk, is tried again.
};

}  // namespace errand::process
