// The contract, for commands: over a supervisor in memory, whose time goes as fast as the next timer.
#include <memory>

#include "base/test_folder.h"
#include "driver/command/command_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/driver_fake_supervisor.h"
#include "tests/contract/timed_world.h"

namespace errand::test {
namespace {

using process::Stream;

class Dropped final : public Executor {
  void post(Work) override {}
};

class MemoryCommandWorld final : public TimedWorld {
 public:
  MemoryCommandWorld() {
    FakeSupervisor::Program& speaks = supervisor_.programs["speaks"];
    for (int i = 0; i < 8; ++i) {
      speaks.prints.push_back({20, Stream::out, "Größe 你好 🙂\n"});
      speaks.prints.push_back({20, Stream::err, "caf\xc3"});
      speaks.prints.push_back({60, Stream::out, "\xf0\x9f"});
      speaks.prints.push_back({60, Stream::err, "\xa9 \xff\n"});
      speaks.prints.push_back({60, Stream::out, "\x99\x82 done\n"});
    }
    speaks.prints.push_back({60, Stream::out, "half a character: \xe2\x82"});
    speaks.end = process::RunEnd{.exit_code = 0, .cpu_s = 0.5, .max_memory_bytes = 1 << 20};
    supervisor_.programs["goes_on"] = {.prints = {{10, Stream::out, "I begin.\n"}}, .end = {}};
    supervisor_.programs["fails"] = {.prints = {{10, Stream::err, "no\n"}}, .end = process::RunEnd{.exit_code = 7}};
    restart();
  }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_ = command::make_command_driver(
        {.data_dir = folder_.path(),
         .open_journal = [this](const std::string& run) { return supervisor_.journal(run); }},
        {supervisor_, timers, background_});
  }
  int left_behind() override { return supervisor_.alive(); }
  bool outlives_server() override { return true; }

  Launch speaks() override { return command("speaks"); }
  Launch goes_on() override { return command("goes_on"); }
  Launch fails() override { return command("fails"); }

 private:
  Launch command(std::string text) {
    Launch launch;
    launch.kind = TaskKind::command;
    launch.command = std::move(text);
    launch.work_dir = folder_.path();
    return launch;
  }

  TestFolder folder_;
  FakeSupervisor supervisor_{timers};
  Dropped background_;
  std::unique_ptr<Driver> driver_;
};

INSTANTIATE_TEST_SUITE_P(MemoryCommand, DriverContract,
                         testing::Values(DriverCase{"command", [] { return std::make_unique<MemoryCommandWorld>(); }}),
                         case_name);

}  // namespace
}  // namespace errand::test
