// One run of a command: hears the supervisor, reads the journal, reports.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/beside.h"
#include "base/timers.h"
#include "driver/command/command_driver.h"
#include "driver/command/output.h"
#include "driver/command/watch.h"
#include "driver/driver.h"
#include "driver/run/outcome.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::command {

class CommandTurn final : public Turn, private process::RunListener {
 public:
  CommandTurn(const run::Options& options, const CommandParts& parts, Sink& sink, process::SpawnRequest request,
              OutputMark mark, double cpu_s, const Launch& launch);
  ~CommandTurn() override;

  // Asked for once, when the run has ended: the turn's end is told when it has answered, and what was gathered with it.
  using Gather = std::move_only_function<void(const process::RunEnd&, Driver::Gathered)>;
  void gather_with(Gather gather) { gather_ = std::move(gather); }
  // Makes what the run needs on disks, and says by which words it is started. It blocks, and may hang for as long as a
  // network mount does, so it is called by one of `threads`, and owns all that it uses. Without it the request is whole
  // as it is, and goes out at once.
  using Prepare = std::function<Result<std::vector<std::string>>()>;
  void prepare_with(Prepare prepare, Executor& threads);
  // Reported as they are, before anything else.
  void tell(std::vector<Report> reports);
  void spawn();
  // Takes the run up; spawns it where it was never started.
  void attach();

  Status send(const Message& message) override;
  void answer(const std::string&, const std::string&, const std::string&) override {}
  void stop() override;
  void probe() override;
  bool unseen() const override { return probing_; }
  void drop() override;

 private:
  void output(int64_t total) override;
  void ended(const process::RunEnd& end) override;
  void used(const process::RunUsage& usage) override;

  void prepared(Result<std::vector<std::string>> argv);
  void flush_and_pace();
  void flushed();
  // What was read of the journal, beside the engine's thread.
  struct ReadSome {
    std::shared_ptr<process::Journal> journal;
    std::vector<process::JournalRead> reads;
    std::string failed;  // Why it could not be read, or not to the end.
    std::optional<run::Tails> tails;
    bool after_end = false;  // It was begun when the run had ended.
  };
  // Reads a bounded amount of what there is, as soon as there is room for it; take() follows.
  void read_some();
  void take(ReadSome read);
  void drain(bool on);
  // What the watch found, and its place for the mark.
  void add_matches(std::vector<Report>& reports);
  void could_not_start(const Error& error);
  void could_not_attach(const Error& error);
  void gather_then_finish(std::vector<Report> last, Outcome outcome);
  void finish(std::vector<Report> last, Outcome outcome);
  void report(std::vector<Report> reports);
  // A callback of the supervisor that must not reach a turn that is gone.
  template <class F>
  auto guarded(F work);

  // Fixed after construction.
  const run::Options& options_;
  process::SupervisorClient& supervisor_;
  Executor* const engine_;  // Null: everything is done in the call.
  Sink& sink_;

  process::SpawnRequest request_;  // Its words are whole once it is prepared.
  Prepare prepare_;
  std::optional<Beside> folders_;  // It prepares here.
  Beside files_;
  bool preparing_ = false;
  bool reading_ = false;
  std::optional<run::Tails> tails_;
  std::shared_ptr<process::Journal> journal_;  // Opened with the first output.
  OutputReports reports_;
  Watch watch_;
  const Surface surface_;  // Who launched it, for the words of its end.
  int64_t total_ = 0;      // Bytes that the journal holds.
  std::optional<process::RunEnd> end_;
  double cpu_s_ = 0;      // As last reported.
  double probed_s_ = 0;   // As the last probe saw it.
  int64_t io_bytes_ = 0;  // As last seen.
  bool stopping_ = false;
  bool probing_ = false;     // The supervisor was asked what it uses, and has not answered.
  bool unreadable_ = false;  // Said once.
  bool damage_said_ = false;
  bool waits_for_room_ = false;
  bool over_ = false;  // Ended or dropped: nothing is reported any more.
  Gather gather_;
  Timer pace_;
  Timer quiet_;     // For a line without an end.
  Timer patience_;  // With a folder that does not answer.
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace errand::command
