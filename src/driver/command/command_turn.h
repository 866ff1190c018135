// One run of a command: hears the supervisor, reads the journal, reports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timers.h"
#include "driver/command/command_driver.h"
#include "driver/command/output.h"
#include "driver/command/watch.h"
#include "driver/driver.h"
#include "process/client.h"
#include "process/journal.h"

namespace errand::command {

class CommandTurn final : public Turn, private process::RunListener {
 public:
  CommandTurn(const CommandOptions& options, const CommandParts& parts, Sink& sink, process::SpawnRequest request,
              OutputMark mark, double cpu_s, const std::vector<std::string>& notify_on);
  ~CommandTurn() override;

  // Asked for once, when the run has ended: the turn's end is told when it has answered, and what was gathered with it.
  using Gather = std::move_only_function<void(Driver::Gathered)>;
  void gather_with(Gather gather) { gather_ = std::move(gather); }
  // Reported as they are, before anything else.
  void tell(std::vector<Report> reports);
  void spawn();
  // Takes the run up; spawns it where it was never started.
  void attach();

  Status send(const Message& message) override;
  void answer(const std::string&, const std::string&, const std::string&) override {}
  void stop() override;
  void probe() override;
  void detach() override;

 private:
  void output(int64_t total) override;
  void ended(const process::RunEnd& end) override;
  void used(const process::RunUsage& usage) override;

  void flush_and_pace();
  // Reads a bounded amount of what there is. False: it could not, or there is nothing.
  bool read_some();
  bool open_journal();
  void drain();
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
  const CommandOptions& options_;
  process::SupervisorClient& supervisor_;
  Sink& sink_;
  const process::SpawnRequest request_;

  std::shared_ptr<process::Journal> journal_;  // Opened with the first output.
  OutputReports reports_;
  Watch watch_;
  int64_t total_ = 0;  // Bytes that the journal holds.
  std::optional<process::RunEnd> end_;
  double cpu_s_ = 0;      // As last reported.
  int64_t io_bytes_ = 0;  // As last seen.
  bool stopping_ = false;
  bool unreadable_ = false;  // Said once.
  bool over_ = false;        // Ended or detached: nothing is reported any more.
  Gather gather_;
  Timer pace_;
  Timer quiet_;  // For a line without an end.
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace errand::command
