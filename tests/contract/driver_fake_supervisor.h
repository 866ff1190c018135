// A supervisor in memory: runs are little programs that print and end by the timers' time. It outlives the drivers that
// use it, as the real one outlives the server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timers.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::test {

class FakeJournal final : public process::Journal {
 public:
  void print(process::Stream stream, std::string_view bytes);
  // Bytes in [from, to) are no longer there.
  void cut(int64_t from, int64_t to);

  Result<process::JournalRead> read(int64_t offset, int64_t limit) override;
  int64_t size() override { return std::ssize(bytes_); }
  Status sync() override { return {}; }

  bool broken = false;     // Reads fail.
  bool overtaken = false;  // They fail for now: the writer is faster.
  int64_t read_bytes = 0;  // All that was read so far.

 private:
  std::string bytes_;
  std::vector<process::Stream> streams_;  // Of each byte.
  int64_t cut_from_ = 0, cut_to_ = 0;
};

class FakeSupervisor final : public process::SupervisorClient {
 public:
  struct Print {
    Millis after_ms = 0;
    process::Stream stream = process::Stream::out;
    std::string bytes;
  };
  struct Program {
    std::vector<Print> prints;
    std::optional<process::RunEnd> end;  // Absent: goes on until it is stopped.
  };
  struct Run {
    process::SpawnRequest request;
    process::RunListener* listener = nullptr;
    std::shared_ptr<FakeJournal> journal = std::make_shared<FakeJournal>();
    size_t printed = 0;
    int64_t input_taken = 0;
    std::optional<process::RunEnd> end;
  };

  explicit FakeSupervisor(Timers& timers) : timers_(timers) {}

  // By the last word of argv; what is not here prints nothing and goes on.
  std::map<std::string, Program> programs;
  process::Abilities can;
  std::map<std::string, Run> runs;
  std::optional<Error> spawn_fails;
  std::optional<Error> attach_fails;
  bool older = false;  // One that does not say, when a run is taken up, what it was told last.
  process::RunUsage used;
  std::vector<std::string> calls;  // "spawn task.1", "stop task.1", ...
  // Each frame of standard input, once it is taken.
  std::function<void(const std::string& run, const std::string& bytes)> heard;
  std::function<void(const std::string& run)> input_closed;

  void print(const std::string& run, process::Stream stream, std::string_view bytes);
  void end(const std::string& run, process::RunEnd end);
  void tell_use(const std::string& run, const process::RunUsage& usage);
  Result<std::shared_ptr<process::Journal>> journal(const std::string& run);
  int alive() const;

  void spawn(process::SpawnRequest request, process::RunListener* listener, Done done) override;
  void attach(const std::string& run, process::RunListener* listener, TakenUp done) override;
  void forget(process::RunListener* listener) override;
  void stop(const std::string& run, std::optional<Millis> grace_ms) override;
  void input(const std::string& run, int64_t number, std::string bytes, Taken done) override;
  void close_input(const std::string& run) override;
  void usage(const std::string& run, std::move_only_function<void(Result<process::RunUsage>)> done) override;
  void release_journal(const std::string&, int64_t) override {}
  void release(const std::string& run) override;
  void list(std::move_only_function<void(Result<std::vector<process::RunStatus>>)> done) override;
  process::Abilities abilities() const override { return can; }

 private:
  // Callbacks never come inside a call.
  void later(Work work) { timers_.add(0, std::move(work)); }
  void step(const std::string& name);
  void go_on(const std::string& name);

  Timers& timers_;
};

}  // namespace errand::test
